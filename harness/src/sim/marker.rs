//! How an effect is attributed to its operation: by a marker in the content, whatever was done with the key.

use std::collections::BTreeSet;

/// What bears no known marker.
pub const UNMARKED: &str = "unmarked";

/// A text with the marker of its operation: `… [cart-7]`.
#[must_use]
pub fn marked(text: &str, op: &str) -> String {
    format!("{text} [{op}]")
}

/// The mark of what a subscriber writes that is not the one that answers.
#[must_use]
pub fn of_subscriber(name: &str) -> String {
    format!("[@{name}] ")
}

/// The first operation whose marker the content bears, or `unmarked`. What bears a subscriber's mark too is that
/// subscriber's.
pub fn operation<'a>(ops: &'a BTreeSet<String>, content: &str) -> &'a str {
    // Split at each bracket, since a batch has as many operations as content.
    let mut names = content.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    let mut subscriber = None;
    let op = names.find_map(|name| {
        subscriber = subscriber.or(name.strip_prefix('@'));
        ops.get(name)
    });
    let of_subscriber = op.zip(subscriber).and_then(|(op, name)| ops.get(&format!("{op}@{name}")));
    of_subscriber.or(op).map_or(UNMARKED, String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_in_any_content() {
        let ops = BTreeSet::from(["cart-7".to_owned(), "cart-70".to_owned()]);
        for text in ["Seu carrinho espera", "a [b] c", "", "]["] {
            assert_eq!(operation(&ops, &format!("[{{\"x\":\"{}\"}}]", marked(text, "cart-70"))), "cart-70");
        }
        let of_team = BTreeSet::from(["cart-7".to_owned(), "cart-7@team".to_owned()]);
        for (subscriber, expected) in [("team", "cart-7@team"), ("sales", "cart-7")] {
            let text = of_subscriber(subscriber) + &marked("Seu carrinho", "cart-7");
            assert_eq!(operation(&of_team, &text), expected);
        }
        assert_eq!(operation(&ops, "no marker [cart-8]"), "unmarked");
        assert_eq!(operation(&ops, "cart-7] [cart-7"), "cart-7", "an end that never comes is no worse");
    }
}
