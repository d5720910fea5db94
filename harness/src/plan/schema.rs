//! The scenario format as a JSON schema, for editors.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{Expectation, Expectations, Link, Message, Offset, ProfileExpectation, Scenario, Span};
use crate::history::Ability;

/// The schema of a scenario file, as pretty JSON with a newline at its end.
#[must_use]
pub fn schema() -> String {
    let schema = SchemaGenerator::default().into_root_schema_for::<Scenario>();
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// A text of one form.
fn text(description: &str, pattern: &str) -> Schema {
    json_schema!({ "type": "string", "description": description, "pattern": pattern })
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text(
            "a length of time, such as `10s` or `24h - 1s`",
            r"^\s*\d+\s*(ms|s|m|h|d)(\s*[+-]\s*\d+\s*(ms|s|m|h|d))*\s*$",
        )
    }
}

impl JsonSchema for Offset {
    fn schema_name() -> Cow<'static, str> {
        "Offset".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text("how far a clock is off, such as `+5m` or `-90s`", r"^\s*[+-]?\s*\d+\s*(ms|s|m|h|d)\s*$")
    }
}

impl JsonSchema for Link {
    fn schema_name() -> Cow<'static, str> {
        "Link".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text("`a -> b` in one direction, `a <-> b` in both", r"^\s*[a-z0-9-]+\s*<?->\s*[a-z0-9-]+\s*$")
    }
}

impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text(
            "one message on a link, `a -> b #3`, or `#*`",
            r"^\s*[a-z0-9-]+\s*->\s*[a-z0-9-]+\s*#\s*(\d+|\*)\s*$",
        )
    }
}

impl JsonSchema for Expectations {
    fn schema_name() -> Cow<'static, str> {
        "Expectations".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let profile = generator.subschema_for::<ProfileExpectation>();
        layered::<Expectation>(
            generator,
            &BTreeMap::from(super::PROFILES.map(|name| (name, profile.clone()))),
        )
    }
}

impl JsonSchema for ProfileExpectation {
    fn schema_name() -> Cow<'static, str> {
        "ProfileExpectation".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let ability = generator.subschema_for::<Expectation>();
        let abilities =
            [Ability::Keyed, Ability::Queryable, Ability::Echoing, Ability::Opaque].map(Ability::name);
        layered::<Expectation>(generator, &BTreeMap::from(abilities.map(|name| (name, ability.clone()))))
    }
}

/// A table of `T`'s own fields among tables of the next layer.
fn layered<T: JsonSchema>(generator: &mut SchemaGenerator, nested: &BTreeMap<&str, Schema>) -> Schema {
    let mut schema = T::json_schema(generator);
    if let Some(properties) = schema.get_mut("properties").and_then(|properties| properties.as_object_mut()) {
        for (name, layer) in nested {
            properties.insert((*name).into(), layer.clone().into());
        }
    }
    schema
}
