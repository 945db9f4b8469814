#!/usr/bin/env bash
# Every check, on this machine: `cargo xtask ci` after making sure that the
# tools which come with Rust are there.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust first (https://rustup.rs)" >&2
    exit 1
fi

# `cargo xtask ci` skips what is not there and says so.
for component in rustfmt clippy; do
    if ! cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 && command -v rustup >/dev/null; then
        rustup component add "$component" || true
    fi
done

# Everything is locked: a change of dependencies that was not committed fails here.
cargo metadata --locked --format-version 1 >/dev/null

exec cargo xtask ci
