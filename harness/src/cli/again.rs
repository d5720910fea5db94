//! Commands that a person can paste.

use std::env;

use super::args::EngineName;

/// The command line that starts this program with these words, quoted for a shell. The program is named as the user
/// named it: `onceproof` need not be on the path.
pub fn command_line<W: AsRef<str>>(words: &[W]) -> String {
    let program = env::args().next().unwrap_or_else(|| env!("CARGO_PKG_NAME").into());
    let words = words.iter().map(|word| quoted(word.as_ref()));
    std::iter::once(quoted(&program)).chain(words).collect::<Vec<_>>().join(" ")
}

/// The words that choose an engine, if it is not the default.
pub fn engine_words(engine: EngineName) -> Vec<String> {
    match engine {
        EngineName::Event => Vec::new(),
        EngineName::Turmoil => vec!["--engine".into(), "turmoil".into()],
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./:=,+@%".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted("out/lost-200.zap.keyed/plan.toml"), "out/lost-200.zap.keyed/plan.toml");
        assert_eq!(quoted("my plans/a.toml"), "'my plans/a.toml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("$(rm x)"), "'$(rm x)'");
    }
}
