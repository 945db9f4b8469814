//! Source lines of instructions, from the code object's debug information.

use cairn_codeobj::CodeObject;
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Files and lines by address; an empty place ends a run.
#[derive(Debug, Default)]
pub(crate) struct SourceLines {
    rows: Vec<(u64, String)>,
}

impl SourceLines {
    /// Reads what there is; debug information that is broken is as good as none.
    pub(crate) fn read(object: &CodeObject) -> Self {
        let mut lines = Self::default();
        let section = |id: SectionId| -> Result<Slice<'_>, gimli::Error> {
            let bytes = object.section_bytes(id.name()).unwrap_or_default();
            Ok(EndianSlice::new(bytes, LittleEndian))
        };
        if let Ok(dwarf) = Dwarf::load(section) {
            let mut rows = Vec::new();
            // What was read before a fault stays.
            let _partial = read_units(&dwarf, &mut rows);
            rows.sort_by_key(|(address, _)| *address);
            lines.rows = rows;
        }
        lines
    }

    /// File and line of an address.
    pub(crate) fn at(&self, pc: u64) -> Option<String> {
        let after = self.rows.partition_point(|(start, _)| *start <= pc);
        let (_, place) = self.rows.get(after.checked_sub(1)?)?;
        (!place.is_empty()).then(|| place.clone())
    }
}

fn read_units(dwarf: &Dwarf<Slice<'_>>, rows: &mut Vec<(u64, String)>) -> Result<(), gimli::Error> {
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let Some(program) = unit.line_program.clone() else {
            continue;
        };
        let mut program = program.rows();
        while let Some((header, row)) = program.next_row()? {
            if row.end_sequence() {
                rows.push((row.address(), String::new()));
                continue;
            }
            let Some(line) = row.line() else {
                continue;
            };
            let file = match row.file(header) {
                Some(file) => dwarf
                    .attr_string(&unit, file.path_name())?
                    .to_string_lossy()
                    .into_owned(),
                None => continue,
            };
            rows.push((row.address(), format!("{file}:{line}")));
        }
    }
    Ok(())
}
