//! What a driver's refusal means: the one place that turns NVML's codes into words and reasons for absence.

use std::borrow::Cow;

use nvml_wrapper::error::NvmlError;
use nvml_wrapper_sys::bindings::{
    nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH as VERSION_MISMATCH, nvmlReturn_enum_NVML_ERROR_DEPRECATED as DEPRECATED,
    nvmlReturn_enum_NVML_ERROR_GPU_NOT_FOUND as GPU_NOT_FOUND, nvmlReturn_enum_NVML_ERROR_NOT_READY as NOT_READY,
};

use super::line::Condition;
use crate::model::{Absence, Fault, GpuState};

/// The driver gave a figure that no such device can have.
pub(super) const OUT_OF_RANGE: &str = "out of range";
/// A process list was longer than the buffer at every try.
pub(super) const KEPT_GROWING: &str = "the list kept growing";
/// A process figure above the device's total.
pub(super) const IMPLAUSIBLE: &str = "implausible";

/// The driver's own word for a refusal (`nvmlErrorString`, but for `Unknown`).
pub(super) fn word(error: &NvmlError) -> Cow<'static, str> {
    Cow::Borrowed(match error {
        NvmlError::Uninitialized => "Uninitialized",
        NvmlError::InvalidArg => "Invalid Argument",
        NvmlError::NotSupported => "Not Supported",
        NvmlError::NoPermission => Fault::NOT_PERMITTED,
        NvmlError::NotFound => "Not Found",
        NvmlError::InsufficientSize(_) => "Insufficient Size",
        NvmlError::InsufficientPower => "Insufficient External Power",
        NvmlError::DriverNotLoaded => "Driver Not Loaded",
        NvmlError::Timeout => "Timeout",
        NvmlError::IrqIssue => "Interrupt Request Issue",
        NvmlError::LibraryNotFound => "NVML Shared Library Not Found",
        NvmlError::FunctionNotFound | NvmlError::FailedToLoadSymbol(_) => "Function Not Found",
        NvmlError::CorruptedInfoROM => "Corrupted infoROM",
        NvmlError::GpuLost => GpuState::LOST,
        NvmlError::ResetRequired => "GPU requires reset",
        NvmlError::OperatingSystem => "The operating system has blocked the request",
        NvmlError::LibRmVersionMismatch => "Driver/library version mismatch",
        NvmlError::InUse => "In use by another client",
        NvmlError::InsufficientMemory => "Insufficient Memory",
        NvmlError::NoData => "No data",
        NvmlError::VgpuEccNotSupported => "vGPU ECC not supported",
        NvmlError::Utf8Error(_) | NvmlError::NulError(_) => "text that is not UTF-8",
        NvmlError::Unknown => "Unknown",
        NvmlError::UnexpectedVariant(VERSION_MISMATCH) => "Argument Version Mismatch",
        NvmlError::UnexpectedVariant(DEPRECATED) => "Deprecated",
        NvmlError::UnexpectedVariant(NOT_READY) => "Not Ready",
        NvmlError::UnexpectedVariant(GPU_NOT_FOUND) => "GPU not found",
        NvmlError::UnexpectedVariant(code) => return Cow::Owned(format!("code {code}")),
        other => return Cow::Owned(other.to_string()),
    })
}

/// Why there is no reading. On a MIG instance an invalid argument means that the call knows whole GPUs only.
pub(super) fn absence(error: &NvmlError, on_instance: bool) -> Absence {
    match error {
        NvmlError::NoPermission => Absence::NotPermitted,
        error if is_missing(error) || on_instance && matches!(error, NvmlError::InvalidArg) => Absence::NotSupported,
        error => Absence::Failed(word(error)),
    }
}

/// What an error says about the device as a whole; `None` where it concerns the one call.
pub(super) fn condition(error: &NvmlError) -> Option<Condition> {
    match error {
        NvmlError::GpuLost | NvmlError::UnexpectedVariant(GPU_NOT_FOUND) => Some(Condition::Lost),
        NvmlError::Uninitialized | NvmlError::DriverNotLoaded | NvmlError::LibRmVersionMismatch | NvmlError::LibraryNotFound => {
            Some(Condition::DriverGone)
        }
        _ => None,
    }
}

/// Whether the driver does not have the call at all.
fn is_missing(error: &NvmlError) -> bool {
    matches!(
        error,
        NvmlError::NotSupported | NvmlError::FunctionNotFound | NvmlError::FailedToLoadSymbol(_) | NvmlError::UnexpectedVariant(DEPRECATED)
    )
}

/// Whether an older version of the same call may answer. `Unknown` belongs here: on WSL the symbol of memory v2 is there and
/// answers that, while v1 works.
fn is_for_an_older_call(error: &NvmlError) -> bool {
    is_missing(error) || matches!(error, NvmlError::Unknown | NvmlError::InvalidArg | NvmlError::UnexpectedVariant(VERSION_MISMATCH))
}

/// Puts one question by one version of a call after another, newest first, and says which one answered.
///
/// When none does, the reason is the first that is more than "not there".
pub(super) fn newest<V: Copy, T>(versions: &[V], mut call: impl FnMut(V) -> Result<T, NvmlError>) -> Result<(V, T), NvmlError> {
    let mut reason = NvmlError::NotSupported;
    for &version in versions {
        match call(version) {
            Ok(answer) => return Ok((version, answer)),
            Err(error) => {
                let last = !is_for_an_older_call(&error);
                if is_missing(&reason) {
                    reason = error;
                }
                if last {
                    break;
                }
            }
        }
    }
    Err(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_becomes_the_reason_that_readers_see() {
        let failed = |name: &'static str| Absence::Failed(Cow::Borrowed(name));
        for (error, why) in [
            (NvmlError::NotSupported, Absence::NotSupported),
            (NvmlError::FunctionNotFound, Absence::NotSupported),
            (NvmlError::FailedToLoadSymbol("undefined symbol".into()), Absence::NotSupported),
            (NvmlError::NoPermission, Absence::NotPermitted),
            (NvmlError::GpuLost, failed("GPU is lost")),
            (NvmlError::Unknown, failed("Unknown")),
            (NvmlError::Timeout, failed("Timeout")),
            (NvmlError::Uninitialized, failed("Uninitialized")),
            (NvmlError::InvalidArg, failed("Invalid Argument")),
            (NvmlError::UnexpectedVariant(77), failed("code 77")),
        ] {
            assert_eq!(absence(&error, false), why, "{error}");
        }
        assert_eq!(absence(&NvmlError::InvalidArg, true), Absence::NotSupported);
    }

    #[test]
    fn every_code_of_the_header_has_a_word() {
        for code in (1..=30).chain([999]) {
            assert!(!word(&NvmlError::from(code)).is_empty());
        }
    }

    #[test]
    fn an_older_call_is_tried_for_a_missing_symbol_not_supported_and_unknown() {
        for first in [NvmlError::FailedToLoadSymbol(String::new()), NvmlError::NotSupported, NvmlError::Unknown] {
            let mut answers = [Err(first), Ok(7)].into_iter();
            let answer = newest(&[2, 1], |_| answers.next().unwrap());
            assert_eq!(answer.unwrap(), (1, 7));
        }
    }

    #[test]
    fn a_lost_gpu_is_not_asked_by_older_calls() {
        let mut asked = 0;
        let answer: Result<(i32, ()), _> = newest(&[3, 2, 1], |_| {
            asked += 1;
            Err(NvmlError::GpuLost)
        });
        assert!(matches!(answer, Err(NvmlError::GpuLost)));
        assert_eq!(asked, 1);
    }

    #[test]
    fn the_reason_is_the_first_that_is_more_than_not_there() {
        let mut errors = [NvmlError::NotSupported, NvmlError::Unknown, NvmlError::NotSupported].into_iter();
        let answer: Result<(i32, ()), _> = newest(&[3, 2, 1], |_| Err(errors.next().unwrap()));
        assert!(matches!(answer, Err(NvmlError::Unknown)));
        let all: Result<(i32, ()), _> = newest(&[3, 2, 1], |_| Err(NvmlError::NotSupported));
        assert!(matches!(all, Err(NvmlError::NotSupported)));
    }
}
