//! The return codes of NVML: their names in scenarios and their texts.

use std::ffi::CStr;

use nvml_wrapper_sys::bindings as sys;

/// An `nvmlReturn_t` other than success.
pub(crate) type Code = sys::nvmlReturn_t;

/// What the body of a call gives.
pub(crate) type Answer = Result<(), Code>;

pub(crate) const UNINITIALIZED: Code = sys::nvmlReturn_enum_NVML_ERROR_UNINITIALIZED;
pub(crate) const INVALID_ARGUMENT: Code = sys::nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT;
pub(crate) const NOT_SUPPORTED: Code = sys::nvmlReturn_enum_NVML_ERROR_NOT_SUPPORTED;
pub(crate) const NOT_FOUND: Code = sys::nvmlReturn_enum_NVML_ERROR_NOT_FOUND;
pub(crate) const INSUFFICIENT_SIZE: Code = sys::nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE;
pub(crate) const FUNCTION_NOT_FOUND: Code = sys::nvmlReturn_enum_NVML_ERROR_FUNCTION_NOT_FOUND;
pub(crate) const GPU_IS_LOST: Code = sys::nvmlReturn_enum_NVML_ERROR_GPU_IS_LOST;
pub(crate) const VERSION_MISMATCH: Code = sys::nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
pub(crate) const UNKNOWN: Code = sys::nvmlReturn_enum_NVML_ERROR_UNKNOWN;

const CODES: &[(Code, &str, &CStr)] = &[
    (0, "Success", c"Success"),
    (1, "Uninitialized", c"Uninitialized"),
    (2, "InvalidArgument", c"Invalid Argument"),
    (3, "NotSupported", c"Not Supported"),
    (4, "NoPermission", c"Insufficient Permissions"),
    (5, "AlreadyInitialized", c"Already Initialized"),
    (6, "NotFound", c"Not Found"),
    (7, "InsufficientSize", c"Insufficient Size"),
    (8, "InsufficientPower", c"Insufficient External Power"),
    (9, "DriverNotLoaded", c"Driver Not Loaded"),
    (10, "Timeout", c"Timeout"),
    (11, "IrqIssue", c"Interrupt Request Issue"),
    (12, "LibraryNotFound", c"NVML Shared Library Not Found"),
    (13, "FunctionNotFound", c"Function Not Found"),
    (14, "CorruptedInforom", c"Corrupted infoROM"),
    (15, "GpuLost", c"GPU is lost"),
    (16, "ResetRequired", c"GPU requires restart"),
    (17, "OperatingSystem", c"The operating system has blocked the request."),
    (18, "LibRmVersionMismatch", c"RM has detected an NVML/RM version mismatch."),
    (19, "InUse", c"In use by another client"),
    (20, "Memory", c"Insufficient Memory"),
    (21, "NoData", c"No data"),
    (22, "VgpuEccNotSupported", c"ECC is enabled on vGPU host"),
    (23, "InsufficientResources", c"Insufficient Resources"),
    (24, "FreqNotSupported", c"Frequency Not Supported"),
    (25, "ArgumentVersionMismatch", c"Argument version mismatch"),
    (26, "Deprecated", c"Deprecated"),
    (27, "NotReady", c"Not Ready"),
    (28, "GpuNotFound", c"GPU Not Found"),
    (29, "InvalidState", c"Invalid State"),
    (30, "ResetTypeNotSupported", c"Reset Type Not Supported"),
    (999, "Unknown", c"Unknown Error"),
];

/// The names that nvml-wrapper or the C header give to the same codes.
const ALIASES: &[(&str, &str)] = &[
    ("GpuIsLost", "GpuLost"),
    ("InvalidArg", "InvalidArgument"),
    ("InsufficientMemory", "Memory"),
    ("Unavailable", "NotSupported"),
    ("None", "NotSupported"),
    ("RmVersionMismatch", "LibRmVersionMismatch"),
];

/// The code named `GpuLost`, `gpu_lost` or `NVML_ERROR_GPU_IS_LOST`.
pub(crate) fn by_name(name: &str) -> Option<Code> {
    let fold = |text: &str| text.replace('_', "").to_ascii_lowercase();
    let wanted = fold(name.strip_prefix("NVML_ERROR_").unwrap_or(name));
    let wanted = ALIASES.iter().find(|(alias, _)| fold(alias) == wanted).map_or(wanted, |(_, real)| fold(real));
    CODES.iter().find(|(_, known, _)| fold(known) == wanted).map(|(code, _, _)| *code)
}

/// The text that `nvmlErrorString` gives.
pub(crate) fn text(code: Code) -> &'static CStr {
    CODES.iter().find(|(known, _, _)| *known == code).map_or(c"Unknown Error", |(_, _, text)| text)
}

#[cfg(test)]
mod tests {
    use super::{CODES, by_name};

    #[test]
    fn every_name_finds_its_code() {
        for (code, name, _) in CODES {
            assert_eq!(by_name(name), Some(*code));
        }
        assert_eq!(by_name("NVML_ERROR_GPU_IS_LOST"), Some(15));
        assert_eq!(by_name("no_permission"), Some(4));
        assert_eq!(by_name("lost"), None);
    }
}
