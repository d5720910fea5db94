//! The digest of a run: one hash over every packet, store statement, random draw and event.

use onceproof_gateway::hex;
use sha2::{Digest as _, Sha256};

/// What kind of thing goes into the digest next, so that no two sequences can run together.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A packet as it leaves its host.
    Packet = 1,
    /// A store statement and its reply.
    Statement = 2,
    /// A draw from a source of chance.
    Draw = 3,
    /// An event of the history.
    Event = 4,
}

/// A running hash. Pieces are gathered first, since hashing many small ones is dear.
#[derive(Debug, Default)]
pub struct RunDigest {
    hasher: Sha256,
    gathered: Vec<u8>,
}

const GATHER_BYTES: usize = 16 * 1024;

impl RunDigest {
    /// Adds one thing, length first.
    pub fn add(&mut self, kind: Kind, pieces: &[&[u8]]) {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        self.gathered.push(kind as u8);
        self.gathered.extend_from_slice(&(length as u64).to_le_bytes());
        for piece in pieces {
            self.gathered.extend_from_slice(piece);
        }
        if self.gathered.len() >= GATHER_BYTES {
            self.hasher.update(&self.gathered);
            self.gathered.clear();
        }
    }

    /// The digest of all that was added, in hexadecimal.
    pub fn finish(mut self) -> String {
        self.hasher.update(&self.gathered);
        hex::encode(&self.hasher.finalize())
    }
}
