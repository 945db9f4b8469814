//! What the compiler tells about each kernel: its arguments and what it needs.
//! Written as MessagePack in the note `NT_AMDGPU_METADATA`.

use crate::CodeObjectError;
use crate::msgpack::{self, Value};

/// A kernel as its metadata describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelMetadata {
    /// Its name.
    pub name: String,
    /// The symbol of its descriptor, `<name>.kd`.
    pub symbol: String,
    /// Explicit arguments in their order, then hidden ones.
    pub args: Vec<Argument>,
    /// Size of the arguments in memory.
    pub kernarg_bytes: u32,
    /// Their alignment.
    pub kernarg_align: u32,
    /// LDS it declares, in bytes.
    pub group_segment_bytes: u32,
    /// Scratch a lane needs, in bytes.
    pub private_segment_bytes: u32,
    /// True when more scratch may be needed than that.
    pub uses_dynamic_stack: bool,
    /// Lanes of a wave.
    pub wavefront_size: u32,
    /// Scalar registers.
    pub sgpr_count: u32,
    /// Vector registers of both kinds, as they are allocated.
    pub vgpr_count: u32,
    /// Accumulation registers among them.
    pub agpr_count: u32,
    /// Scalar registers that did not fit.
    pub sgpr_spill_count: u32,
    /// Vector registers that did not fit.
    pub vgpr_spill_count: u32,
    /// Most lanes of a workgroup.
    pub max_workgroup: u32,
    /// The only size of a workgroup it may be launched with.
    pub required_workgroup: Option<[u32; 3]>,
    /// True when every dimension of the grid is a multiple of the workgroup's.
    pub uniform_workgroup: bool,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name, when the compiler kept it.
    pub name: Option<String>,
    /// Where it lies.
    pub offset: u32,
    /// How many bytes it has.
    pub size: u32,
    /// What it is.
    pub kind: ArgumentKind,
    /// For pointers, what they point into.
    pub address_space: Option<AddressSpace>,
}

/// What a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSpace {
    /// Scratch of a lane.
    Private,
    /// Memory.
    Global,
    /// Memory that is only read.
    Constant,
    /// LDS.
    Local,
    /// Any of them.
    Generic,
    /// Global data share.
    Region,
}

macro_rules! argument_kinds {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// What an argument is. From `HiddenGlobalOffsetX` on the runtime
        /// fills it, not the caller.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ArgumentKind {
            $(#[doc = $doc] $variant,)*
        }

        impl ArgumentKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in metadata.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

argument_kinds! {
    ByValue "by_value" "The argument itself.";
    GlobalBuffer "global_buffer" "The address of memory.";
    DynamicSharedPointer "dynamic_shared_pointer" "The LDS address of memory sized at launch.";
    Sampler "sampler" "The address of a sampler.";
    Image "image" "The address of an image.";
    Pipe "pipe" "The address of an OpenCL pipe.";
    Queue "queue" "The address of an OpenCL queue.";
    HiddenGlobalOffsetX "hidden_global_offset_x" "First work-item in x.";
    HiddenGlobalOffsetY "hidden_global_offset_y" "First work-item in y.";
    HiddenGlobalOffsetZ "hidden_global_offset_z" "First work-item in z.";
    HiddenNone "hidden_none" "Not used.";
    HiddenPrintfBuffer "hidden_printf_buffer" "Where `printf` writes.";
    HiddenHostcallBuffer "hidden_hostcall_buffer" "For calls of the host.";
    HiddenDefaultQueue "hidden_default_queue" "The queue for kernels that start kernels.";
    HiddenCompletionAction "hidden_completion_action" "For kernels that start kernels.";
    HiddenMultigridSyncArg "hidden_multigrid_sync_arg" "For synchronisation between devices.";
    HiddenBlockCountX "hidden_block_count_x" "Whole workgroups in x.";
    HiddenBlockCountY "hidden_block_count_y" "Whole workgroups in y.";
    HiddenBlockCountZ "hidden_block_count_z" "Whole workgroups in z.";
    HiddenGroupSizeX "hidden_group_size_x" "Work-items of a workgroup in x.";
    HiddenGroupSizeY "hidden_group_size_y" "Work-items of a workgroup in y.";
    HiddenGroupSizeZ "hidden_group_size_z" "Work-items of a workgroup in z.";
    HiddenRemainderX "hidden_remainder_x" "Work-items of the partial workgroup in x.";
    HiddenRemainderY "hidden_remainder_y" "Work-items of the partial workgroup in y.";
    HiddenRemainderZ "hidden_remainder_z" "Work-items of the partial workgroup in z.";
    HiddenGridDims "hidden_grid_dims" "Dimensions of the grid.";
    HiddenHeapV1 "hidden_heap_v1" "The device heap.";
    HiddenDynamicLdsSize "hidden_dynamic_lds_size" "Bytes of LDS sized at launch.";
    HiddenPrivateBase "hidden_private_base" "High half of scratch addresses.";
    HiddenSharedBase "hidden_shared_base" "High half of LDS addresses.";
    HiddenQueuePtr "hidden_queue_ptr" "The queue the kernel was put in.";
}

impl ArgumentKind {
    /// True when the runtime fills it.
    #[must_use]
    pub fn is_hidden(self) -> bool {
        self >= Self::HiddenGlobalOffsetX
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl AddressSpace {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "private" => Self::Private,
            "global" => Self::Global,
            "constant" => Self::Constant,
            "local" => Self::Local,
            "generic" => Self::Generic,
            "region" => Self::Region,
            _ => return None,
        })
    }
}

/// The whole note: the target and each kernel.
#[derive(Debug)]
pub(crate) struct Metadata {
    /// Such as `amdgcn-amd-amdhsa--gfx942`; absent in old objects.
    pub(crate) target: Option<String>,
    pub(crate) kernels: Vec<KernelMetadata>,
}

fn wrong(what: impl Into<String>) -> CodeObjectError {
    CodeObjectError::Metadata(what.into())
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Metadata, CodeObjectError> {
    let root = msgpack::parse(bytes).map_err(wrong)?;
    let kernels = match root.get("amdhsa.kernels") {
        Some(list) => list
            .list()
            .ok_or_else(|| wrong("`amdhsa.kernels` is no list"))?,
        None => &[],
    };
    Ok(Metadata {
        target: root
            .get("amdhsa.target")
            .and_then(Value::text)
            .map(str::to_owned),
        kernels: kernels.iter().map(kernel).collect::<Result<_, _>>()?,
    })
}

fn kernel(map: &Value) -> Result<KernelMetadata, CodeObjectError> {
    let text = |key: &str| {
        let found = map.get(key).and_then(Value::text);
        found
            .map(str::to_owned)
            .ok_or_else(|| wrong(format!("a kernel has no text `{key}`")))
    };
    let name = text(".name")?;
    let number = |key: &str| {
        field(map, key, &name)?.ok_or_else(|| wrong(format!("kernel {name} has no `{key}`")))
    };
    let optional = |key: &str| Ok::<_, CodeObjectError>(field(map, key, &name)?.unwrap_or(0));
    let flag = |key: &str| map.get(key).and_then(Value::flag).unwrap_or(false);
    let args = match map.get(".args") {
        Some(list) => list
            .list()
            .ok_or_else(|| wrong(format!("`.args` of kernel {name} is no list")))?,
        None => &[],
    };
    Ok(KernelMetadata {
        symbol: text(".symbol")?,
        args: args
            .iter()
            .map(|arg| argument(arg, &name))
            .collect::<Result<_, _>>()?,
        kernarg_bytes: number(".kernarg_segment_size")?,
        kernarg_align: number(".kernarg_segment_align")?,
        group_segment_bytes: number(".group_segment_fixed_size")?,
        private_segment_bytes: number(".private_segment_fixed_size")?,
        uses_dynamic_stack: flag(".uses_dynamic_stack"),
        wavefront_size: number(".wavefront_size")?,
        sgpr_count: number(".sgpr_count")?,
        vgpr_count: number(".vgpr_count")?,
        agpr_count: optional(".agpr_count")?,
        sgpr_spill_count: optional(".sgpr_spill_count")?,
        vgpr_spill_count: optional(".vgpr_spill_count")?,
        max_workgroup: number(".max_flat_workgroup_size")?,
        required_workgroup: required_workgroup(map, &name)?,
        uniform_workgroup: flag(".uniform_work_group_size"),
        name,
    })
}

fn field(map: &Value, key: &str, kernel: &str) -> Result<Option<u32>, CodeObjectError> {
    let read = |value: &Value| {
        value.u32().ok_or_else(|| {
            wrong(format!(
                "`{key}` of kernel {kernel} is no number of 32 bits"
            ))
        })
    };
    map.get(key).map(read).transpose()
}

fn required_workgroup(map: &Value, kernel: &str) -> Result<Option<[u32; 3]>, CodeObjectError> {
    let Some(list) = map.get(".reqd_workgroup_size") else {
        return Ok(None);
    };
    let sizes: Option<Vec<u32>> = list
        .list()
        .and_then(|sizes| sizes.iter().map(Value::u32).collect());
    sizes
        .and_then(|sizes| sizes.try_into().ok())
        .map(Some)
        .ok_or_else(|| {
            wrong(format!(
                "`.reqd_workgroup_size` of kernel {kernel} is not three numbers"
            ))
        })
}

fn argument(map: &Value, kernel: &str) -> Result<Argument, CodeObjectError> {
    let number = |key: &str| {
        field(map, key, kernel)?
            .ok_or_else(|| wrong(format!("an argument of kernel {kernel} has no `{key}`")))
    };
    let kind = map
        .get(".value_kind")
        .and_then(Value::text)
        .unwrap_or_default();
    let space = map.get(".address_space").and_then(Value::text);
    let unknown = |what: &str, name: &str| {
        wrong(format!(
            "an argument of kernel {kernel} has the unknown {what} `{name}`"
        ))
    };
    Ok(Argument {
        name: map.get(".name").and_then(Value::text).map(str::to_owned),
        offset: number(".offset")?,
        size: number(".size")?,
        kind: ArgumentKind::from_name(kind).ok_or_else(|| unknown("kind", kind))?,
        address_space: space
            .map(|name| AddressSpace::from_name(name).ok_or_else(|| unknown("address space", name)))
            .transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_name() {
        for kind in ArgumentKind::ALL {
            assert_eq!(ArgumentKind::from_name(kind.name()), Some(*kind));
            assert_eq!(
                kind.is_hidden(),
                kind.name().starts_with("hidden_"),
                "{}",
                kind.name()
            );
        }
        assert_eq!(ArgumentKind::from_name("hidden_future"), None);
    }

    #[test]
    fn what_is_missing_is_named() {
        let text = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
        let kernels = |kernel: &[u8]| {
            let key = [&[0xae], "amdhsa.kernels".as_bytes()].concat();
            [&[0x81][..], &key, &[0x91], kernel].concat()
        };
        let nameless = parse(&kernels(&[0x80])).unwrap_err().to_string();
        assert!(nameless.contains("`.name`"), "{nameless}");
        let named = [
            &[0x82][..],
            &text(".name"),
            &text("k"),
            &text(".symbol"),
            &text("k.kd"),
        ]
        .concat();
        let bare = parse(&kernels(&named)).unwrap_err().to_string();
        assert!(
            bare.contains("kernel k has no `.kernarg_segment_size`"),
            "{bare}"
        );
        assert_eq!(parse(&[0x80]).unwrap().kernels, []);
        assert!(parse(&[]).is_err());
    }
}
