//! What is under test.

pub mod express_pg;
mod hmac;
pub mod meta_redis;
mod reference;
mod reply;
mod resp;
mod seam;

pub use express_pg::ExpressPg;
pub use meta_redis::MetaRedis;
pub use reference::{Policies, ReferenceGateway};
pub use seam::Subject;
