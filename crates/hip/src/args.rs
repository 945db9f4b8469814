//! Arguments of a launch, checked against what the code object says.

use cairn_kernels::manifest::Entry;
use cairn_tensor::{Address, KernelError};

/// An argument as the host gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// An address of device memory.
    Buffer(Address),
    /// A number.
    U32(u32),
    /// A number.
    U64(u64),
    /// A number.
    F32(f32),
    /// A structure, as its bytes lie.
    Bytes(Vec<u8>),
}

impl Arg {
    fn kind(&self) -> &'static str {
        match self {
            Self::Buffer(_) => "global_buffer",
            _ => "by_value",
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Buffer(address) => address.0.to_le_bytes().to_vec(),
            Self::U32(value) => value.to_le_bytes().to_vec(),
            Self::U64(value) => value.to_le_bytes().to_vec(),
            Self::F32(value) => value.to_le_bytes().to_vec(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

/// The explicit arguments of `kernel` as they lie in memory.
///
/// # Errors
/// When number, kind or size of the arguments are not what its code object says.
pub fn pack(kernel: &str, entry: &Entry, args: &[Arg]) -> Result<Vec<u8>, KernelError> {
    if entry.args.len() != args.len() {
        return Err(KernelError(format!(
            "`{kernel}` takes {} arguments, not {}",
            entry.args.len(),
            args.len()
        )));
    }
    let mut packed = Vec::new();
    for (index, (wanted, given)) in entry.args.iter().zip(args).enumerate() {
        let bytes = given.bytes();
        if wanted.kind != given.kind() || wanted.size as usize != bytes.len() {
            return Err(KernelError(format!(
                "argument {index} (`{}`) of `{kernel}` is a {} of {} bytes, not a {} of {}",
                wanted.name.as_deref().unwrap_or("?"),
                wanted.kind,
                wanted.size,
                given.kind(),
                bytes.len()
            )));
        }
        packed.resize(wanted.offset as usize, 0);
        packed.extend(bytes);
    }
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use cairn_kernels::manifest::{self, Needs};

    use super::*;

    fn entry(args: &[(u32, u32, &str)]) -> Entry {
        let needs = Needs {
            workgroup: 256,
            vgprs: 8,
            agprs: 0,
            sgprs: 8,
            lds_bytes: 0,
            scratch_bytes: 0,
            vgpr_spills: 0,
            sgpr_spills: 0,
            waves_per_simd: 8,
        };
        let arg = |(offset, size, kind): &(u32, u32, &str)| manifest::Arg {
            name: Some("x".to_owned()),
            offset: *offset,
            size: *size,
            kind: (*kind).to_owned(),
        };
        Entry {
            object: "a.hsaco".to_owned(),
            source: "a.hip".to_owned(),
            computes: String::new(),
            args: args.iter().map(arg).collect(),
            kernarg_bytes: 24,
            needs,
            limit: None,
        }
    }

    #[test]
    fn arguments_lie_where_the_code_object_wants_them() {
        let entry = entry(&[
            (0, 4, "by_value"),
            (8, 8, "global_buffer"),
            (16, 4, "by_value"),
        ]);
        let args = [Arg::U32(7), Arg::Buffer(Address(0x1122)), Arg::F32(1.0)];
        let packed = pack("k", &entry, &args).unwrap();
        assert_eq!(packed.len(), 20);
        assert_eq!(&packed[..8], [7, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&packed[8..10], [0x22, 0x11]);
        assert_eq!(&packed[16..], 1.0_f32.to_le_bytes());
    }

    #[test]
    fn wrong_arguments_are_refused_before_a_launch() {
        let entry = entry(&[(0, 8, "global_buffer"), (8, 4, "by_value")]);
        let buffer = Arg::Buffer(Address(0));
        let said = |args: &[Arg]| pack("k", &entry, args).unwrap_err().0;
        assert_eq!(
            said(std::slice::from_ref(&buffer)),
            "`k` takes 2 arguments, not 1"
        );
        assert_eq!(
            said(&[Arg::U64(1), Arg::U32(1)]),
            "argument 0 (`x`) of `k` is a global_buffer of 8 bytes, not a by_value of 8"
        );
        assert_eq!(
            said(&[buffer, Arg::U64(1)]),
            "argument 1 (`x`) of `k` is a by_value of 4 bytes, not a by_value of 8"
        );
    }
}
