//! What a query may ask of a GPU beside what every step reads, and the answer as a plain value.
//!
//! No step reads these unless somebody names them; how an answer is spelled is no business of this layer.

use super::SafeText;

/// A clock of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockDomain {
    /// Graphics.
    Graphics,
    /// The multiprocessors.
    Sm,
    /// Memory.
    Memory,
    /// Video encoders and decoders.
    Video,
}

/// Which figure of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockFigure {
    /// As it runs now.
    Current,
    /// As applications are told to run.
    Application,
    /// As applications run where nobody told otherwise.
    Default,
    /// The highest that it goes.
    Max,
}

/// One question about one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// How many GPUs the machine has.
    Count,
    /// Serial number of the board.
    Serial,
    /// Vendor and device number on the bus.
    PciDevice,
    /// Vendor and device number of the board's maker.
    PciSubsystem,
    /// Generation of the bus link now.
    PcieGeneration,
    /// Highest generation of the bus link here.
    PcieGenerationMax,
    /// Lanes of the bus link now.
    PcieWidth,
    /// Most lanes of the bus link here.
    PcieWidthMax,
    /// Whether a display is drawn by the GPU.
    DisplayActive,
    /// Whether the driver stays loaded without a client.
    Persistence,
    /// Whether the use of each process is recorded.
    Accounting,
    /// How many processes that record has room for.
    AccountingBuffer,
    /// Version of the video BIOS.
    Vbios,
    /// Fan speed in percent.
    Fan,
    /// Performance state.
    Pstate,
    /// The reasons for lower clocks that can be told, as a mask.
    ReasonsSupported,
    /// What holds the clocks down, as a mask.
    Reasons,
    /// Who may compute, as the driver's number.
    ComputeMode,
    /// CUDA compute capability.
    ComputeCapability,
    /// Share of time in which a kernel ran.
    Utilization,
    /// Share of time in which memory was read or written.
    Bus,
    /// Encoder.
    Encoder,
    /// Decoder.
    Decoder,
    /// Whether memory errors are corrected now.
    Ecc,
    /// Whether they will be after the next start.
    EccPending,
    /// Memory errors.
    EccErrors {
        /// Those that were corrected, or those that were not.
        corrected: bool,
        /// Over the GPU's life, or since the driver was loaded.
        aggregate: bool,
    },
    /// Rows replaced after correctable errors.
    RemappedCorrectable,
    /// Rows replaced after uncorrectable errors.
    RemappedUncorrectable,
    /// Whether a replacement waits for the next start.
    RemappedPending,
    /// Whether a replacement failed.
    RemappedFailed,
    /// Degrees Celsius of the GPU.
    Temperature,
    /// Degrees Celsius of the memory.
    MemoryTemperature,
    /// Power draw in milliwatts.
    Power,
    /// The same as an average over a second.
    PowerAverage,
    /// The same at this moment.
    PowerInstant,
    /// The power limit that was set, in milliwatts.
    PowerLimit,
    /// The limit that a start sets.
    PowerLimitDefault,
    /// The lowest that may be set.
    PowerLimitMin,
    /// The highest that may be set.
    PowerLimitMax,
    /// A clock in MHz.
    Clock(ClockDomain, ClockFigure),
    /// Whether MIG mode is on.
    Mig,
    /// Whether it will be after the next reset.
    MigPending,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A count, a size, a mask.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// A name or a version.
    Text(SafeText),
}

impl From<u32> for Answer {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Answer {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Answer {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::Text(SafeText::new(text))
    }
}
