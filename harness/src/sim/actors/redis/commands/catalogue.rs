//! Which commands there are.

use super::{Spec, hashes, keys, lists, scripts, sorted_sets, strings};

/// The command of this name, in lower case.
pub fn find(name: &[u8]) -> Option<&'static Spec> {
    let families = [strings::ALL, keys::ALL, sorted_sets::ALL, lists::ALL, hashes::ALL, scripts::ALL];
    families.into_iter().flatten().find(|spec| spec.name.as_bytes() == name)
}
