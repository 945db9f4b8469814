//! Races between workgroups: who touched each byte of memory in this launch.
//! Nothing but the end of the launch orders workgroups here, so hand-made
//! synchronisation between them is reported too.

use std::sync::{Arc, Mutex};

use crate::memory::Allocation;

/// How memory is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write,
    Atomic,
}

/// Several workgroups.
const MANY: u32 = u32::MAX;

/// Workgroups plus one, by byte.
#[derive(Debug, Default)]
struct Marks {
    writer: Vec<u32>,
    reader: Vec<u32>,
    atomic: Vec<u32>,
}

/// Who touched what.
#[derive(Debug)]
pub(crate) struct Races {
    marks: Mutex<Vec<Marks>>,
    sizes: Vec<u64>,
}

impl Races {
    pub(crate) fn new(allocations: &[Arc<Allocation>]) -> Self {
        let marks = allocations.iter().map(|_| Marks::default()).collect();
        Self {
            marks: Mutex::new(marks),
            sizes: allocations
                .iter()
                .map(|allocation| allocation.bytes)
                .collect(),
        }
    }

    /// Notes an access; the workgroup it races with, if any.
    pub(crate) fn touch(
        &self,
        allocation: usize,
        offset: u64,
        bytes: u32,
        workgroup: u64,
        touch: Touch,
    ) -> Option<u64> {
        let Ok(mut marks) = self.marks.lock() else {
            return None;
        };
        let marks = marks.get_mut(allocation)?;
        if marks.writer.is_empty() {
            let size = self.sizes[allocation] as usize;
            for list in [&mut marks.writer, &mut marks.reader, &mut marks.atomic] {
                list.resize(size, 0);
            }
        }
        let me = workgroup as u32 + 1;
        let mut other = None;
        for at in offset as usize..offset as usize + bytes as usize {
            let foreign = |mark: u32| (mark != 0 && mark != me).then_some(mark);
            let found = match touch {
                Touch::Read => foreign(marks.writer[at]).or(foreign(marks.atomic[at])),
                Touch::Write => foreign(marks.writer[at])
                    .or(foreign(marks.reader[at]))
                    .or(foreign(marks.atomic[at])),
                Touch::Atomic => foreign(marks.writer[at]).or(foreign(marks.reader[at])),
            };
            other = other.or(found);
            let list = match touch {
                Touch::Read => &mut marks.reader,
                Touch::Write => &mut marks.writer,
                Touch::Atomic => &mut marks.atomic,
            };
            list[at] = if list[at] == 0 || list[at] == me {
                me
            } else {
                MANY
            };
        }
        other.map(|mark| if mark == MANY { 0 } else { u64::from(mark) - 1 })
    }
}
