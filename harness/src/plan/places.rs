//! Where in a file each value stands, so that a mistake can be shown there.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The way to a value: keys of tables and places in lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Place(Vec<Segment>);

#[derive(Debug, Clone)]
enum Segment {
    Key(String),
    Item(usize),
}

impl Place {
    /// The whole file.
    pub(super) fn root() -> Self {
        Self::default()
    }

    /// A key of this table.
    pub(super) fn key(&self, key: &str) -> Self {
        self.then(Segment::Key(key.into()))
    }

    /// An item of this list, from 0.
    pub(super) fn item(&self, index: usize) -> Self {
        self.then(Segment::Item(index))
    }

    fn then(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

/// The places of a file.
pub(super) struct Places<'s> {
    root: Option<Spanned<DeTable<'s>>>,
}

/// Where one key and its value stand.
struct Found {
    key: Range<usize>,
    value: Range<usize>,
}

impl<'s> Places<'s> {
    /// Of a file that is TOML; of any other, nothing is found.
    pub(super) fn of(source: &'s str) -> Self {
        Self {
            root: DeTable::parse(source).ok(),
        }
    }

    /// Where the value stands; if it is not there, the nearest table around it.
    pub(super) fn value(&self, place: &Place) -> Option<Range<usize>> {
        self.find(place).map(|found| found.value)
    }

    /// Where the key of the value stands; as [`Places::value`] if it is not there.
    pub(super) fn key(&self, place: &Place) -> Option<Range<usize>> {
        self.find(place).map(|found| found.key)
    }

    /// Whether the file itself says something there.
    pub(super) fn says(&self, place: &Place) -> bool {
        self.walk(place).1
    }

    fn find(&self, place: &Place) -> Option<Found> {
        self.walk(place).0
    }

    /// The nearest that is there, and whether it is the place itself.
    fn walk(&self, place: &Place) -> (Option<Found>, bool) {
        let Some(root) = &self.root else {
            return (None, false);
        };
        let mut found = None;
        let mut here = Here::Table(root.get_ref());
        for segment in &place.0 {
            let Some((next, place)) = here.step(segment) else {
                return (found, false);
            };
            (here, found) = (next, Some(place));
        }
        (found, true)
    }
}

/// Where a walk stands.
enum Here<'a, 's> {
    Table(&'a DeTable<'s>),
    Value(&'a DeValue<'s>),
}

impl<'a, 's> Here<'a, 's> {
    fn step(self, segment: &Segment) -> Option<(Self, Found)> {
        let (key, value) = match (self, segment) {
            (Here::Table(table) | Here::Value(DeValue::Table(table)), Segment::Key(key)) => {
                let (key, value) = table.get_key_value(key.as_str())?;
                (Some(key.span()), value)
            }
            (Here::Value(DeValue::Array(items)), Segment::Item(index)) => {
                (None, items.get(*index)?)
            }
            _ => return None,
        };
        let found = Found {
            key: key.unwrap_or(value.span()),
            value: value.span(),
        };
        Some((Here::Value(value.get_ref()), found))
    }
}
