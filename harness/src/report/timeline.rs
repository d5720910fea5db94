//! A run as a picture: time goes down, each host has a lane, each event one glyph in it.

use std::fmt::Write as _;

use super::lines::{alike, line, printable, shared_line, time};
use crate::{
    history::{Entry, Event, History},
    sim::stage::HARNESS,
};

/// What the glyphs mean. All are of single width, so that the lanes stay straight in every terminal.
pub const LEGEND: &str = "→ sends   ← hears   × hears nothing, gives up   ■ store   ★ the message goes out   \
◆ provider answers   ! fault   ▲ starts again   ? asks   = operator settles";

/// An excerpt has so many rows at most, give or take those near its evidence.
const EXCERPT_ROWS: usize = 100;
/// So many rows before and after a piece of evidence are part of an excerpt.
const NEAR: usize = 8;

/// The whole history.
#[must_use]
pub fn timeline(history: &History) -> String {
    Picture::of(history).text(|_, _| true)
}

/// The whole history if it is short, else the rows near the evidence (indexes of entries) and its first ones.
#[must_use]
pub fn excerpt(history: &History, evidence: &[usize]) -> String {
    let picture = Picture::of(history);
    if picture.rows.len() <= EXCERPT_ROWS {
        return picture.text(|_, _| true);
    }
    let holds = |row: &Row<'_>| evidence.iter().any(|index| row.indexes.contains(index));
    let near: Vec<usize> = (0..picture.rows.len()).filter(|row| holds(&picture.rows[*row])).collect();
    picture.text(|number, _| number < NEAR || near.iter().any(|row| row.abs_diff(number) <= NEAR))
}

/// Consecutive entries that say the same, and so share a row.
struct Row<'a> {
    entries: Vec<&'a Entry>,
    indexes: Vec<usize>,
}

/// The rows of a history and what its layout depends on.
struct Picture<'a> {
    lanes: Vec<&'a str>,
    time_width: usize,
    rows: Vec<Row<'a>>,
}

impl<'a> Picture<'a> {
    fn of(history: &'a History) -> Self {
        let rows = rows(history);
        let times = rows.iter().filter_map(|row| row.entries.first()).map(|entry| time(entry.at_ms).len());
        Self { lanes: lanes(history), time_width: times.max().unwrap_or(0), rows }
    }

    /// The chosen rows; where some were left out, it says how many.
    fn text(&self, chosen: impl Fn(usize, &Row<'_>) -> bool) -> String {
        let mut text = self.heading();
        let mut left_out = 0;
        for (number, row) in self.rows.iter().enumerate() {
            if chosen(number, row) {
                gap(&mut text, &mut left_out);
                self.write(&mut text, row);
            } else {
                left_out += 1;
            }
        }
        gap(&mut text, &mut left_out);
        text
    }

    fn heading(&self) -> String {
        let mut text = format!("{:width$}", "", width = self.time_width);
        for lane in &self.lanes {
            let _ = write!(text, "  {}", printable(lane));
        }
        text.push('\n');
        text
    }

    fn write(&self, text: &mut String, row: &Row<'_>) {
        let Some(first) = row.entries.first() else {
            return;
        };
        let _ = write!(text, "{:>width$}", time(first.at_ms), width = self.time_width);
        for lane in &self.lanes {
            let width = printable(lane).chars().count();
            let _ = write!(text, "  {:<width$}", row.glyph(lane));
        }
        let _ = writeln!(text, "  {}", shared_line(&row.entries).unwrap_or_default());
    }
}

impl Row<'_> {
    /// What stands in a host's lane.
    fn glyph(&self, lane: &str) -> char {
        let here = self.entries.iter().find(|entry| entry.host == lane);
        let struck = |entry: &&Entry| touched(&entry.event).iter().any(|host| host == lane);
        match here {
            Some(entry) => glyph(&entry.event),
            None if self.entries.iter().any(struck) => '!',
            None => '│',
        }
    }
}

fn gap(text: &mut String, left_out: &mut usize) {
    if *left_out > 0 {
        let _ = writeln!(text, "  ⋮ {left_out} rows far from the evidence are left out");
    }
    *left_out = 0;
}

fn rows(history: &History) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (index, entry) in history.indexed().filter(|(_, entry)| line(entry).is_some()) {
        match rows.last_mut() {
            Some(row) if row.entries.first().is_some_and(|first| alike(&first.event, &entry.event)) => {
                row.entries.push(entry);
                row.indexes.push(index);
            }
            _ => rows.push(Row { entries: vec![entry], indexes: vec![index] }),
        }
    }
    rows
}

/// Hosts from left to right, in the order of a message's way.
fn lanes(history: &History) -> Vec<&str> {
    let mut hosts: Vec<&str> = Vec::new();
    for entry in &history.entries {
        if entry.host != HARNESS && !hosts.contains(&entry.host.as_str()) {
            hosts.push(&entry.host);
        }
    }
    hosts.sort_by_key(|host| (place(host), *host));
    hosts
}

fn place(host: &str) -> usize {
    match host {
        "producer" => 0,
        "database" => 2,
        "whatsapp" => 3,
        _ => 1,
    }
}

fn touched(event: &Event) -> &[String] {
    match event {
        Event::Fault { hosts, .. } => hosts,
        _ => &[],
    }
}

fn glyph(event: &Event) -> char {
    match event {
        Event::Request { .. } | Event::Delivery { .. } | Event::WorkerSend { .. } => '→',
        Event::Response { .. } | Event::DeliveryAnswer { .. } => '←',
        Event::NoResponse { .. } | Event::GaveUp { .. } | Event::DeadLetter { .. } => '×',
        Event::Effect { .. } => '★',
        Event::ProviderAnswer { .. } => '◆',
        Event::Store { .. } | Event::Received { .. } | Event::Job { .. } => '■',
        Event::Fault { .. } => '!',
        Event::Start { .. } => '▲',
        Event::LookUp { .. } | Event::Query { .. } => '?',
        Event::Resolve { .. } | Event::Redrive { .. } => '=',
        _ => '·',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{history::build::Build, report::lines::tests::rush};

    fn lines(text: &str) -> Vec<&str> {
        text.lines().map(str::trim_end).collect()
    }

    #[test]
    fn what_says_the_same_is_one_row_and_the_order_stays() {
        let sent = Build::new().request("a", 1, "k1").request("a", 2, "k1").request("a", 3, "k1");
        let history = rush(sent.effect("a", "m1").ok(1, "m1").ok(3, "m1").status(2, 409));
        assert_eq!(
            lines(&timeline(&history)),
            [
                "         producer  whatsapp",
                "+0.000s  →         │         sends a to gateway-1 (calls 1–3, key k1)",
                "+0.000s  │         ★         EFFECT 1 of a: the message goes out as m1",
                "+0.000s  ←         │         hears of calls 1, 3: 200 m1",
                "+0.000s  ←         │         hears of call 2: 409",
            ]
        );
    }

    #[test]
    fn a_fault_is_marked_in_the_lane_of_each_host_that_it_touches() {
        let history = Build::new().start("gateway-1").start("gateway-2").fault(1, &["gateway-2"]).history();
        let text = timeline(&history);
        let row = text.lines().last().expect("a row");
        assert!(row.starts_with("+0.000s  │          !"), "{row}");
    }

    #[test]
    fn every_glyph_is_in_the_legend() {
        for glyph in ['→', '←', '×', '■', '★', '◆', '!', '▲', '?', '='] {
            assert!(LEGEND.contains(glyph), "{glyph}");
        }
    }

    #[test]
    fn of_a_long_history_the_evidence_is_shown() {
        let mut build = Build::new();
        for call in 1..=300 {
            build = build.request("a", call, &format!("k{call}"));
        }
        let history = rush(build);
        let text = excerpt(&history, &[200]);
        assert!(text.contains("(call 201, key k201)"), "{text}");
        assert!(!text.contains("(call 100, key k100)"), "{text}");
        assert!(text.contains("⋮ 184 rows far from the evidence are left out"), "{text}");
        assert!(text.ends_with("⋮ 91 rows far from the evidence are left out\n"), "{text}");
        assert_eq!(timeline(&history).lines().count(), 301);
    }
}
