//! What a compiler wrote is read as `llvm-readelf --notes` shows it.

use cairn_codeobj::{
    Arch, ArgumentKind, CodeObject, CodeObjectError, RelocationKind, SymbolKind, Version,
};

use crate::{GFX90A, GFX942, GFX950};

#[test]
fn target_and_version_are_those_it_was_made_with() {
    for (file, arch, version) in [
        (GFX90A, Arch::Gfx90a, Version::V4),
        (GFX942, Arch::Gfx942, Version::V5),
        (GFX950, Arch::Gfx950, Version::V6),
    ] {
        let object = CodeObject::parse(file).unwrap();
        assert_eq!((object.target.arch, object.version), (arch, version));
        let names: Vec<_> = object
            .kernels
            .iter()
            .map(|kernel| kernel.name.as_str())
            .collect();
        assert_eq!(names, ["add", "nothing"]);
    }
}

#[test]
fn descriptor_and_metadata_of_a_kernel_agree() {
    for file in [GFX90A, GFX942, GFX950] {
        let object = CodeObject::parse(file).unwrap();
        let add = object.kernel("add").unwrap();
        assert_eq!(add.metadata.symbol, "add.kd");
        assert_eq!(add.descriptor.group_segment_bytes, 1024);
        assert_eq!(add.metadata.group_segment_bytes, 1024);
        assert_eq!(add.descriptor.private_segment_bytes, 0);
        assert_eq!(add.metadata.private_segment_bytes, 0);
        assert_eq!(add.descriptor.kernarg_bytes, add.metadata.kernarg_bytes);
        assert_eq!(add.metadata.max_workgroup, 256);
        assert_eq!(
            (add.metadata.wavefront_size, add.metadata.agpr_count),
            (64, 0)
        );
        assert_eq!(
            (add.metadata.sgpr_spill_count, add.metadata.vgpr_spill_count),
            (0, 0)
        );
        assert!(add.descriptor.rsrc1.vgprs() >= add.metadata.vgpr_count);
        assert!(add.descriptor.rsrc1.sgprs() >= add.metadata.sgpr_count);
        assert_eq!(add.descriptor.rsrc1.float_mode(), 0xf0);
        assert_eq!(add.descriptor.rsrc2.workgroup_ids(), [true, false, false]);
        assert_eq!(add.descriptor.rsrc2.workitem_id(), 0);
        assert!(add.descriptor.user_sgprs.kernarg_segment_ptr);
        assert!(add.descriptor.rsrc2.user_sgpr_count() >= add.descriptor.user_sgprs.count());
        assert_eq!(object.kernel("nothing").unwrap().metadata.max_workgroup, 64);
    }
}

#[test]
fn arguments_are_explicit_then_hidden() {
    let object = CodeObject::parse(GFX942).unwrap();
    let args = &object.kernel("add").unwrap().metadata.args;
    let explicit: Vec<_> = args
        .iter()
        .take_while(|arg| !arg.kind.is_hidden())
        .collect();
    let shape: Vec<_> = explicit
        .iter()
        .map(|arg| (arg.offset, arg.size, arg.kind))
        .collect();
    use ArgumentKind::{ByValue, GlobalBuffer};
    assert_eq!(
        shape,
        [
            (0, 8, GlobalBuffer),
            (8, 8, GlobalBuffer),
            (16, 8, GlobalBuffer),
            (24, 4, ByValue)
        ]
    );
    let names: Vec<_> = explicit
        .iter()
        .filter_map(|arg| arg.name.as_deref())
        .collect();
    assert_eq!(names, ["out.coerce", "a.coerce", "b.coerce", "count"]);
    assert!(
        args[explicit.len()..]
            .iter()
            .all(|arg| arg.kind.is_hidden())
    );
    let of_kind = |kind| {
        args.iter()
            .find(|arg| arg.kind == kind)
            .map(|arg| (arg.offset, arg.size))
    };
    // Hidden arguments begin at the next multiple of 8.
    assert_eq!(of_kind(ArgumentKind::HiddenBlockCountX), Some((32, 4)));
    assert_eq!(of_kind(ArgumentKind::HiddenGroupSizeX), Some((44, 2)));
}

#[test]
fn code_variables_and_relocations_are_where_symbols_say() {
    for file in [GFX90A, GFX942, GFX950] {
        let object = CodeObject::parse(file).unwrap();
        let add = object.kernel("add").unwrap();
        let code = object.code(add);
        assert_eq!(code.len() as u64, add.code_bytes);
        // The last instruction of a kernel is s_endpgm.
        assert!(
            code.windows(4).any(|word| word == [0x00, 0x00, 0x81, 0xbf]),
            "no s_endpgm"
        );
        let symbol = |name: &str| {
            object
                .symbols
                .iter()
                .find(|symbol| symbol.name == name)
                .unwrap()
        };
        let (variable, pointer) = (symbol("offset_by"), symbol("where"));
        assert_eq!(
            (variable.kind, variable.size, pointer.size),
            (SymbolKind::Object, 4, 8)
        );
        assert_eq!(
            object.at_address(variable.address, 4),
            Some(&1.0f32.to_le_bytes()[..])
        );
        let relocation = object
            .relocations
            .iter()
            .find(|relocation| relocation.address == pointer.address)
            .unwrap();
        let target = match relocation.kind {
            RelocationKind::Relative64 => relocation.addend as u64,
            RelocationKind::Abs64 => object.symbols[relocation.symbol.unwrap()]
                .address
                .wrapping_add_signed(relocation.addend),
            other => panic!("{other:?}"),
        };
        assert_eq!(target, variable.address);
        let span = object.memory_span();
        assert!(span.contains(&variable.address) && span.contains(&add.entry));
    }
}

#[test]
fn what_is_none_is_named() {
    let edit = |at: usize, bytes: &[u8]| {
        let mut file = GFX942.to_vec();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        CodeObject::parse(&file).unwrap_err().to_string()
    };
    assert_eq!(
        CodeObject::parse(b"#!/bin/sh\n"),
        Err(CodeObjectError::NotElf)
    );
    assert_eq!(
        CodeObject::parse(b"__CLANG_OFFLOAD_BUNDLE__"),
        Err(CodeObjectError::Bundle)
    );
    assert_eq!(
        edit(18, &[62, 0]),
        "an ELF file, but not of an AMD GPU: it is for machine 62"
    );
    assert_eq!(
        edit(4, &[1]),
        "an ELF file, but not of an AMD GPU: not 64 bits, little-endian"
    );
    assert!(edit(7, &[0]).ends_with("its operating system ABI is 0, not HSA"));
    assert!(edit(8, &[9]).starts_with("code object ABI 9 is not supported"));
    assert!(edit(48, &[0x41]).contains("gfx1100"));
    assert!(edit(48, &[0x4f]).contains("the metadata"));
    assert!(edit(16, &[1, 0]).contains("relocatable"));
}

#[test]
fn a_kernel_that_begins_nowhere_is_refused() {
    let object = CodeObject::parse(GFX942).unwrap();
    let add = object.kernel("add").unwrap();
    let descriptor = object.at_address(add.descriptor_address, 64).unwrap();
    let at = object
        .bytes()
        .windows(64)
        .position(|window| window == descriptor)
        .unwrap();
    let mut file = GFX942.to_vec();
    file[at + 16..at + 24].copy_from_slice(&i64::MAX.to_le_bytes());
    let error = CodeObject::parse(&file).unwrap_err().to_string();
    assert!(
        error.starts_with("kernel add: its first instruction would be at"),
        "{error}"
    );
    file[at + 16..at + 24].copy_from_slice(&0i64.to_le_bytes());
    assert!(CodeObject::parse(&file).is_err());
}
