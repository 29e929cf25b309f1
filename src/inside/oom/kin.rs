//! Which programs' words can belong to one text, and which name tells the most. It looks at no figure.

use super::Producer;
use super::family::Sign;

/// How much a producer's name tells: the generic ones give way.
pub(super) const fn rank_of(producer: Producer) -> u8 {
    match producer {
        Producer::Cuda => 0,
        Producer::Torch | Producer::LlamaCpp | Producer::Xla => 1,
        _ => 2,
    }
}

/// Whether a bare code is another layer's word for the failure before it.
pub(super) fn is_echo(sign: Sign, producer: Producer, before: Producer) -> bool {
    let generic = matches!(producer, Producer::Cuda | Producer::Torch);
    sign == Sign::Bare && generic && !matches!(before, Producer::Host | Producer::Linux | Producer::Nvrm | Producer::Ray)
}

/// Whether clauses of one can belong to a text of the other.
pub(super) fn related(a: Producer, b: Producer) -> bool {
    use Producer::{ComfyUi, Cuda, Hami, Jax, LlamaCpp, Ollama, TensorFlow, Torch, Xla};
    let kin = |a, b| {
        matches!((a, b), (Torch, ComfyUi | Hami) | (LlamaCpp, Ollama) | (Jax, Xla | TensorFlow) | (Xla, TensorFlow))
            || a == Cuda && !matches!(b, Producer::Nvrm | Producer::Linux | Producer::Host | Producer::Ray)
    };
    a == b || kin(a, b) || kin(b, a)
}
