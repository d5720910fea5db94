//! The host `producer`: producers, who send, and the operator, who settles what nobody else can.

mod answer;
mod book;
mod line;
mod orders;
mod request;
mod shop;
mod steps;
mod tenants;

pub use shop::Shop;
pub use steps::Producer;
pub use tenants::{ACCOUNT_TOKEN, ADMIN_TOKEN, TENANTS, Tenant, tenant};
