# The code objects of all kernels for one architecture.
{
  pkgs,
  source,
  xtask,
}:
architecture:
pkgs.runCommand "cairn-kernels-${architecture}"
  {
    nativeBuildInputs = [ xtask ];
    HIPCC = "${pkgs.rocmPackages.rocm-toolchain}/bin/clang++";
  }
  ''
    cp -r --no-preserve=mode ${source} checkout
    cd checkout
    xtask kernels build --arch ${architecture}
    mv target/kernels/${architecture} $out
  ''
