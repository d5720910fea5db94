//! The host `producer`: producers, who send, and the operator, who settles what nobody else can.

mod answer;
mod request;
mod steps;
mod tenants;

pub use steps::{HOST, Producer};
pub use tenants::{ACCOUNT_TOKEN, ADMIN_TOKEN, TENANTS, Tenant, tenant};
