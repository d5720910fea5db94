//! What is under test.

mod bullmq;
pub mod meta_redis;
pub mod points;
mod redis_client;
mod reference;
mod seam;
pub mod zap;

pub use meta_redis::MetaRedis;
pub use reference::{Policies, ReferenceGateway};
pub use seam::Subject;
pub use zap::Zap;
