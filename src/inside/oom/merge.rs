//! The figures of one text from several of its lines: whether they go together, and put together. It does not judge them.

use super::{Amount, Figures, Hints};

macro_rules! each_amount {
    ($each:ident) => {
        $each!(tried, capacity, free, this_process, allowed, allocated, private_pools, reserved_unallocated, reserved_total, planned)
    };
}

/// Whether two lines cannot be of one text.
pub(super) fn conflicts(a: &Figures, b: &Figures) -> bool {
    let differ = |a: Option<Amount>, b: Option<Amount>| a.zip(b).is_some_and(|(a, b)| !a.agrees(b));
    macro_rules! any { ($($field:ident),*) => { $(differ(a.$field, b.$field))||* } }
    each_amount!(any) || a.device.zip(b.device).is_some_and(|(a, b)| a != b)
}

/// How many figures there are.
pub(super) fn amounts(figures: &Figures) -> usize {
    macro_rules! count { ($($field:ident),*) => { [$(figures.$field.is_some()),*].into_iter().filter(|is| *is).count() } }
    each_amount!(count)
}

/// Fills what is absent; of two precisions of one figure the sharper stays.
pub(super) fn merge(into: &mut Figures, from: Figures) {
    macro_rules! fill { ($($field:ident),*) => { $(
        into.$field = match (into.$field, from.$field) {
            (Some(a), Some(b)) if a.agrees(b) => Some(a.sharper(b)),
            (a, b) => a.or(b),
        };
    )* } }
    each_amount!(fill);
    into.device = into.device.or(from.device);
    for (pid, amount) in from.others {
        if into.others.len() < 256 && into.others.iter().all(|(known, _)| *known != pid) {
            into.others.push((pid, amount));
        }
    }
}

/// What is absent is taken from the other.
pub(super) fn merge_hints(into: &mut Hints, from: Hints) {
    into.advises_expandable |= from.advises_expandable;
    into.advises_split |= from.advises_split;
    into.slice = into.slice.take().or(from.slice);
    into.fraction = into.fraction.take().or(from.fraction);
    into.tokens = into.tokens.or(from.tokens);
    into.short_mib = into.short_mib.or(from.short_mib);
    into.free_here = into.free_here.or(from.free_here);
    into.used = into.used.or(from.used);
    into.foreign = into.foreign.or(from.foreign);
    into.code = into.code.or(from.code);
}
