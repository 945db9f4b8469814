# A development shell: the same tools and variables for each, the architectures
# and ROCm's build are what differs.
{ pkgs, third-party }:
{
  name,
  architectures,
  rocm,
  tools ? [ ],
}:
pkgs.mkShell {
  name = "cairn-${name}";

  packages = [
    pkgs.cargo
    pkgs.cargo-nextest
    pkgs.clippy
    pkgs.git
    pkgs.rustc
    pkgs.rustfmt
    rocm.home
    rocm.openmpi
  ]
  ++ tools;

  env = {
    CAIRN_THIRDPARTY_DIR = "${third-party}";
    GPU_ARCHS = builtins.concatStringsSep ";" architectures;
    HIP_PATH = "${rocm.home}";
    HIP_PLATFORM = "amd";
    ROCM_HOME = "${rocm.home}";
    ROCM_PATH = "${rocm.home}";
    # HIP, RCCL and MPI are opened at run time. What the machine has elsewhere
    # is left out, so that every node opens the same files.
    LD_LIBRARY_PATH = pkgs.lib.makeLibraryPath [
      rocm.home
      rocm.openmpi
    ];
  };
}
