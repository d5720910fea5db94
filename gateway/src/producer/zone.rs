//! A time zone, by its IANA name, from a database that is compiled in.

use std::fmt;

use jiff::{
    Timestamp,
    tz::{TimeZone, TimeZoneDatabase},
};
use serde::{Deserialize, Deserializer, de};

/// Where a day begins and ends.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// The zone of this IANA name, such as `America/Sao_Paulo`, or `UTC`.
    ///
    /// # Errors
    /// With the name, where there is none such.
    pub fn named(name: &str) -> Result<Self, String> {
        // Never the host's own database: two producers of one message may have two releases of it.
        let found = TimeZoneDatabase::bundled().get(name);
        let zone = found.map_err(|_| format!("no time zone is called `{name}`"))?;
        Ok(Self { name: name.to_owned(), zone })
    }

    /// The day of a wall-clock time in milliseconds, such as `2026-01-31`; none past the year 9999.
    pub(super) fn day(&self, at_ms: i64) -> Option<String> {
        self.written(at_ms, "%Y-%m-%d")
    }

    /// Its hour, with the offset from UTC, such as `2026-01-31T23-03:00`: where clocks are set back, one hour comes twice.
    pub(super) fn hour(&self, at_ms: i64) -> Option<String> {
        self.written(at_ms, "%Y-%m-%dT%H%:z")
    }

    fn written(&self, at_ms: i64, format: &str) -> Option<String> {
        let at = Timestamp::from_millisecond(at_ms).ok()?;
        Some(at.to_zoned_datetime(self.zone.clone()).strftime(format).to_string())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::named(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: &str) -> i64 {
        time.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn a_day_begins_at_midnight_of_its_zone() {
        let (utc, brazil) = (Zone::named("UTC").unwrap(), Zone::named("America/Sao_Paulo").unwrap());
        let before = ms("2026-01-01T02:59:59.999Z");
        assert_eq!(brazil.day(before).unwrap(), "2025-12-31");
        assert_eq!(brazil.day(before + 1).unwrap(), "2026-01-01");
        assert_eq!(utc.day(before).unwrap(), "2026-01-01");
        assert_eq!(brazil.hour(before).unwrap(), "2025-12-31T23-03:00");
    }

    #[test]
    fn the_hour_that_comes_twice_is_two_hours() {
        let brazil = Zone::named("America/Sao_Paulo").unwrap();
        // Summer time ended on 18 February 2018 at midnight.
        let first = brazil.hour(ms("2018-02-18T01:30:00Z")).unwrap();
        let second = brazil.hour(ms("2018-02-18T02:30:00Z")).unwrap();
        assert_eq!([first.as_str(), &second], ["2018-02-17T23-02:00", "2018-02-17T23-03:00"]);
    }

    #[test]
    fn what_is_no_zone_and_no_time_is_said() {
        assert!(Zone::named("America/Atlantis").unwrap_err().contains("America/Atlantis"));
        assert_eq!(Zone::named("UTC").unwrap().day(i64::MAX), None);
    }
}
