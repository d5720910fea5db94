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
        self.target(place).is_some()
    }

    /// The keys of a table, in the order of the alphabet; none if there is no table.
    pub(super) fn keys(&self, place: &Place) -> Vec<&str> {
        let table = self.target(place).and_then(Here::table);
        table
            .into_iter()
            .flat_map(|table| table.keys())
            .map(|key| key.get_ref().as_ref())
            .collect()
    }

    /// Whether a table stands there.
    pub(super) fn is_table(&self, place: &Place) -> bool {
        self.target(place).and_then(Here::table).is_some()
    }

    /// The value itself.
    fn target(&self, place: &Place) -> Option<Here<'_, 's>> {
        let root = Here::Table(self.root.as_ref()?.get_ref());
        place
            .0
            .iter()
            .try_fold(root, |here, segment| Some(here.step(segment)?.0))
    }

    /// The nearest place that is there, on the way to this one.
    fn find(&self, place: &Place) -> Option<Found> {
        let mut here = Here::Table(self.root.as_ref()?.get_ref());
        let mut found = None;
        for segment in &place.0 {
            let Some((next, place)) = here.step(segment) else {
                break;
            };
            (here, found) = (next, Some(place));
        }
        found
    }
}

/// Where a walk stands.
enum Here<'a, 's> {
    Table(&'a DeTable<'s>),
    Value(&'a DeValue<'s>),
}

impl<'a, 's> Here<'a, 's> {
    fn table(self) -> Option<&'a DeTable<'s>> {
        match self {
            Here::Table(table) | Here::Value(DeValue::Table(table)) => Some(table),
            Here::Value(_) => None,
        }
    }

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
