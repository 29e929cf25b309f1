//! What can be done about too little memory: one table of remedies, each with when it helps, when it doesn't, what it costs and where
//! that is documented. The choice for one text is made in `choose`, that for an allocator's account in `account`; nothing here knows how
//! it is shown.

mod account;
mod beyond;
mod card;
mod choose;
mod table;
mod wont;

pub use account::{Account, advise_account};
pub use card::{are_siblings, holds, neighbour};
pub use choose::{Advice, Step, advise, said};
pub use table::{REMEDIES, Remedy, RemedyFacts};
