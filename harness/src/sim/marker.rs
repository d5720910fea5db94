//! How an effect is attributed to its operation: by a marker in the content, whatever was done with the key.

use std::collections::BTreeSet;

/// What bears no known marker.
pub const UNMARKED: &str = "unmarked";

/// A text with the marker of its operation: `… [cart-7]`.
#[must_use]
pub fn marked(text: &str, op: &str) -> String {
    format!("{text} [{op}]")
}

/// The first operation whose marker the content bears, or `unmarked`.
pub fn operation<'a>(ops: &'a BTreeSet<String>, content: &str) -> &'a str {
    // Split at each bracket, since a batch has as many operations as content.
    let mut candidates = content.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    candidates.find_map(|name| ops.get(name)).map_or(UNMARKED, String::as_str)
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
        assert_eq!(operation(&ops, "no marker [cart-8]"), "unmarked");
        assert_eq!(operation(&ops, "cart-7] [cart-7"), "cart-7", "an end that never comes is no worse");
    }
}
