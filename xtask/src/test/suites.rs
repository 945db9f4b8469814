//! The suites. Every test belongs to exactly one: an integration test to the
//! suite its first module is named after, every other test to `unit`.

/// A suite.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) name: &'static str,
    /// What it is about, for `--list`.
    pub(super) what: &'static str,
    pub(super) source: Source,
}

/// Which tests a suite has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// All that no other suite has.
    Rest,
    /// Integration tests in the module of the suite's name.
    Module,
    /// The examples in documentation comments.
    Doc,
}

pub(super) static SUITES: &[Suite] = &[
    Suite {
        name: "unit",
        what: "each crate by itself",
        source: Source::Rest,
    },
    Suite {
        name: "doc",
        what: "examples in documentation comments",
        source: Source::Doc,
    },
    Suite {
        name: "cli",
        what: "commands as documented, and exit codes",
        source: Source::Module,
    },
    Suite {
        name: "parity",
        what: "against reference data of other projects",
        source: Source::Module,
    },
    Suite {
        name: "accuracy",
        what: "every operator against its f64 reference",
        source: Source::Module,
    },
    Suite {
        name: "determinism",
        what: "the same bits for any thread count",
        source: Source::Module,
    },
];

/// The suite a test belongs to. `integration` tells the tests of a crate's
/// `tests` folder from those beside the code.
pub(super) fn suite_of(integration: bool, test: &str) -> &'static str {
    let module = test.split_once("::").map_or("", |(module, _)| module);
    let named = SUITES
        .iter()
        .find(|suite| suite.source == Source::Module && suite.name == module);
    match named {
        Some(suite) if integration => suite.name,
        _ => "unit",
    }
}

/// The same rule as a nextest filter.
pub(super) fn nextest_filter(suite: &Suite, name_part: Option<&str>) -> String {
    let modules: Vec<_> = SUITES
        .iter()
        .filter(|suite| suite.source == Source::Module)
        .map(|suite| suite.name)
        .collect();
    let base = match suite.source {
        Source::Rest | Source::Doc => {
            format!("not (kind(test) & test(/^({})::/))", modules.join("|"))
        }
        Source::Module => format!("kind(test) & test(/^{}::/)", suite.name),
    };
    match name_part {
        Some(part) => format!("({base}) & test(~{part})"),
        None => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_belongs_to_the_suite_its_module_names() {
        assert_eq!(suite_of(true, "parity::toy"), "parity");
        assert_eq!(suite_of(true, "resume::kills"), "unit");
        assert_eq!(suite_of(true, "parity"), "unit");
        assert_eq!(suite_of(false, "parity::toy"), "unit");
        assert_eq!(suite_of(false, "ops::accuracy::matmul"), "unit");
    }

    #[test]
    fn filters_say_the_same() {
        let filter = |name: &str, part| {
            nextest_filter(
                SUITES.iter().find(|suite| suite.name == name).unwrap(),
                part,
            )
        };
        assert_eq!(filter("parity", None), "kind(test) & test(/^parity::/)");
        assert_eq!(
            filter("unit", Some("rope")),
            "(not (kind(test) & test(/^(cli|parity|accuracy|determinism)::/))) & test(~rope)"
        );
    }
}
