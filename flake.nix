{
  description = "Cairn trains language models on AMD GPUs from one YAML file";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      # The one system that nixpkgs has ROCm for.
      system = "x86_64-linux";
      cairn = import ./nix { pkgs = nixpkgs.legacyPackages.${system}; };
    in
    {
      packages.${system} = cairn.packages;
      devShells.${system} = cairn.shells;
      checks.${system} = cairn.checks;
      apps.${system} = cairn.apps;
      formatter.${system} = cairn.formatter;
    };
}
