//! What is under test.

mod reference;
mod seam;

pub use reference::{Policies, ReferenceGateway};
pub use seam::Subject;
