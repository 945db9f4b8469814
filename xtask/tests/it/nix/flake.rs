//! The flake: its lock agrees with it, every output of it evaluates with
//! nothing but the listed attributes of nixpkgs, and its shells set what they must.

use std::collections::BTreeMap;

use super::Checkout;

const CHECK: [&str; 4] = ["flake", "check", "--no-build", "@"];

#[test]
fn the_lock_agrees_with_the_flake() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    let flake = format!("path:{}", checkout.root.display());
    let words = [
        "flake",
        "metadata",
        "--json",
        "--no-update-lock-file",
        &flake,
    ];
    let metadata: serde_json::Value = serde_json::from_str(&checkout.nix.text(&words)).unwrap();
    let locked = &metadata["locks"]["nodes"]["nixpkgs"]["locked"];
    let file: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(checkout.root.join("flake.lock")).unwrap())
            .unwrap();
    assert_eq!(*locked, file["nodes"]["nixpkgs"]["locked"]);
    for field in ["narHash", "rev", "lastModified"] {
        assert!(!locked[field].is_null(), "{field} is not locked");
    }

    // Another input, which Nix can look at without a network.
    let stub = format!("path:{}/nix/stub", checkout.root.display());
    checkout.change("flake.nix", "github:NixOS/nixpkgs/nixos-unstable", &stub);
    let said = checkout.nix.refusal(&words);
    assert!(said.contains("lock file"), "{said}");
}

#[test]
fn every_output_evaluates_with_the_listed_attributes() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    checkout.text(&CHECK);
    let names = |output: &str| -> Vec<String> {
        let flake = format!("@#{output}.x86_64-linux");
        let list = checkout.text(&["eval", "--json", &flake, "--apply", "builtins.attrNames"]);
        serde_json::from_str(&list).unwrap()
    };
    assert_eq!(names("devShells"), ["default", "full", "gfx942", "gfx950"]);
    let packages = [
        "cairn-train",
        "default",
        "kernels-gfx942",
        "kernels-gfx950",
        "third-party",
        "xtask",
    ];
    assert_eq!(names("packages"), packages);
    assert_eq!(names("apps"), ["cairn-train", "default", "xtask"]);
    assert!(names("checks").len() > packages.len());
}

#[test]
fn an_attribute_that_is_not_listed_is_refused_and_so_is_a_list_without_its_stub() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    checkout.change("nix/shell.nix", "pkgs.rustc", "pkgs.rustc-unlisted");
    let said = checkout.refusal(&CHECK);
    assert!(said.contains("rustc-unlisted"), "{said}");
    checkout.change("nix/shell.nix", "pkgs.rustc-unlisted", "pkgs.rustc");
    checkout.text(&CHECK);
    checkout.change("nix/stub/attributes.toml", "symlinkJoin", "unknownJoin");
    let said = checkout.refusal(&CHECK);
    assert!(said.contains("assertion"), "{said}");
}

#[test]
fn listed_attributes_name_the_file_they_were_seen_in_and_are_used() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    let list = checkout.root.join("nix/stub/attributes.toml");
    let expression = format!("builtins.fromTOML (builtins.readFile {})", list.display());
    let listed = checkout
        .nix
        .text(&["eval", "--impure", "--json", "--expr", &expression]);
    let listed: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(&listed).unwrap();
    let mut sources = String::new();
    for entry in std::fs::read_dir(checkout.root.join("nix")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            sources.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    assert!(listed.values().map(BTreeMap::len).sum::<usize>() > 20);
    for (attribute, file) in listed.values().flatten() {
        let root = file.split('/').next().unwrap();
        assert!(
            ["lib", "pkgs"].contains(&root) && file.ends_with(".nix"),
            "{attribute}: {file}"
        );
        // The scope's own name is in a variable there.
        let name = attribute
            .trim_start_matches("rocmPackages.")
            .trim_start_matches("clr.");
        assert!(
            sources.contains(&format!(".{name}")),
            "the flake does not use {attribute}"
        );
    }
}

#[test]
fn each_locked_project_is_built_under_the_name_that_the_cache_has_for_it() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    // The stub's builders are scripts; evaluating one fetches nothing.
    let script = checkout.text(&["eval", "--json", "@#third-party.args"]);
    let lock = cairn_deps::Lock::read(&checkout.root).unwrap();
    assert!(!lock.entries.is_empty());
    for entry in &lock.entries {
        let place = format!("$out/{}", entry.tree_name());
        assert!(script.contains(&place), "{place} is not in\n{script}");
    }
}

#[test]
fn without_nix_its_checks_say_what_to_do() {
    let exec = cairn_base::Exec::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["ci", "--nix"])
        .cwd(env!("CARGO_MANIFEST_DIR"))
        .env("PATH", "");
    let (status, output) = exec.capture().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(
        said.contains("ci::nix") && said.contains("install Nix"),
        "{said}"
    );
}

/// What a shell sets, from inside it.
fn environment(checkout: &Checkout, shell: &str) -> BTreeMap<String, String> {
    let flake = format!("@#{shell}");
    let text = checkout.text(&["develop", &flake, "--command", "env"]);
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn shells_set_variables_and_build_rocm_for_their_architectures() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    // Building what is locked would need a network.
    for file in ["third_party.toml", "third_party.lock"] {
        std::fs::write(
            checkout.root.join("third_party").join(file),
            "version = 1\n",
        )
        .unwrap();
    }
    let store = checkout.nix.path().join("store");
    for (shell, architectures, suffix) in [
        ("default", "gfx942;gfx950", ""),
        ("gfx942", "gfx942", "-gfx942"),
        ("gfx950", "gfx950", "-gfx950"),
        ("full", "gfx942;gfx950", "-gfx942-gfx950"),
    ] {
        let set = environment(&checkout, shell);
        assert_eq!(set["GPU_ARCHS"], architectures, "{shell}");
        let home = &set["ROCM_HOME"];
        assert!(home.starts_with(store.to_str().unwrap()), "{shell}: {home}");
        assert_eq!([&set["HIP_PATH"], &set["ROCM_PATH"]], [home; 2], "{shell}");
        assert!(
            set["LD_LIBRARY_PATH"].starts_with(&format!("{home}/lib:")),
            "{shell}"
        );
        let third_party = std::path::Path::new(&set["CAIRN_THIRDPARTY_DIR"]);
        assert!(
            third_party.starts_with(&store) && third_party.is_dir(),
            "{shell}"
        );
        for part in ["clr", "rccl", "hipblaslt", "rocm-device-libs"] {
            let program = std::path::Path::new(home).join(format!("bin/{part}{suffix}"));
            assert!(program.is_file(), "{shell} lacks {}", program.display());
        }
        let path: Vec<_> = std::env::split_paths(&set["PATH"]).collect();
        for tool in [
            "cargo",
            "cargo-nextest",
            "rustc",
            "clippy",
            "rustfmt",
            "git",
        ] {
            let found = path
                .iter()
                .map(|dir| dir.join(tool))
                .find(|file| file.is_file());
            assert!(
                found.is_some_and(|file| file.starts_with(&store)),
                "{shell} lacks {tool}"
            );
        }
    }
}
