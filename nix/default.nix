# Everything the flake offers, made from one package set.
{ pkgs }:
let
  architectures = [
    "gfx942"
    "gfx950"
  ];

  # One value for each architecture, under a name made from it.
  forEach =
    prefix: make:
    builtins.listToAttrs (
      map (architecture: {
        name = prefix + architecture;
        value = make architecture;
      }) architectures
    );

  rocmFor = import ./rocm.nix { inherit pkgs; };
  rust = import ./rust.nix { inherit pkgs; };
  third-party = import ./third-party.nix { inherit pkgs; };
  kernelsFor = import ./kernels.nix {
    inherit pkgs;
    inherit (rust) source xtask;
  };
  shell = import ./shell.nix { inherit pkgs third-party; };

  app = package: {
    type = "app";
    program = "${package}/bin/${package.pname}";
  };
in
rec {
  packages = {
    inherit (rust) xtask cairn-train;
    inherit third-party;
    default = rust.xtask;
  }
  // forEach "kernels-" kernelsFor;

  shells = {
    default = shell {
      name = "default";
      inherit architectures;
      # As the public cache has it: nothing is compiled, and without a GPU
      # HIP answers that there is no device.
      rocm = rocmFor null;
    };
    full = shell {
      name = "full";
      inherit architectures;
      rocm = rocmFor architectures;
      tools = [
        formatter
        pkgs.python3
        pkgs.rust-analyzer
        pkgs.rocmPackages.rocgdb
        pkgs.rocmPackages.rocprofiler-sdk
      ];
    };
  }
  // forEach "" (
    architecture:
    shell {
      name = architecture;
      architectures = [ architecture ];
      rocm = rocmFor [ architecture ];
    }
  );

  checks = packages // {
    format = pkgs.runCommand "cairn-format" { nativeBuildInputs = [ pkgs.nixfmt ]; } ''
      find ${../flake.nix} ${../nix} -name '*.nix' -exec nixfmt --check {} +
      touch $out
    '';
  };

  apps = {
    default = app rust.xtask;
    xtask = app rust.xtask;
    cairn-train = app rust.cairn-train;
  };

  formatter = pkgs.nixfmt-tree;
}
