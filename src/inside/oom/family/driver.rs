//! Drivers and libraries: status codes of CUDA, NCCL, cuBLAS and their kin, kernels' resources, slices, faults.

use super::Producer::{Cuda, Hami, Nccl, Numba, Nvrm, Paddle, RustCuda, TensorFlow, Torch, Triton, Xla};
use super::Sign::{Bare, Communication, KernelResources, Pinned, SharedMemory, SoftSlice, Status, Xid};
use super::{Clause, adds, opens, settles, tells};

pub(super) const CLAUSES: &[Clause] = &[
    // NCCL.
    opens(Nccl, Communication, r"\[(?P<device>\d+)\].{0,120}NCCL WARN Cuda failure.{0,12}out of memory"),
    opens(Nccl, Communication, r"NCCL WARN Cuda failure.{0,12}out of memory"),
    opens(Nccl, Communication, r"Failed to CUDA (?:calloc|malloc)(?: async)? (?P<tried>{F})"),
    opens(Nccl, Pinned, r"Failed to CUDA host (?:alloc|calloc) (?P<tried>{F})"),
    opens(Nccl, Communication, r"(?:nccl|Last error).{0,200}Cuda failure (?:2 )?.{0,2}out of memory"),
    settles(Nccl, Communication, r"ncclUnhandledCudaError|NCCL error in:|DistBackendError"),
    opens(Nccl, SharedMemory, r"Error while creating shared memory segment|/dev/shm/nccl-\w+.{0,80}(?:No space|failed)"),
    // Status codes of libraries.
    opens(Torch, Status, r"\bCU(?:BLAS|SOLVER|SPARSE|DNN|RAND|FFT|TENSOR)\w*_(?:ALLOC_FAILED|ALLOCATION_FAILED|NOT_INITIALIZED)\b"),
    opens(
        Torch,
        Status,
        r"CUDNN_STATUS_INTERNAL_ERROR|CUFFT_INTERNAL_ERROR|unable to find a valid cuDNN algorithm|was unable to find an engine to execute",
    ),
    opens(Torch, Status, r"\b(?:HIPBLAS|ROCBLAS|MIOPEN)_STATUS_(?:ALLOC_FAILED|NOT_INITIALIZED)\b|miopenStatus(?:AllocFailed|InternalError)"),
    opens(TensorFlow, Status, r"could not create cu\w+ handle|Failed to get convolution algorithm"),
    // Kernels.
    opens(Triton, KernelResources, r"out of resources?: (?:shared memory|threads|registers|tensor memory)|OutOfResources"),
    opens(Numba, KernelResources, r"LAUNCH_OUT_OF_RESOURCES|too many resources requested for launch"),
    opens(Cuda, KernelResources, r"uses too much shared data|shared memory size limit exceeded"),
    opens(Xla, KernelResources, r"shared memory.{0,40}exceeds? (?:the )?(?:available|limit|device limit)"),
    // Slices.
    opens(Hami, SoftSlice, r"Device (?P<device>\d+) OOM {N} / (?P<allowed>{N})(?:\D|$)"),
    settles(Hami, SoftSlice, r"\[(?:HAMI-core|4pdvGPU) ERROR"),
    tells(Cuda, r"(?P<slice>MIG \d+[gc]\.\d+gb(?:\+\w+)?)"),
    tells(Cuda, r"\b(?P<slice>MIG-(?:GPU-)?[0-9a-f]{8}-[0-9a-f-]+)"),
    tells(Cuda, r"\b(?P<slice>(?:GRID|NVIDIA) [ALTVMP]\d{1,3}[A-Z]{0,2}-\d{1,2}(?:-\d+)?[CQAB])\b"),
    tells(Cuda, r"\b(?:A100|A30|H100|H200|H800|A800|GH200|B200|B100|V100)[\w-]*[ -](?P<board>\d{2,3})\s?GB\b"),
    // Faults.
    opens(Nvrm, Xid, r"NVRM: Xid \(.{0,60}\): (?P<code>\d+)"),
    opens(Nvrm, Bare, r"NVRM:.{0,200}(?:NV_ERR_NO_MEMORY|out of memory)"),
    // The bare code, in every language.
    opens(Numba, Bare, r"Call to cuMem\w+ results in (?:CUDA_ERROR_OUT_OF_MEMORY|UNKNOWN_CUDA_ERROR)"),
    opens(RustCuda, Bare, r"DriverError\(CUDA_ERROR_OUT_OF_MEMORY"),
    opens(Cuda, Bare, r"CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|hipErrorOutOfMemory|CUDA_OUT_OF_MEMORY"),
    opens(Cuda, Bare, r"(?:cuMem\w*|cuCtxCreate|cuda\w*Malloc\w*|hipMalloc\w*).{0,40}(?:out of memory|failed)"),
    opens(Cuda, Bare, r"\(2 vs\. 0\)\s+out of memory"),
    opens(Cuda, Bare, r"\b(?:CUDA|GPU|HIP|cu[A-Z]\w+|device|VRAM)\b.{0,60}\bout of memory\b|\bout of memory\b.{0,60}\b(?:CUDA|GPU|VRAM)\b"),
    opens(Cuda, Bare, r"(?:torch|cuda)\.OutOfMemoryError|^OutOfMemoryError\b"),
    adds(Paddle, r"\bplease check whether there is any other process using GPU (?P<device>\d+)"),
];
