//! The examples in tests/cli/*.md do what they show.

use std::path::Path;

use super::root;

#[test]
fn the_manual_tells_the_truth() {
    std::env::set_current_dir(root()).unwrap();
    let cases = trycmd::TestCases::new();
    cases.register_bin("cargo", Path::new(env!("CARGO_BIN_EXE_xtask")));
    cases
        .env("USER", "me")
        .env("NO_COLOR", "1")
        .env("CAIRN_TEAM", "local")
        .env("CAIRN_CONFIGS", "");
    cases.case("tests/cli/*.md");
    cases.run();
}
