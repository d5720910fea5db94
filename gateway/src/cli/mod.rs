//! Commands and exit codes: 0 is well, 1 failed while it ran, 64 is a mistake in the arguments or in the configuration.

mod check_config;
mod config;
mod entry;
mod secret;
mod serve;
mod stub;

use entry::Failure;
pub use entry::run;
