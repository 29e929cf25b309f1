//! What changes the world. It is asked for by name, checks again what it was told, and says why it refuses.

mod target;

pub use target::Target;
