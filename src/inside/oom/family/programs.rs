//! Programs and libraries with a line of their own: boosted trees, search, model loaders, renderers.

use super::Producer::{Bitsandbytes, Blender, Exllama, Faiss, Lightgbm, Mlc, Mxnet, OpenCl, Transformers, TritonServer, Xgboost};
use super::Sign::{Bare, NoCache, PinnedFallback, Shortage};
use super::{Clause, adds, opens};

pub(super) const CLAUSES: &[Clause] = &[
    // Boosted trees. Older releases print bare bytes.
    opens(Xgboost, Shortage, r"Memory allocation error on worker \d+"),
    adds(Xgboost, r"Free memory: (?P<free>{F}|\d{5,}(?:\s|$))"),
    adds(Xgboost, r"Requested memory: (?P<tried>{F}|\d{5,}(?:\s|$))"),
    opens(Lightgbm, Bare, r"\[LightGBM\].{0,40}\[CUDA\] out of memory"),
    // Faiss.
    opens(Faiss, Shortage, r"StandardGpuResources: alloc fail(?: type .{0,40} dev (?P<device>\d+) .{0,80} size (?P<tried>{F}))?"),
    opens(Faiss, Bare, r"faiss::gpu::.{0,200}cudaMalloc error"),
    // Loaders of models.
    opens(Transformers, Shortage, r"make sure you have enough GPU RAM to fit"),
    opens(Bitsandbytes, Bare, r"Error:? out of memory at line \d+ in file"),
    opens(Exllama, Shortage, r"Insufficient VRAM for model"),
    opens(Mlc, NoCache, r"Insufficient GPU memory error"),
    opens(Mlc, NoCache, r"available single GPU memory is (?P<free>{F}), which is less than"),
    opens(Mlc, Bare, r"(?:TVMError|InternalError):.{0,160}CUDA: out of memory"),
    opens(TritonServer, PinnedFallback, r"failed to allocate pinned system memory"),
    // Others.
    opens(Mxnet, Bare, r"MXNetError:.{0,160}(?:out of memory|cudaMalloc (?:retry )?failed)"),
    opens(Blender, Bare, r"System is out of GPU memory"),
    opens(OpenCl, Bare, r"MEM_OBJECT_ALLOCATION_FAILURE"),
];
