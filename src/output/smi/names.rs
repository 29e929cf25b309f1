//! Which field a name means: one that is offered, one that only nvidia-smi has, or a slip of the pen.

use super::{Field, FieldError};
use crate::model::nearest;

/// Every field of `nvidia-smi --help-query-gpu` (driver 580), one a line, with its other names.
const KNOWN_GPU: &str = include_str!("names.txt");

pub(super) fn known_gpu() -> impl Iterator<Item = &'static str> {
    KNOWN_GPU.split_ascii_whitespace()
}

/// The fields of a list; `known` has the names that `option` of nvidia-smi takes beside those that are offered.
pub(super) fn find_all<I: Iterator<Item = &'static str>>(
    offered: &[Field],
    list: &str,
    known: impl Fn() -> I,
    option: &'static str,
) -> Result<Vec<Field>, FieldError> {
    if list.split(',').any(|wanted| wanted.trim().is_empty()) {
        return Err(FieldError::Missing { list: list.to_owned(), option });
    }
    list.split(',').map(|wanted| find(offered, wanted, &known, option)).collect()
}

fn find<I: Iterator<Item = &'static str>>(offered: &[Field], wanted: &str, known: impl Fn() -> I, option: &'static str) -> Result<Field, FieldError> {
    if let Some(field) = offered.iter().find(|field| field.names.contains(&wanted)) {
        return Ok(*field);
    }
    if known().any(|name| name == wanted) {
        return Err(FieldError::NotOffered { wanted: wanted.to_owned(), option });
    }
    let names = offered.iter().flat_map(|field| field.names).copied().chain(known());
    let wanted = wanted.to_owned();
    Err(match nearest(&wanted, names) {
        Some(nearest) => FieldError::Misspelt { wanted, nearest },
        None => FieldError::Unknown { wanted, option },
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, Query, apps, fields};
    use super::*;

    const DIALECT: Dialect = Dialect { header: true, units: true };

    fn refusal(list: &str) -> String {
        Query::gpus(list, DIALECT).err().expect("refused").to_string()
    }

    #[test]
    fn every_name_of_nvidia_smi_is_offered_or_known() {
        for name in known_gpu() {
            match Query::gpus(name, DIALECT) {
                Ok(query) => assert_eq!(query.fields.len(), 1),
                Err(error) => assert!(matches!(error, FieldError::NotOffered { .. }), "{name}: {error}"),
            }
        }
    }

    #[test]
    fn what_is_offered_is_nvidia_smis_with_all_its_names() {
        for field in fields::GPU {
            let line = KNOWN_GPU.lines().find(|line| line.split(' ').next() == Some(field.names[0]));
            assert_eq!(line, Some(field.names.join(" ").as_str()));
        }
        let names: Vec<_> = apps::PROCESS.iter().map(|field| field.names[0]).collect();
        assert_eq!(names, ["timestamp", "gpu_name", "gpu_bus_id", "gpu_serial", "gpu_uuid", "pid", "process_name", "used_gpu_memory"]);
    }

    #[test]
    fn a_slip_of_the_pen_is_told_what_was_meant() {
        assert_eq!(refusal("memory.usde"), "unknown field \"memory.usde\": did you mean memory.used?");
        assert_eq!(refusal("index,utilisation.gpu"), "unknown field \"utilisation.gpu\": did you mean utilization.gpu?");
        // nvidia-smi refuses a space after the comma, too.
        assert_eq!(refusal("memory.used, memory.free"), "unknown field \" memory.free\": did you mean memory.free?");
        assert_eq!(refusal("INDEX"), "unknown field \"INDEX\": did you mean index?");
        assert_eq!(refusal("index,how_full"), "unknown field \"how_full\": vramtop --help-query-gpu lists the fields");
        assert_eq!(
            refusal("fabric.state"),
            "the field \"fabric.state\" is nvidia-smi's, but vramtop does not offer it. See nvidia-smi --query-gpu=fabric.state"
        );
    }

    #[test]
    fn a_list_with_a_hole_says_so() {
        for list in ["", " ", ",", "index,", ",index", "index,,name"] {
            assert_eq!(refusal(list), format!("a field is missing in --query-gpu={list}: vramtop --help-query-gpu lists them"));
        }
    }

    #[test]
    fn a_question_is_asked_once() {
        let query = Query::gpus("clocks_event_reasons.active,clocks_throttle_reasons.gpu_idle,memory.used", DIALECT).expect("offered");
        assert_eq!(query.asks(), [crate::model::Ask::Reasons]);
    }
}
