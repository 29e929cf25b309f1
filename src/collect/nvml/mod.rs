//! The NVIDIA driver, read through its management library (NVML): who is there, what it holds, who holds it.
//!
//! Every answer is a [`Reading`](crate::model::Reading): nothing here panics on, or prints, what a driver says. It refuses to hold
//! history, clocks of samples and anything about the host's processes; what is kept is only what was learned about each device
//! (which version of a call works, what is not supported) and the buffers of its lists.

mod answer;
mod call;
mod checkup;
mod device;
mod driver;
mod library;
mod line;
mod lists;
mod raw;
mod telemetry;
mod words;

pub use checkup::Check;
pub use device::Device;
pub use driver::{Driver, Versions};
pub use library::{OpenError, candidates, module_version};
pub use line::Condition;
pub use lists::Listed;
