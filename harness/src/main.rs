//! The command line of onceproof.

fn main() {}
