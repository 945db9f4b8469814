# The third-party source trees, laid out as `cargo xtask deps sync` lays out its
# cache. The lock is read here too: whichever way a node gets its trees, names
# and bytes are the same.
{ pkgs }:
let
  folder = ../third_party;
  read = file: builtins.fromTOML (builtins.readFile (folder + "/${file}"));
  lock = read "third_party.lock";
  entries =
    if lock.version == 1 then
      lock.entry or [ ]
    else
      throw "third_party.lock has version ${toString lock.version}, this flake knows version 1: update this checkout";

  # What is wanted and not locked has no hash to be fetched against.
  unlocked = builtins.filter (name: builtins.all (entry: entry.name != name) entries) (
    map (entry: entry.name) (read "third_party.toml").entry or [ ]
  );

  # The first eight hex digits of a hash in SRI form, as `deps` names trees.
  shortHex =
    hash:
    let
      alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      values = builtins.listToAttrs (
        builtins.genList (value: {
          name = builtins.substring value 1 alphabet;
          inherit value;
        }) 64
      );
      digit = place: values.${builtins.substring place 1 (builtins.substring 7 6 hash)};
      # Six digits of base64 are nine of hex.
      bits = builtins.foldl' (sum: place: sum * 64 + digit place) 0 (builtins.genList (place: place) 6);
      hex = place: builtins.substring (nibble place) 1 "0123456789abcdef";
      nibble = place: bits / (power (8 - place)) - bits / (power (9 - place)) * 16;
      power = exponent: if exponent == 0 then 1 else 16 * power (exponent - 1);
    in
    assert builtins.substring 0 7 hash == "sha256-";
    builtins.concatStringsSep "" (map hex (builtins.genList (place: place) 8));

  treeName = entry: "${entry.name}-${builtins.substring 0 12 entry.rev}-${shortHex entry.tree_hash}";

  # git makes the tree and not a host's archive, in which `.gitattributes` may
  # leave files out and rewrite others.
  fetch =
    name:
    {
      url,
      rev,
      source_hash,
      ...
    }:
    pkgs.fetchgit {
      inherit name url rev;
      hash = source_hash;
      fetchSubmodules = false;
    };

  patchOf =
    entry:
    { file, sha256 }:
    let
      path = folder + "/patches/${entry.name}/${file}";
    in
    if builtins.hashFile "sha256" path == sha256 then
      path
    else
      throw "third_party/patches/${entry.name}/${file} is not the patch that was locked: run `cargo xtask deps lock ${entry.name}`";

  # Its hash is Nix's to check, after submodules and patches.
  treeOf =
    entry:
    let
      source = fetch "${entry.name}-source" entry;
      submodules = entry.submodule or [ ];
      patches = map (patchOf entry) (entry.patch or [ ]);
      quote = builtins.replaceStrings [ "'" ] [ "'\\''" ];
      copy = submodule: ''
        rm -rf "$out"/'${quote submodule.path}'
        cp -r ${fetch "${entry.name}-submodule" submodule} "$out"/'${quote submodule.path}'
        chmod -R u+w "$out"
      '';
      apply = patch: ''
        git apply --whitespace=nowarn ${patch}
      '';
    in
    if submodules == [ ] && patches == [ ] then
      if entry.tree_hash == entry.source_hash then
        source
      else
        throw "third_party.lock has two hashes for ${entry.name}, which has neither patches nor submodules"
    else
      pkgs.runCommand (treeName entry)
        {
          nativeBuildInputs = [ pkgs.git ];
          outputHash = entry.tree_hash;
          outputHashAlgo = "sha256";
          outputHashMode = "recursive";
        }
        ''
          cp -r ${source} $out
          chmod -R u+w $out
          cd $out
          ${builtins.concatStringsSep "" (map copy submodules ++ map apply patches)}
        '';

  place = entry: ''
    cp -r ${treeOf entry} $out/${treeName entry}
    ln -s ${treeName entry} $out/${entry.name}
  '';
  build = pkgs.runCommand "cairn-third-party" { } ''
    mkdir $out
    ${builtins.concatStringsSep "" (map place entries)}
  '';
in
if unlocked == [ ] then
  build
else
  builtins.trace "warning: left out, because third_party.lock does not have them: ${builtins.concatStringsSep ", " unlocked} (`cargo xtask deps lock` locks them)" build
