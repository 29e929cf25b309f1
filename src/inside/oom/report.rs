//! What one out-of-memory text says: its figures as printed, and the verdict on them. Plain data without rules.

use super::{Amount, Verdict};
use crate::inside::verdict::words;
use crate::model::Moment;

words! {
    /// How sure a reader can be from the text alone.
    Confidence {
        /// The figures decide.
        High = "high",
        /// The usual case.
        Medium = "medium",
        /// A hint.
        Low = "low",
    }
}

words! {
    /// Which program or library wrote a text.
    Producer {
        /// PyTorch.
        Torch = "pytorch",
        /// ComfyUI, which prints torch's error cut short.
        ComfyUi = "pytorch/comfyui",
        /// NCCL.
        Nccl = "nccl",
        /// JAX.
        Jax = "jax",
        /// XLA and its allocator.
        Xla = "xla",
        /// TensorFlow.
        TensorFlow = "tensorflow",
        /// llama.cpp and ggml.
        LlamaCpp = "llama.cpp",
        /// Ollama.
        Ollama = "ollama",
        /// vLLM.
        Vllm = "vllm",
        /// SGLang.
        Sglang = "sglang",
        /// Text Generation Inference.
        Tgi = "tgi",
        /// CuPy.
        Cupy = "cupy",
        /// Numba.
        Numba = "numba",
        /// RAPIDS Memory Manager.
        Rmm = "rmm",
        /// CUDA.jl.
        CudaJl = "CUDA.jl",
        /// `PaddlePaddle`.
        Paddle = "paddle",
        /// ONNX Runtime.
        Ort = "onnxruntime",
        /// TensorRT.
        TensorRt = "tensorrt",
        /// Triton, the compiler of kernels.
        Triton = "triton",
        /// HAMi, a software slicer.
        Hami = "hami",
        /// The Linux kernel.
        Linux = "linux",
        /// The kernel module of NVIDIA's driver.
        Nvrm = "nvrm",
        /// Rust bindings of the CUDA driver.
        RustCuda = "rust cuda bindings",
        /// Ray.
        Ray = "ray",
        /// Hugging Face transformers and accelerate.
        Transformers = "transformers",
        /// bitsandbytes.
        Bitsandbytes = "bitsandbytes",
        /// `MXNet`.
        Mxnet = "mxnet",
        /// `XGBoost`.
        Xgboost = "xgboost",
        /// `LightGBM`.
        Lightgbm = "lightgbm",
        /// Faiss.
        Faiss = "faiss",
        /// `ExLlama`.
        Exllama = "exllama",
        /// MLC and TVM.
        Mlc = "mlc",
        /// Triton, the server.
        TritonServer = "triton server",
        /// Blender.
        Blender = "blender",
        /// `OpenCL`.
        OpenCl = "opencl",
        /// Something else that speaks to CUDA.
        Cuda = "cuda",
        /// NumPy, the Java machine and other users of the host's memory.
        Host = "host",
    }
}

/// What a text prints. Absent is not in the text; it is never 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Figures {
    /// Which device, as the program counts it.
    pub device: Option<u32>,
    /// What the failing allocation asked for.
    pub tried: Option<Amount>,
    /// All that the device has for CUDA.
    pub capacity: Option<Amount>,
    /// Free on it.
    pub free: Option<Amount>,
    /// What this process holds, everything included.
    pub this_process: Option<Amount>,
    /// PIDs of other processes, and what they hold.
    pub others: Vec<(u32, Amount)>,
    /// A limit that the text names.
    pub allowed: Option<Amount>,
    /// Live bytes of the framework.
    pub allocated: Option<Amount>,
    /// Of these, held for captured graphs.
    pub private_pools: Option<Amount>,
    /// Held by the framework and not live.
    pub reserved_unallocated: Option<Amount>,
    /// All that is held by the framework.
    pub reserved_total: Option<Amount>,
    /// What a compiled program plans to hold in all.
    pub planned: Option<Amount>,
}

/// One text, read and judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Who wrote it.
    pub producer: Producer,
    /// What it prints.
    pub figures: Figures,
    /// Why.
    pub verdict: Verdict,
    /// Other answers that the text allows.
    pub also: Vec<Verdict>,
    /// How sure.
    pub confidence: Confidence,
    /// The line where it begins, counted from 1.
    pub line: u64,
    /// How often it stands in the log.
    pub count: u64,
    /// The ranks that print it, in order of appearance.
    pub ranks: Vec<u32>,
    /// The log's own time of it.
    pub time: Option<LogTime>,
    /// What else the text tells.
    pub hints: Hints,
}

/// A time as a log prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogTime {
    /// With an offset, or in seconds since 1970.
    At(Moment),
    /// Without one: milliseconds since 1970 as if it were UTC, to be read in the machine's zone.
    Local(Moment),
    /// Without year and offset: month, day, and milliseconds of the day.
    NoYear {
        /// 1 to 12.
        month: i8,
        /// 1 to 31.
        day: i8,
        /// Since midnight.
        ms: u32,
    },
}

/// Particulars of a text that no figure holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hints {
    /// The text advises expandable segments (torch prints it always).
    pub advises_expandable: bool,
    /// The text advises `max_split_size_mb`.
    pub advises_split: bool,
    /// What the sign of the text is, where figures do not decide.
    pub sign: Option<super::Sign>,
    /// The slice's name.
    pub slice: Option<String>,
    /// The engine's fraction of the card, as printed.
    pub fraction: Option<String>,
    /// The longest request in tokens that the engine says would fit, or the token figure that it names.
    pub tokens: Option<u64>,
    /// What the engine calls available for its cache, in MiB, where it is negative.
    pub short_mib: Option<u64>,
    /// Other buffers that the text says were loaded on the device.
    pub loaded: Option<u64>,
    /// Free on all devices together, where the text names several.
    pub free_everywhere: Option<u64>,
    /// Free on the GPU of this rank, where the text names another's as what is short.
    pub free_here: Option<u64>,
    /// In use on the device by anybody.
    pub used: Option<u64>,
    /// What others take of the limit that the text names.
    pub foreign: Option<u64>,
    /// The code of a fault (Xid).
    pub code: Option<u32>,
}
