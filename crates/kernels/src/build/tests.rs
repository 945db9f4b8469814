//! Builds with a compiler made of a shell script, which knows how often it
//! was started and writes the code object it is told to.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// A small code object for gfx942, and one for gfx950, with the kernel `add`.
const GFX942: &[u8] = include_bytes!("../../../../tests/golden/codeobj/add.gfx942.hsaco");
const GFX950: &[u8] = include_bytes!("../../../../tests/golden/codeobj/add.gfx950.hsaco");

const HEADER: &str = "// kernels: add\n// computes: c\n// tiles: t\n// lds: none\n\
    // limit: workgroup 1024, vgprs 64, sgprs 64, lds 0\n";

/// Writes to `log` what it is asked, fails on the word `broken` in a source,
/// and copies the code object of the architecture to the output.
const SCRIPT: &str = r#"
here=$(dirname "$0")
[ "$1" = --version ] && { echo "clang version $(cat "$here/version")"; exit 0; }
mode=compile; out=; arch=; source=
while [ $# -gt 0 ]; do
  case $1 in
    -E) mode=preprocess;;
    -o) out=$2; shift;;
    --offload-arch=*) arch=${1#*=};;
    *.hip) source=$1;;
  esac
  shift
done
echo "$mode $arch $source" >> "$here/log"
if grep -q broken "$source"; then echo "$source:6:1: error: broken" >&2; exit 1; fi
if [ $mode = preprocess ]; then grep -v '^//' "$source"; exit 0; fi
cp "$here/$arch" "$out"
"#;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(place.path("kernels/include")).unwrap();
        std::fs::create_dir_all(place.path("bin")).unwrap();
        place.write("bin/version", "1");
        std::fs::write(place.path("bin/gfx942"), GFX942).unwrap();
        std::fs::write(place.path("bin/gfx950"), GFX950).unwrap();
        place.write("bin/clang++", &format!("#!/bin/sh\n{SCRIPT}"));
        std::fs::set_permissions(
            place.path("bin/clang++"),
            std::fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        place.source("a.hip", "int a;");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn source(&self, name: &str, text: &str) {
        self.write(&format!("kernels/{name}"), &format!("{HEADER}{text}\n"));
    }

    fn request(&self, archs: &[Arch]) -> Request {
        let mut path = self.path("bin").into_os_string();
        path.push(":/usr/bin:/bin");
        Request {
            sources: self.path("kernels"),
            out: self.path("out"),
            archs: archs.to_vec(),
            jobs: 2,
            search: Search {
                cc: Some(self.path("bin/clang++")),
                path,
                ..Search::default()
            },
        }
    }

    fn build(&self, archs: &[Arch]) -> Result<Report, Vec<KernelsError>> {
        build(&self.request(archs), &Progress::hidden())
    }

    /// What the compiler was asked since the last time, without the probes.
    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("bin/log")).unwrap_or_default();
        drop(std::fs::remove_file(self.path("bin/log")));
        let mut lines: Vec<_> = text
            .lines()
            .filter(|line| !line.contains("probe"))
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines
    }
}

fn told(result: Result<Report, Vec<KernelsError>>) -> String {
    let errors = result.unwrap_err();
    errors
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn nothing_is_compiled_twice() {
    let place = Place::new();
    let archs = [Arch::Gfx942, Arch::Gfx950];
    let first = place.build(&archs).unwrap();
    assert_eq!(
        first
            .built
            .iter()
            .map(|built| built.compiled)
            .collect::<Vec<_>>(),
        [1, 1]
    );
    let asked = [
        "compile gfx942 a.hip",
        "compile gfx950 a.hip",
        "preprocess gfx942 a.hip",
        "preprocess gfx950 a.hip",
    ];
    assert_eq!(place.log(), asked);
    // Nothing changed: no process at all.
    let second = place.build(&archs).unwrap();
    assert!(second.built.iter().all(|built| built.compiled == 0));
    assert_eq!(place.log(), [""; 0]);
    assert_eq!(second.built[0].manifest, first.built[0].manifest);
    // A comment changed: preprocessed, and the object is known.
    place.source("a.hip", "// a remark\nint a;");
    let third = place.build(&archs).unwrap();
    assert!(third.built.iter().all(|built| built.compiled == 0));
    assert_eq!(
        place.log(),
        ["preprocess gfx942 a.hip", "preprocess gfx950 a.hip"]
    );
    // Code changed back and forth: known both times.
    place.source("a.hip", "int b;");
    assert_eq!(place.build(&archs[..1]).unwrap().built[0].compiled, 1);
    place.source("a.hip", "int a;");
    assert_eq!(place.build(&archs[..1]).unwrap().built[0].compiled, 0);
}

#[test]
fn another_compiler_flag_header_or_damage_is_noticed() {
    let place = Place::new();
    let archs = [Arch::Gfx942];
    place.build(&archs).unwrap();
    place.log();
    let object = place.path("out/gfx942/a.hsaco");
    std::fs::write(&object, b"damaged").unwrap();
    place.build(&archs).unwrap();
    assert_eq!(std::fs::read(&object).unwrap(), GFX942);
    assert_eq!(place.log(), [""; 0]);
    place.write("kernels/include/x.h", "int x;");
    place.build(&archs).unwrap();
    assert_eq!(place.log(), ["preprocess gfx942 a.hip"]);
    place.write("bin/version", "2");
    place.write("bin/clang++", &format!("#!/bin/sh\n# newer\n{SCRIPT}"));
    assert_eq!(place.build(&archs).unwrap().built[0].compiled, 1);
}

#[test]
fn a_suffixed_entry_point_replaces_the_general_one() {
    let place = Place::new();
    place.source("a_gfx950.hip", "int own;");
    let report = place.build(&[Arch::Gfx942, Arch::Gfx950]).unwrap();
    let sources: Vec<_> = report
        .built
        .iter()
        .map(|built| built.manifest.kernels["add"].source.clone())
        .collect();
    assert_eq!(sources, ["a.hip", "a_gfx950.hip"]);
    assert!(!place.path("out/gfx942/a_gfx950.hsaco").exists());
    assert!(place.path("out/gfx950/a.hsaco").exists());
    std::fs::remove_file(place.path("kernels/a_gfx950.hip")).unwrap();
    let report = place.build(&[Arch::Gfx950]).unwrap();
    assert_eq!(report.built[0].manifest.kernels["add"].source, "a.hip");
    assert!(!place.path("out/gfx950/a_gfx950.hsaco").exists());
}

#[test]
fn each_source_that_fails_is_told() {
    let place = Place::new();
    place.source("b.hip", "broken 1");
    place.source("c.hip", "broken 2");
    let errors = place.build(&[Arch::Gfx942]).unwrap_err();
    assert_eq!(errors.len(), 2);
    let first = errors[0].diagnostic();
    assert_eq!(first.code, "kernels::compile");
    assert_eq!(
        first.message,
        "b.hip does not compile for gfx942\n  b.hip:6:1: error: broken"
    );
    assert!(
        first.hints[0].contains("--offload-arch=gfx942"),
        "{first:?}"
    );
    assert!(Manifest::load(&place.path("out"), Arch::Gfx942).is_err());
}

#[test]
fn names_that_clash_or_lack_a_general_form_are_refused() {
    let place = Place::new();
    place.source("b.hip", "int b;");
    let clash = told(place.build(&[Arch::Gfx942]));
    assert_eq!(clash, "entry point `add` is in both a.hip and b.hip");
    std::fs::remove_file(place.path("kernels/b.hip")).unwrap();
    std::fs::remove_file(place.path("kernels/a.hip")).unwrap();
    place.source("a_gfx942.hip", "int a;");
    let alone = told(place.build(&[Arch::Gfx942]));
    assert_eq!(
        alone,
        "a_gfx942.hip: entry point `add` has no unsuffixed form"
    );
}

#[test]
fn a_manifest_and_its_objects_are_checked_when_used() {
    let place = Place::new();
    let archs = [Arch::Gfx942];
    place.build(&archs).unwrap();
    let out = place.path("out");
    let manifest = Manifest::load(&out, Arch::Gfx942).unwrap();
    let use_it = |manifest: &Manifest| manifest.object_of(&out, Arch::Gfx942, "add");
    assert!(use_it(&manifest).unwrap().kernel("add").is_some());
    let tree = |place: &Place| Tree::read(&place.path("kernels")).unwrap();
    manifest.must_be_from(&tree(&place), Arch::Gfx942).unwrap();
    place.source("b.hip", "int b;");
    let stale = manifest
        .must_be_from(&tree(&place), Arch::Gfx942)
        .unwrap_err()
        .diagnostic();
    assert_eq!(
        stale.message,
        "the kernels built for gfx942 are not from these sources: b.hip is new"
    );
    assert_eq!(
        stale.hints,
        ["run `cargo xtask kernels build --arch gfx942`"]
    );
    std::fs::write(out.join("gfx942/a.hsaco"), GFX950).unwrap();
    let wrong = use_it(&manifest).unwrap_err().diagnostic();
    assert_eq!(wrong.code, "kernels::wrong-arch");
    assert!(
        wrong
            .message
            .ends_with("is a code object for gfx950, where one for gfx942 is needed"),
        "{}",
        wrong.message
    );
    let mut changed = GFX942.to_vec();
    changed.push(0);
    std::fs::write(out.join("gfx942/a.hsaco"), changed).unwrap();
    assert!(matches!(use_it(&manifest), Err(KernelsError::Damaged(_))));
    let missing = manifest
        .object_of(&out, Arch::Gfx942, "ad")
        .unwrap_err()
        .diagnostic();
    assert_eq!(missing.hints, ["did you mean `add`?"]);
    let none = Manifest::load(&out, Arch::Gfx950).unwrap_err().diagnostic();
    assert_eq!(none.message, "no kernels are built for gfx950");
}

#[test]
fn what_a_compiler_wrote_for_another_architecture_is_refused() {
    let place = Place::new();
    place.build(&[Arch::Gfx942]).unwrap();
    std::fs::copy(place.path("bin/gfx950"), place.path("bin/gfx942")).unwrap();
    place.source("a.hip", "int other;");
    let error = told(place.build(&[Arch::Gfx942]));
    assert!(error.contains("is a code object for gfx950"), "{error}");
    assert_eq!(
        std::fs::read(place.path("out/gfx942/a.hsaco")).unwrap(),
        GFX942
    );
}
