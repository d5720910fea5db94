//! What people read: lines, timelines, evidence, tables.

pub mod evidence;
pub mod lines;
pub mod table;
pub mod timeline;
