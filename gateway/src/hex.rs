//! Bytes as lower-case hexadecimal text: digests, claim ids, references.

use std::fmt::Write;

use crate::world::World;

/// `bytes` in hexadecimal.
pub(crate) fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// 128 random bits: enough that no two draws are ever the same.
pub(crate) fn random_id(world: &dyn World) -> String {
    let mut bytes = [0; 16];
    world.fill_random(&mut bytes);
    encode(&bytes)
}
