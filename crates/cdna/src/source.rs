//! Source lines of instructions, from the code object's debug information.

use cairn_codeobj::CodeObject;

/// Files and lines by address.
#[derive(Debug, Default)]
pub(crate) struct SourceLines {
    rows: Vec<(u64, String)>,
}

impl SourceLines {
    pub(crate) fn read(object: &CodeObject) -> Self {
        let _ = object;
        Self::default()
    }

    pub(crate) fn at(&self, pc: u64) -> Option<String> {
        let after = self.rows.partition_point(|(start, _)| *start <= pc);
        let (_, place) = self.rows.get(after.checked_sub(1)?)?;
        (!place.is_empty()).then(|| place.clone())
    }
}
