//! What a fold has found so far.

use super::invariant::Ruling;

/// Collects what an invariant finds and makes the ruling of it: the worst counts, and of these the first.
#[derive(Default)]
pub(super) struct Findings {
    relevant: bool,
    violated: Vec<(String, Vec<usize>)>,
    waived: Vec<(&'static str, String, Vec<usize>)>,
}

impl Findings {
    /// Something that the promise speaks of was observed.
    pub(super) fn relevant(&mut self) {
        self.relevant = true;
    }

    /// The promise was broken. Evidence may come in any order.
    pub(super) fn violate(&mut self, why: String, evidence: impl IntoIterator<Item = usize>) {
        self.violated.push((why, ordered(evidence)));
    }

    /// The promise was broken, but a waiver holds.
    pub(super) fn waive(
        &mut self,
        waiver: &'static str,
        why: String,
        evidence: impl IntoIterator<Item = usize>,
    ) {
        self.waived.push((waiver, why, ordered(evidence)));
    }

    /// Waives what a waiver holds for, else finds a breach.
    pub(super) fn breach(
        &mut self,
        waiver: Option<&'static str>,
        why: String,
        evidence: impl IntoIterator<Item = usize>,
    ) {
        match waiver {
            Some(waiver) => self.waive(waiver, why, evidence),
            None => self.violate(why, evidence),
        }
    }

    /// The ruling.
    pub(super) fn ruling(self) -> Ruling {
        let more = |found: usize| match found {
            0 | 1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        let (breaches, waivers) = (more(self.violated.len()), more(self.waived.len()));
        if let Some((why, evidence)) = self.violated.into_iter().next() {
            let why = why + &breaches;
            return Ruling::Violated { why, evidence };
        }
        if let Some((waiver, why, evidence)) = self.waived.into_iter().next() {
            let why = why + &waivers;
            return Ruling::Waived { waiver, why, evidence };
        }
        if self.relevant { Ruling::Kept } else { Ruling::Inconclusive }
    }
}

fn ordered(evidence: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut evidence: Vec<usize> = evidence.into_iter().collect();
    evidence.sort_unstable();
    evidence.dedup();
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_observed_is_inconclusive_and_something_is_kept() {
        let mut findings = Findings::default();
        assert_eq!(Findings::default().ruling(), Ruling::Inconclusive);
        findings.relevant();
        assert_eq!(findings.ruling(), Ruling::Kept);
    }

    #[test]
    fn a_breach_outweighs_a_waiver_and_the_first_breach_speaks() {
        let mut findings = Findings::default();
        findings.waive("no-key", "w".into(), [1]);
        findings.violate("a".into(), [9, 4, 4]);
        findings.violate("b".into(), [5]);
        let (why, evidence) = ("a (and 1 more)".into(), vec![4, 9]);
        assert_eq!(findings.ruling(), Ruling::Violated { why, evidence });
    }
}
