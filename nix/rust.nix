# The programs of the workspace.
{ pkgs }:
let
  manifest = builtins.fromTOML (builtins.readFile ../Cargo.toml);

  # What the programs are built from: a change of a note builds nothing anew.
  parts = [
    ".cargo"
    "Cargo.lock"
    "Cargo.toml"
    "configs"
    "crates"
    "kernels"
    "third_party"
    "xtask"
  ];
  root = toString ../.;
  source = builtins.path {
    name = "cairn-source";
    path = ../.;
    filter =
      path: _type:
      let
        relative = builtins.substring (builtins.stringLength root + 1) (-1) path;
      in
      builtins.elem (builtins.head (builtins.split "/" relative)) parts;
  };

  program =
    package:
    pkgs.rustPlatform.buildRustPackage {
      pname = package;
      inherit (manifest.workspace.package) version;
      src = source;
      # Cargo's own lock has the hash of every crate.
      cargoLock.lockFile = ../Cargo.lock;
      cargoBuildFlags = [
        "--package"
        package
      ];
      # `cargo xtask ci` runs them, with all they need.
      doCheck = false;
    };
in
{
  inherit source;
  xtask = program "xtask";
  cairn-train = program "cairn-train";
}
