//! Engines that serve models: llama.cpp, Ollama, vLLM, SGLang, TGI, TensorRT, ONNX Runtime.

use super::Producer::{LlamaCpp, Ollama, Ort, Sglang, TensorRt, Tgi, Vllm};
use super::Sign::{
    Bare, Batch, CacheBelowRequest, FreeBelowTarget, HostRam, IntegratedPool, LateRelease, NeighbourChanged, NoCache, Optional, PinnedFallback,
    PoolLimit, Retried, Shortage, Unbalanced,
};
use super::{Clause, adds, opens, settles, tells};

pub(super) const CLAUSES: &[Clause] = &[
    // llama.cpp and ggml.
    opens(LlamaCpp, Shortage, r"allocating (?P<tried>{F}) on device (?P<device>\d+): (?:cuda|hip|musa)\w* failed"),
    opens(LlamaCpp, Shortage, r"failed to allocate (?:CUDA|ROCm|MUSA|Vulkan|SYCL)(?P<device>\d+)(?:_Split)? buffer of size (?P<tried>{N})(?:\D|$)"),
    opens(LlamaCpp, Shortage, r"unable to allocate (?:CUDA|ROCm|MUSA|Vulkan)(?P<device>\d+)(?:_Split)? buffer"),
    opens(LlamaCpp, Shortage, r"failed to allocate (?:compute buffers|buffer for kv cache|compute pp buffers)"),
    opens(LlamaCpp, Shortage, r"Device memory allocation of size (?P<tried>{N}) failed"),
    opens(LlamaCpp, Bare, r"ErrorOutOfDeviceMemory|cudaMalloc failed: out of memory"),
    adds(LlamaCpp, r"current device: (?P<device>\d+), in function"),
    opens(LlamaCpp, PinnedFallback, r"failed to allocate (?P<tried>{F}) of pinned memory"),
    settles(LlamaCpp, Retried, r"retrying without pipeline parallelism|compute buffer allocation failed, retrying"),
    tells(LlamaCpp, r"using device (?:CUDA|ROCm|MUSA|Vulkan)(?P<on>\d+) \(.{0,120}\) - (?P<device_free>{F}) free"),
    tells(LlamaCpp, r"(?:CUDA|ROCm|MUSA|Vulkan)(?P<on>\d+)(?:_Split)? (?:model|KV|compute|output|RS) buffer size\s*=\s*(?P<device_loaded>{F})"),
    // Ollama.
    opens(Ollama, HostRam, r"requires more system memory \((?P<tried>{F})\) than is available \((?P<free>{F})\)").decimal(),
    opens(
        Ollama,
        HostRam,
        r#"(?:request too large for system|more system memory than is available)"?\s+requested="?(?P<tried>{F}|\d{6,})"?\s+available="?(?P<free>{F}|\d{6,}\s)"#,
    ),
    opens(Ollama, HostRam, r"model request too large for system|requires more system memory than is available"),
    opens(Ollama, LateRelease, r"VRAM usage didn't recover within timeout"),
    opens(Ollama, Bare, r"llama runner process (?:has terminated|no longer running):?.{0,60}(?:out of memory|cudaMalloc failed)"),
    // vLLM.
    opens(
        Vllm,
        FreeBelowTarget,
        r"free memory on device (?:(?:cuda|hip):(?P<device>\d+) )?\((?P<free>{N})\s*(?:GiB)?\s*/\s*(?P<capacity>{F})\) on startup is less than desired GPU memory utilization \((?P<fraction>[\d.]+),\s*(?P<tried>{F})\)",
    ),
    opens(Vllm, FreeBelowTarget, r"free memory on device.{0,80}less than desired GPU memory utilization"),
    opens(Vllm, NeighbourChanged, r"error in memory profiling\.?.{0,40}(?:initial )?free memory"),
    opens(Vllm, NoCache, r"no available memory for the cache blocks"),
    adds(Vllm, r"available KV cache memory:\s*(?:-|−)(?P<short>{F})"),
    opens(
        Vllm,
        CacheBelowRequest,
        r"\(?(?P<tried>{F})(?: of)? KV cache(?: memory)? is needed,? which is larger than the available KV cache memory \((?P<free>{F})\)",
    ),
    opens(Vllm, CacheBelowRequest, r"to serve at least one request with the model"),
    adds(Vllm, r"estimated maximum model length is (?P<tokens>\d[\d,]*)"),
    opens(
        Vllm,
        CacheBelowRequest,
        r"max seq len \(\d+\) is larger than the maximum number of tokens that can be stored in (?:the )?KV cache \((?P<tokens>\d+)\)",
    ),
    opens(Vllm, Optional, r"preempted.{0,120}not enough KV cache space"),
    opens(Vllm, Batch, r"out of memory occurred when warming up sampler with (?P<tokens>\d+)"),
    // SGLang.
    opens(Sglang, NoCache, r"not enough memory\.? please try (?:to increase|increasing) --mem-fraction-static"),
    adds(Sglang, r"mem_fraction_static\s*[=:]\s*(?P<fraction>0?\.\d+)"),
    opens(Sglang, Batch, r"(?:prefill|decode) out of memory"),
    opens(Sglang, Unbalanced, r"memory capacity is unbalanced"),
    adds(Sglang, r"min_per_gpu_memory=(?P<free>{N}), local_gpu_memory=(?P<here>{N})").gib(),
    opens(Sglang, Optional, r"KV cache pool is full\. Retract requests"),
    // Text Generation Inference.
    opens(Tgi, Batch, r"not enough memory to handle (?P<tokens>\d[\d,]*) (?:prefill|total) tokens"),
    // TensorRT.
    opens(TensorRt, Shortage, r"requested amount of GPU memory \((?P<tried>{F})\) could not be allocated"),
    opens(TensorRt, Shortage, r"OutOfMemory \(requested size was (?P<tried>{F})"),
    opens(TensorRt, Shortage, r"Error Code 2: OutOfMemory"),
    opens(TensorRt, Bare, r"Error Code 1: Cuda Runtime \((?:out of memory|In allocate)"),
    opens(TensorRt, Bare, r"\[TensorRT-LLM\].{0,200}out of memory|CUDA runtime error in .{0,160}out of memory"),
    opens(TensorRt, Optional, r"tactic device request:\s*(?P<tried>{F})\s*available:\s*(?P<free>{F})"),
    opens(TensorRt, IntegratedPool, r"NvMapMem\w+:? .{0,40}error (?:12|-12)\b"),
    settles(TensorRt, IntegratedPool, r"NvMapMemAlloc\w*|NvMapMemHandleAlloc"),
    // ONNX Runtime.
    opens(Ort, Shortage, r"failed to allocate memory for requested buffer of size (?P<tried>{N})"),
    opens(Ort, PoolLimit, r"available memory of (?P<free>{N}) is smaller than requested bytes of (?P<tried>{N})"),
    opens(Ort, Bare, r"CUDA failure 2: out of memory\s*;?\s*(?:GPU=(?P<device>\d+))?"),
];
