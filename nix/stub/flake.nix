{
  description = "The part of nixpkgs that Cairn's flake uses, with nothing behind it";

  outputs = _: { legacyPackages.x86_64-linux = import ./.; };
}
