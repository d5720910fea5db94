//! The table that a run ends with: scenario × profile.

use comfy_table::{Cell, Color, ContentArrangement, LineStyle, Table, TableStyle};

/// One cell: what happened, and whether it was expected.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The scenario's name.
    pub scenario: String,
    /// The profile's name.
    pub profile: String,
    /// The provider's ability.
    pub ability: String,
    /// The verdict in words.
    pub verdict: String,
    /// Whether it is as expected.
    pub expected: bool,
    /// Whether the verdict is one that needs no second look.
    pub good: bool,
}

/// All cells, scenarios down and profiles across. `–` where a scenario is not for a profile.
#[must_use]
pub fn table(cells: &[Judged]) -> String {
    let scenarios = in_order(cells.iter().map(|cell| &cell.scenario));
    let profiles = in_order(cells.iter().map(|cell| &cell.profile));
    let mut table = Table::new();
    let line = LineStyle::none().fill('─').junction('─');
    let style = TableStyle::new().top_border(line).header_separator(line).bottom_border(line);
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    let heading = profiles.iter().map(Cell::new);
    table.set_header(std::iter::once(Cell::new("scenario")).chain(heading));
    for scenario in scenarios {
        let mut row = vec![Cell::new(scenario)];
        for profile in &profiles {
            let here = cells.iter().filter(|c| &c.scenario == scenario && &c.profile == *profile);
            row.push(cell(&here.collect::<Vec<_>>()));
        }
        table.add_row(row);
    }
    table.to_string()
}

fn in_order<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// One line where all abilities and variants agree, else one for each verdict of each ability.
fn cell(here: &[&Judged]) -> Cell {
    let Some(first) = here.first() else {
        return Cell::new("–");
    };
    let abilities = here.iter().map(|cell| cell.ability.len()).max().unwrap_or(0);
    let line = |cell: &&Judged| format!("{:<abilities$} {}", cell.ability, words(cell));
    let lines = match here.iter().all(|cell| cell.says_as(first)) {
        true => vec![words(first)],
        false => distinct(here).iter().map(line).collect(),
    };
    let color = match (here.iter().all(|cell| cell.expected), here.iter().all(|cell| cell.good)) {
        (false, _) => Color::Red,
        (true, true) => Color::Green,
        (true, false) => Color::Yellow,
    };
    Cell::new(lines.join("\n")).fg(color)
}

/// The cells without those that only repeat an earlier one of the same ability.
fn distinct<'a>(here: &[&'a Judged]) -> Vec<&'a Judged> {
    let mut distinct: Vec<&Judged> = Vec::new();
    for cell in here {
        if !distinct.iter().any(|earlier| earlier.ability == cell.ability && earlier.says_as(cell)) {
            distinct.push(cell);
        }
    }
    distinct
}

impl Judged {
    fn says_as(&self, other: &Self) -> bool {
        self.verdict == other.verdict && self.expected == other.expected
    }
}

fn words(cell: &Judged) -> String {
    let mark = if cell.expected { "" } else { "  ← not expected" };
    format!("{}{mark}", cell.verdict.replace(", ", "\n  and "))
}
