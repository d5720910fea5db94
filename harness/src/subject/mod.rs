//! What is under test.

mod bullmq;
pub mod express_pg;
mod hmac;
pub mod meta_redis;
pub mod points;
mod redis_client;
mod reference;
mod reply;
mod resp;
mod seam;
pub mod zap;

pub use express_pg::ExpressPg;
pub use meta_redis::MetaRedis;
pub use reference::{Policies, ReferenceGateway};
pub use seam::Subject;
pub use zap::Zap;
