//! What is under test.

pub mod meta_redis;
mod reference;
mod seam;

pub use meta_redis::MetaRedis;
pub use reference::{Policies, ReferenceGateway};
pub use seam::Subject;
