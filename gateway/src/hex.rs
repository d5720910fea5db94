//! Bytes as lower-case hexadecimal text: digests, claim ids, references.

use crate::world::World;

/// `bytes` in hexadecimal.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// 128 random bits: enough that no two draws are ever the same.
pub(crate) fn random_id(world: &dyn World) -> String {
    let mut bytes = [0; 16];
    world.fill_random(&mut bytes);
    encode(&bytes)
}
