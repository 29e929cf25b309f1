//! PyTorch, 0.4 to today, on CUDA, ROCm, XPU and MPS; both of its CUDA allocators; its CPU side and loaders.

use super::Producer::{ComfyUi, Torch};
use super::Sign::{Absurd, Bare, HostRam, LostDevice, Pinned, SharedMemory, Shortage};
use super::{Clause, adds, opens, settles, tells};

pub(super) const CLAUSES: &[Clause] = &[
    // In parentheses it is of git, PHP and others.
    opens(Torch, Shortage, r"(?:^|[^(])tried to alloc\w*:?\s+(?:about |approximately )?(?P<tried>{F})"),
    // A size that went through a signed number.
    opens(Torch, Absurd, r"(?:^|[^(])tried to alloc\w*:?\s+-\d"),
    opens(Torch, Shortage, r"Invalid buffer size: (?P<tried>{F})"),
    opens(Torch, Bare, r"\b(?:UR|PI|ZE)_(?:RESULT_)?(?:ERROR_)?OUT_OF_DEVICE_MEMORY\b"),
    opens(Torch, Shortage, r"(?:CUDA|HIP|XPU|MPS backend) out of memory"),
    opens(Torch, Absurd, r"tried to alloc\w* more than 1\s?EB"),
    opens(Torch, Shortage, r"would exceed allowed memory"),
    opens(Torch, Bare, r"\ballocation on device\s*(?:$|\n|This error)"),
    adds(ComfyUi, r"!!! Exception during processing !!!|Got an OOM, unloading all loaded models"),
    opens(Torch, Bare, r"cuda runtime error \(2\)\s*:?\s*out of memory"),
    opens(Torch, Bare, r"(?:CUDA|HIP) (?:driver )?error: out of memory"),
    opens(Torch, Bare, r"(?:CUDA|HIP) error: (?:cudaErrorMemoryAllocation|hipErrorOutOfMemory)"),
    // Capacity, free and holders: 2.1 and later, and before.
    adds(Torch, r"total capac\w*\s+of\s+(?P<capacity>{F})"),
    adds(Torch, r"(?P<capacity>{F})\s+total capac\w*"),
    adds(Torch, r"total capac\w*\s*[:=]\s*(?P<capacity>{F})"),
    adds(Torch, r"(?P<free>{F})\s+(?:is|are)\s+free\b"),
    adds(Torch, r"(?P<free>{F})\s+free(?:[;,.)]|\s*$)"),
    adds(Torch, r"this process has\s+(?P<own>{F})"),
    adds(Torch, r"\bprocess (?P<pid>\d+) has\s+(?P<other>{F})"),
    adds(Torch, r"(?P<allowed>{F})\s+allow\w*"),
    adds(Torch, r"(?P<allocated>{F})\s+already alloc\w*"),
    adds(Torch, r"(?P<allocated>{F})\s+is alloc\w* by PyTorch"),
    adds(Torch, r"(?P<private>{F})\s+alloc\w*\s+in private pools"),
    adds(Torch, r"(?P<cached>{F})\s+is reserv\w* by PyTorch but"),
    adds(Torch, r"(?P<cached>{F})\s+cached\b"),
    adds(Torch, r"(?P<reserved>{F})\s+reserv\w* in total"),
    adds(Torch, r"\((?:GPU|device)\s*:?\s*(?P<device>\d{1,3})\s*[;,]"),
    adds(Torch, r"\b(?:GPU|device) (?P<device>\d{1,3}) has a total"),
    adds(Torch, r"[;,]\s*GPU (?P<device>\d{1,3})\s*[;,)]"),
    adds(Torch, r"(?P<expandable>expandable_segments:True)"),
    adds(Torch, r"(?P<split>max_split_size_mb)"),
    // The cudaMallocAsync backend.
    adds(Torch, r"allocation on device (?P<device>\d{1,3})\b"),
    adds(Torch, r"currently alloc\w*\s*:\s*(?P<allocated>{F})"),
    adds(Torch, r"^\s*requested\s*:\s*(?P<tried>{F})"),
    adds(Torch, r"device limit\s*:\s*(?P<capacity>{F})"),
    adds(Torch, r"free \(according to CUDA\)\s*:\s*(?P<free>{F})"),
    adds(Torch, r"(?:memory fraction\)\s*:|PyTorch limit\s*:|^\s*:)\s*(?P<allowed>{F})"),
    // MPS.
    adds(Torch, r"MPS allocated:\s*(?P<allocated>{F})"),
    adds(Torch, r"other allocations:\s*(?P<foreign>{F})"),
    adds(Torch, r"max allowed:\s*(?P<allowed>{F})"),
    // The host's side.
    opens(Torch, HostRam, r"DefaultCPUAllocator:.{0,40}memory"),
    opens(Torch, HostRam, r"alloc_cpu\.cpp"),
    settles(Torch, Pinned, r"in pin memory thread(?: for device (?P<device>\d+))?"),
    settles(Torch, Pinned, r"\bpin_memory\(|\.pin_memory\b|cached_host_allocator|CachingHostAllocator|_pin_memory_loop"),
    opens(Torch, Pinned, r"(?:cudaHostAlloc|cudaMallocHost|cudaHostRegister|hipHostMalloc)\w*.{0,60}(?:out of memory|fail)"),
    opens(Torch, SharedMemory, r"workers? (?:are|is|ran|may be) out of shared memory"),
    opens(Torch, SharedMemory, r"DataLoader worker \(pid\(?s?\)?.{0,40}(?:Bus error|SIGBUS)"),
    opens(Torch, HostRam, r"DataLoader worker \(pid\(?s?\)?.{0,40}signal: Killed"),
    opens(Torch, SharedMemory, r"unable to (?:open|allocate|mmap|write to|resize) .{0,40}(?:shared memory|</torch_)"),
    // A container that lost its device: nothing held, and NVML fails.
    tells(Torch, r"(?P<nothing>allocated memory\s*\|\s*0 B)"),
    settles(Torch, LostDevice, r"Failed to initialize NVML: Unknown Error"),
    tells(Torch, r"memory summary, device ID (?P<device>\d+)"),
];
