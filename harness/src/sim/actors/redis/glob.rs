//! Patterns over keys, as Redis has them.

/// Whether `text` is one of those that `pattern` means: `*`, `?`, `[a-c]`, `[^a]`, and `\` before what is meant as
/// it stands.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    // Where the last star stands, and how much of the text it has swallowed so far.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, read));
            at += 1;
            continue;
        }
        match (read < text.len(), at < pattern.len()) {
            (false, false) => return true,
            (true, true) => {
                let (fits, next) = one(pattern, at, text[read]);
                if fits {
                    (at, read) = (next, read + 1);
                    continue;
                }
            }
            (false, true) => return false,
            (true, false) => {}
        }
        let Some((star_at, swallowed)) = star else { return false };
        star = Some((star_at, swallowed + 1));
        (at, read) = (star_at + 1, swallowed + 1);
    }
}

/// Whether the piece of the pattern at `at` takes this byte, and where the next piece begins.
fn one(pattern: &[u8], at: usize, byte: u8) -> (bool, usize) {
    match (pattern[at], pattern.get(at + 1)) {
        (b'?', _) => (true, at + 1),
        (b'\\', Some(meant)) => (*meant == byte, at + 2),
        (b'[', _) => class(pattern, at + 1, byte),
        (meant, _) => (meant == byte, at + 1),
    }
}

/// The same for a class in brackets, of which `at` is the first byte. It ends with the pattern if with nothing else.
fn class(pattern: &[u8], mut at: usize, byte: u8) -> (bool, usize) {
    let negated = pattern.get(at) == Some(&b'^');
    at += usize::from(negated);
    let mut found = false;
    while let Some(first) = pattern.get(at) {
        match (*first, pattern.get(at + 1), pattern.get(at + 2)) {
            (b']', _, _) => return (found != negated, at + 1),
            (b'\\', Some(meant), _) => {
                found |= *meant == byte;
                at += 2;
            }
            (low, Some(b'-'), Some(high)) => {
                found |= (low.min(*high)..=low.max(*high)).contains(&byte);
                at += 3;
            }
            (meant, _, _) => {
                found |= meant == byte;
                at += 1;
            }
        }
    }
    (found != negated, at)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_mean_what_they_mean_to_redis() {
        let all = [("*", ""), ("dedup:*", "dedup:1"), ("a?c", "abc"), ("a[b-d]e", "ace"), ("a[^b]c", "axc")];
        for (pattern, text) in all.into_iter().chain([("a\\*", "a*"), ("*a*b", "xaxxab"), ("[ab", "a")]) {
            assert!(matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
        let none = [("", "a"), ("a", ""), ("a*b", "ac"), ("a[^b]c", "abc"), ("a\\*", "ab"), ("a[", "b")];
        for (pattern, text) in none {
            assert!(!matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_ends() {
        assert!(!matches("*a".repeat(200).as_bytes(), "a".repeat(199).as_bytes()));
    }
}
