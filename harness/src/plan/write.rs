//! Writing a scenario as TOML that a person reads: what belongs together stands on one line.

use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use super::Scenario;

impl Scenario {
    /// As a scenario file; parsing it gives the same scenario.
    ///
    /// # Errors
    /// TOML can hold every parsed scenario. One that was built by hand may hold a number that it cannot.
    pub fn to_toml(&self) -> Result<String, toml_edit::ser::Error> {
        let mut document = toml_edit::ser::to_document(self)?;
        tidy(&mut document);
        Ok(document.to_string())
    }
}

/// Steps, answers, faults and expectations are tables of their own; every table in one is inline.
fn tidy(document: &mut DocumentMut) {
    for name in ["step", "answer", "fault"] {
        if let Some(item) = document.get_mut(name) {
            let owned = std::mem::take(item);
            *item = match owned.into_array_of_tables() {
                Ok(mut tables) => {
                    tables.iter_mut().for_each(inline_all);
                    Item::ArrayOfTables(tables)
                }
                Err(other) => other,
            };
        }
    }
    if let Some(world) = open(document.get_mut("world")) {
        inline_all(world);
    }
    if let Some(expect) = open(document.get_mut("expect")) {
        spread_expectations(expect, 2);
    }
}

/// `[expect.PROFILE]` and `[expect.PROFILE.ABILITY]` are tables; what is in one of them is inline.
fn spread_expectations(table: &mut Table, levels: u8) {
    for (key, item) in table.iter_mut() {
        if matches!(key.get(), "effects" | "answers" | "dead") {
            inline(item);
        } else if item.is_table_like()
            && levels > 0
            && let Some(nested) = open(Some(item))
        {
            nested.set_implicit(true);
            spread_expectations(nested, levels - 1);
        }
    }
}

/// The item as a table with a header of its own.
fn open(item: Option<&mut Item>) -> Option<&mut Table> {
    let item = item?;
    *item = match std::mem::take(item).into_table() {
        Ok(table) => Item::Table(table),
        Err(other) => other,
    };
    item.as_table_mut()
}

fn inline_all(table: &mut Table) {
    table.iter_mut().for_each(|(_, item)| inline(item));
}

fn inline(item: &mut Item) {
    if item.is_table_like() {
        *item = match std::mem::take(item).into_table() {
            Ok(table) => {
                let mut inline: InlineTable = table.into_inline_table();
                inline.fmt();
                Item::Value(Value::InlineTable(inline))
            }
            Err(other) => other,
        };
    }
}
