//! Frameworks with pools of their own: TensorFlow, XLA and JAX, CuPy, RMM, CUDA.jl, Paddle.

use super::Producer::{CudaJl, Cupy, Jax, Paddle, Rmm, TensorFlow, Xla};
use super::Sign::{Bare, KernelResources, Optional, Plan, PoolLimit, Probe, Shortage};
use super::{Clause, adds, opens, settles};

pub(super) const CLAUSES: &[Clause] = &[
    // JAX.
    opens(Jax, Shortage, r"RESOURCE_EXHAUSTED: Out of memory (?:while trying to allocate|allocating) (?P<tried>{F})"),
    opens(
        Jax,
        Shortage,
        r"RESOURCE_EXHAUSTED: Failed to allocate (?:request for )?(?P<tried>{F})(?: \({F}\))?(?: on device ordinal (?P<device>\d+))?",
    ),
    adds(Jax, r"failed to allocate request for \S+ \((?P<tried>{F})\)"),
    opens(Jax, Shortage, r"(?:Xla|Jax)RuntimeError: (?:INTERNAL|UNKNOWN): Failed to allocate (?P<tried>{F})"),
    opens(Jax, Shortage, r"Attempting to (?:reserve|allocate) (?P<tried>{L})(?: at the bottom of memory)?\. That was not possible"),
    adds(Jax, r"There are (?P<free>{L}) free"),
    opens(Jax, Shortage, r"(?:Xla|Jax)RuntimeError: RESOURCE_EXHAUSTED"),
    settles(Jax, Plan, r"^\s*total allocation:\s*(?P<planned>{F})"),
    opens(Jax, Plan, r"Ran out of memory in memory space hbm\.\s+Used (?P<planned>{L}) of (?P<capacity>{L})"),
    opens(Jax, KernelResources, r"Ran out of memory in memory space (?:vmem|smem)"),
    // TensorFlow and the allocator that XLA shares with it.
    opens(Xla, Shortage, r"Allocator \(GPU_(?P<device>\d+)_bfc\w*\) ran out of memory trying to allocate (?P<tried>{F})"),
    adds(Xla, r"ran out of memory trying to allocate \S+\s+\(rounded to (?P<tried>{N})\)"),
    settles(TensorFlow, Optional, r"the caller indicates that this is not a failure"),
    adds(Xla, r"^\s*Limit:\s+(?P<allowed>{N})\s*$"),
    adds(Xla, r"^\s*InUse:\s+(?P<allocated>{N})\s*$"),
    opens(
        TensorFlow,
        Shortage,
        r"OOM when allocating tensor with shape\s?\[(?P<shape>[\d, ]+)\] and type (?P<type>\w+)(?: on \S*/device:GPU:(?P<device>\d+))?",
    ),
    opens(TensorFlow, Shortage, r"OOM when allocating tensor"),
    opens(TensorFlow, Probe, r"failed to alloc\w* (?:{L} )?\((?P<tried>{F})\) from device"),
    opens(TensorFlow, Probe, r"failed to alloc\w* (?P<tried>{N}) bytes (?:from device|unified)"),
    // CuPy.
    opens(Cupy, Shortage, r"out of memory allocating (?P<tried>{F}) \(allocated so far: (?P<allocated>{F})(?:, limit set to: (?P<allowed>{F}))?"),
    opens(Cupy, Shortage, r"out of memory to allocate (?P<tried>{F}) \(total (?P<total>{F})\)"),
    opens(Cupy, Bare, r"cudaErrorMemoryAllocation: out of memory"),
    // RAPIDS Memory Manager.
    opens(Rmm, PoolLimit, r"Maximum (?:pool|arena) size exceeded(?:.{0,20}failed to allocate (?P<tried>{F}))?"),
    opens(Rmm, PoolLimit, r"RMM failure.{0,200}Exceeded memory limit(?:.{0,20}failed to allocate (?P<tried>{F}))?"),
    opens(Rmm, Bare, r"out_of_memory: CUDA error(?: \(failed to allocate (?P<tried>{F})\))?"),
    opens(Rmm, Bare, r"cuda_(?:async_)?memory_resource.{0,80}out of memory"),
    // CUDA.jl.
    opens(CudaJl, Shortage, r"(?:^|: )out of GPU memory(?: trying to allocate (?P<tried>{F}))?"),
    adds(CudaJl, r"effective GPU memory usage: [\d.,]+\s?% \((?P<used>{F})/(?P<capacity>{F})\)"),
    adds(CudaJl, r"memory pool usage: (?P<allocated>{F})(?: \((?P<reserved>{F}) reserved\))?"),
    adds(CudaJl, r"CUDA allocator usage: (?P<reserved>{F})"),
    settles(CudaJl, PoolLimit, r"hard (?:memory )?limit(?: exceeded|:\s*(?P<allowed>{F}))"),
    // Paddle.
    opens(Paddle, Shortage, r"out of memory error on GPU (?P<device>\d+)"),
    opens(Paddle, Shortage, r"cannot allocate (?P<tried>{F}) memory on GPU (?P<device>\d+)"),
    adds(Paddle, r"available memory is only (?P<free>{F})"),
];
