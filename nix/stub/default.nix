# Defines what attributes.toml lists. Nothing is downloaded or compiled: what is
# built runs with the tools of the machine, so building needs a Nix without a
# sandbox; evaluating needs none.
let
  listed = builtins.fromTOML (builtins.readFile ./attributes.toml);

  build =
    name: attributes: script:
    derivation (
      {
        inherit name;
        system = "x86_64-linux";
        builder = "/bin/bash";
        PATH = "/usr/local/bin:/usr/bin:/bin";
      }
      // attributes
      // {
        # A last command would take the place of bash, and many close their
        # output before they end: which Nix takes for the end, and kills them.
        args = [
          "-euc"
          "${script}\nexit 0"
        ];
      }
    );

  # A package with a program that says which package it is of.
  package =
    name:
    build name { pname = name; } ''
      mkdir -p $out/bin $out/lib
      printf '#!/bin/sh\necho %s\n' ${name} > $out/bin/${name}
      chmod +x $out/bin/${name}
    '';

  # As lib.makeScope: `make` gets the finished set, overlays of it included.
  scopeOf =
    make:
    let
      self = make self // {
        overrideScope =
          overlay:
          scopeOf (
            final:
            let
              previous = make final;
            in
            previous // overlay final previous
          );
      };
    in
    self;

  packagesOf =
    names: make:
    builtins.listToAttrs (
      map (name: {
        inherit name;
        value = make name;
      }) (builtins.attrNames names)
    );

  clrFor =
    {
      localGpuTargets ? [ ],
    }:
    package (builtins.concatStringsSep "-" ([ "clr" ] ++ localGpuTargets))
    // {
      override = clrFor;
      inherit localGpuTargets;
    };

  # As in nixpkgs, libraries take their targets from the scope's clr.
  rocmPackages = scopeOf (
    self:
    packagesOf listed.rocm (
      name: package (builtins.concatStringsSep "-" ([ name ] ++ self.clr.localGpuTargets))
    )
    // {
      clr = clrFor { };
    }
  );

  functions = {
    # The checked-out tree without what git keeps beside it.
    fetchgit =
      {
        name,
        url,
        rev,
        hash,
        fetchSubmodules,
      }:
      assert !fetchSubmodules;
      build name
        {
          inherit url rev;
          outputHash = hash;
          outputHashAlgo = "sha256";
          outputHashMode = "recursive";
          HOME = "/homeless-shelter";
          GIT_CONFIG_NOSYSTEM = "1";
        }
        ''
          git init -q $out
          cd $out
          git fetch -q --depth 1 "$url" "$rev"
          git checkout -q FETCH_HEAD
          rm -rf .git
        '';

    "lib.makeLibraryPath" =
      packages: builtins.concatStringsSep ":" (map (each: "${each}/lib") packages);

    # Without the setup of stdenv, which `nix develop` can do without.
    mkShell =
      {
        name,
        packages,
        env,
      }:
      build name (
        env
        // {
          # stdenv has this variable, and `nix develop` reads it.
          outputs = [ "out" ];
          PATH = builtins.concatStringsSep ":" (
            map (each: "${each}/bin") packages ++ [ "/usr/local/bin:/usr/bin:/bin" ]
          );
        }
      ) "export > $out";

    "rocmPackages.clr.override" = rocmPackages.clr.override;
    "rocmPackages.overrideScope" = rocmPackages.overrideScope;

    runCommand =
      name: attributes: script:
      build name attributes script;

    "rustPlatform.buildRustPackage" =
      {
        pname,
        version,
        src,
        cargoLock,
        cargoBuildFlags,
        doCheck,
      }:
      build "${pname}-${version}"
        {
          inherit pname src;
          lock = cargoLock.lockFile;
        }
        ''
          test -f $src/Cargo.toml
          cmp $src/Cargo.lock $lock
          mkdir -p $out/bin
          printf '#!/bin/sh\necho %s\n' ${pname} > $out/bin/${pname}
          chmod +x $out/bin/${pname}
        '';

    symlinkJoin =
      {
        name,
        paths,
        postBuild ? "",
      }:
      build name { inherit paths; } ''
        mkdir $out
        for each in $paths; do
          cp -rsn $each/. $out
          chmod -R u+w $out
        done
        ${postBuild}
      '';
  };
in
# One list, one set: neither may have what the other lacks.
assert builtins.attrNames functions == builtins.attrNames listed.functions;
packagesOf listed.packages package
// {
  inherit rocmPackages;
  inherit (functions)
    fetchgit
    mkShell
    runCommand
    symlinkJoin
    ;
  lib.makeLibraryPath = functions."lib.makeLibraryPath";
  rustPlatform.buildRustPackage = functions."rustPlatform.buildRustPackage";
}
