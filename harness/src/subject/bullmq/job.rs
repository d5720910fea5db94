//! A job.

use serde_json::Value;

use crate::subject::resp::Reply;

/// A job in a worker's hands, or one that has failed.
#[derive(Debug, Clone)]
pub struct Job {
    /// By which it is known in its queue.
    pub id: String,
    /// What it is about.
    pub data: Value,
    /// How many attempts have failed.
    pub attempts_made: u32,
}

impl Job {
    pub(super) fn read(replies: &[Reply]) -> Option<Self> {
        let [id, data, made] = replies else { return None };
        let data = data.text().and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default();
        let attempts_made = made.text().and_then(|made| made.parse().ok()).unwrap_or(0);
        Some(Self { id: id.text()?.into(), data, attempts_made })
    }
}
