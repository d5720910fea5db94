//! The scenarios that the program carries.

use onceproof::plan::{Scenario, embedded};

/// Each with its name, read.
pub fn scenarios() -> Vec<(String, Scenario)> {
    let parse = |(name, source): (String, String)| match Scenario::parse(&name, &source) {
        Ok(scenario) => (name, scenario),
        Err(error) => panic!("{:?}", miette::Report::new(error)),
    };
    embedded().into_iter().map(parse).collect()
}
