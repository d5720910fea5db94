//! The allocator of our programs.
//!
//! A case makes and drops some thousand small things; with glibc's allocator a third of a short case went into giving
//! memory back to the kernel and asking for it again.

/// To be named `#[global_allocator]` by a program; a library leaves that choice to whoever links it.
pub type Allocator = mimalloc::MiMalloc;

/// The allocator.
pub const ALLOCATOR: Allocator = mimalloc::MiMalloc;
