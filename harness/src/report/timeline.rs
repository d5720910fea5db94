//! A run as a picture: time goes down, each host has a lane, each event one glyph in it.

use std::fmt::Write as _;

use super::lines::{line, time};
use crate::{
    history::{Entry, Event, History},
    sim::stage::HARNESS,
};

/// The whole history.
#[must_use]
pub fn timeline(history: &History) -> String {
    let lanes = lanes(history);
    let mut text = heading(&lanes);
    for entry in &history.entries {
        if let Some(line) = line(entry) {
            let _ = writeln!(text, "{}", row(entry, &lanes, &line));
        }
    }
    text
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

const TIME_WIDTH: usize = 16;

fn heading(lanes: &[&str]) -> String {
    let mut text = format!("{:TIME_WIDTH$}", "");
    for lane in lanes {
        let _ = write!(text, "  {lane}");
    }
    text.push('\n');
    text
}

fn row(entry: &Entry, lanes: &[&str], line: &str) -> String {
    let mut text = format!("{:>TIME_WIDTH$}", time(entry.at_ms));
    let struck = touched(&entry.event);
    for lane in lanes {
        let glyph = if *lane == entry.host {
            glyph(&entry.event)
        } else if struck.iter().any(|host| host == lane) {
            '⚡'
        } else {
            '│'
        };
        let _ = write!(text, "  {glyph:<width$}", width = lane.len());
    }
    format!("{text}  {line}")
}

fn touched(event: &Event) -> &[String] {
    match event {
        Event::Fault { hosts, .. } => hosts,
        _ => &[],
    }
}

fn glyph(event: &Event) -> char {
    match event {
        Event::Request { .. } => '→',
        Event::Response { .. } => '←',
        Event::NoResponse { .. } | Event::GaveUp { .. } => '×',
        Event::Effect { .. } => '★',
        Event::ProviderAnswer { .. } => '◆',
        Event::Store { .. } => '■',
        Event::Start { .. } => '▲',
        _ => '·',
    }
}
