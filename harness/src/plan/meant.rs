//! What was probably meant by a name that nobody knows.

/// The help for a name that is none of those known: the nearest of them, if one is near, and all of them.
pub(super) fn one_of<S: AsRef<str>>(name: &str, known: &[S]) -> String {
    let all = list(known);
    match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`? known here: {all}"),
        None if known.is_empty() => "nothing can stand here".into(),
        None => format!("known here: {all}"),
    }
}

/// The known names, for a person to read.
pub(super) fn list<S: AsRef<str>>(known: &[S]) -> String {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    quoted.join(", ")
}

/// The known name that is a slip of the finger away.
pub(crate) fn nearest<'k, S: AsRef<str>>(name: &str, known: &'k [S]) -> Option<&'k str> {
    // A name of any length may be written; what is far too long is near to nothing.
    if name.len() > 64 {
        return None;
    }
    known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(name, known.as_ref()), known.as_ref()))
        .filter(|(distance, known)| *distance <= known.len().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}
