//! The schema that is checked in says what the parser takes.

use onceproof::plan::schema;

#[test]
fn the_schema_that_is_checked_in_is_the_generated_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/scenario.schema.json");
    let checked_in = std::fs::read_to_string(path).expect("the schema is checked in");
    assert_eq!(
        checked_in,
        schema(),
        "write it anew: cargo run --release -- schema > scenarios/scenario.schema.json"
    );
}

#[test]
fn every_scenario_fits_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for (name, source) in onceproof::plan::embedded() {
        let table: toml::Table = toml::from_str(&source).expect("TOML");
        let instance = serde_json::to_value(table).expect("JSON");
        let mistakes: Vec<String> = validator.iter_errors(&instance).map(|error| error.to_string()).collect();
        assert!(mistakes.is_empty(), "{name}: {mistakes:?}");
    }
}
