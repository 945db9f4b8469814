# ROCm for exactly the architectures asked for; null for all that nixpkgs
# builds by default.
{ pkgs }:
architectures:
let
  # nixpkgs has scopes such as `rocmPackages.gfx942` only for the architectures
  # that clr lists, and gfx950 may not be among them: so they are made here the
  # same way.
  scope =
    if architectures == null then
      pkgs.rocmPackages
    else
      pkgs.rocmPackages.overrideScope (
        _final: previous: {
          clr = previous.clr.override { localGpuTargets = architectures; };
        }
      );
in
{
  inherit (scope) openmpi;

  # One tree laid out as a plain installation of ROCm is. nixpkgs has no such
  # path, and projects that build against ROCm want one.
  home = pkgs.symlinkJoin {
    name = "cairn-rocm";
    # clr brings the programs of rocminfo, and the headers and the version of
    # rocm-core, as links of its own.
    paths = [
      scope.clr
      scope.rccl
      scope.hipblaslt
      scope.hipblas-common
      scope.rocm-device-libs
      scope.rocm-comgr
      scope.rocm-runtime
      scope.rocm-smi
      scope.amdsmi
    ];
    # The hooks of the parts would set HIP_PATH to one part of the tree.
    postBuild = "rm -rf $out/nix-support";
  };
}
