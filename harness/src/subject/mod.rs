//! What is under test.

mod bullmq;
pub mod express_pg;
mod hmac;
mod in_time;
mod keyed_reply;
pub mod meta_redis;
pub mod points;
mod redis_client;
mod reference;
mod reply;
mod resp;
mod seam;
mod structures;
pub mod zap;

pub use express_pg::ExpressPg;
pub use meta_redis::MetaRedis;
pub use reference::{Policies, ReferenceGateway};
pub use seam::Subject;
pub use structures::Structures;
pub use zap::Zap;
