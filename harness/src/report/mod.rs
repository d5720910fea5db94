//! What people and programs read: lines, timelines, evidence, tables, lists, JSON.

pub mod evidence;
pub mod explain;
pub mod json;
pub mod lines;
pub mod list;
pub mod matrix;
pub mod mutants;
pub mod played;
pub mod table;
pub mod text;
pub mod timeline;
