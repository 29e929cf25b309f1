//! The table of remedies.

use crate::inside::Verdict;

/// What is known about a remedy.
#[derive(Clone, Copy, Debug)]
pub struct RemedyFacts {
    /// Which.
    pub remedy: Remedy,
    /// Its name, in the field's words.
    pub name: &'static str,
    /// What to do, as a sentence without its end.
    pub how: &'static str,
    /// The verdicts that it helps with.
    pub helps: &'static [Verdict],
    /// When it does nothing.
    pub not_when: &'static str,
    /// What it costs.
    pub costs: &'static str,
    /// Where that is documented.
    pub source: &'static str,
}

macro_rules! remedies {
    ($($remedy:ident { $name:literal, $how:literal, helps $helps:expr, not $not:literal, costs $costs:literal, $source:literal })*) => {
        /// A thing that can be done.
        #[expect(clippy::doc_markdown, reason = "names of the field stand in the table as people write them")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Remedy { $(#[doc = $name] $remedy,)* }

        /// All of them.
        pub const REMEDIES: &[RemedyFacts] = &[$(RemedyFacts {
            remedy: Remedy::$remedy, name: $name, how: $how, helps: $helps, not_when: $not, costs: $costs, source: $source,
        },)*];
    };
}

use Verdict::{
    BogusSize, Cached, Fragmented, FullSelf, GraphPool, HostMemory, HostSpill, Masked, NotVram, OtherProcess, OutsideFramework, PoolCap, ProcessCap,
    SliceCap, TooBig, UnevenSplit, Unknown, WarningOnly,
};

const OWN: &[Verdict] = &[FullSelf, HostSpill, SliceCap, ProcessCap];

remedies! {
    SmallerBatch { "smaller batch with accumulation", "a smaller batch, with gradient accumulation to keep the effective one", helps &[FullSelf, TooBig, HostSpill, SliceCap, ProcessCap, Cached, WarningOnly],
        not "weights and optimizer states alone fill the card: they do not shrink with the batch", costs "time: more steps for the same samples",
        "https://huggingface.co/docs/transformers/perf_train_gpu_one" }
    MixedPrecision { "mixed precision", "bf16 autocast instead of fp32", helps OWN, not "the model already runs in 16 bits, or optimizer states are the load",
        costs "a little accuracy in rare cases; fp16 needs loss scaling", "https://docs.pytorch.org/docs/stable/amp.html" }
    Checkpointing { "activation checkpointing", "activation checkpointing: activations are computed again in the backward pass", helps OWN,
        not "at inference, or when weights and optimizer states are the load", costs "about a third more compute", "https://docs.pytorch.org/docs/stable/checkpoint.html" }
    NoGrad { "no_grad or inference_mode", "torch.inference_mode() (or no_grad) around evaluation", helps OWN, not "in training steps: they need the graph",
        costs "nothing", "https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html" }
    Detach { "detach and .item()", "keep .item() or .detach() of losses and outputs, not the tensors with their graph", helps OWN,
        not "memory does not grow from step to step", costs "nothing", "https://docs.pytorch.org/docs/stable/notes/faq.html" }
    DelCollect { "del, gc.collect(), empty_cache()", "del what is done, gc.collect(), then empty_cache()", helps &[FullSelf, HostSpill, OtherProcess, GraphPool, Cached],
        not "something still refers to the tensors, or torch is out of memory: it has emptied its cache by itself before it failed",
        costs "a stall, and allocations from the driver afterwards", "https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.empty_cache.html" }
    JuliaReclaim { "GC.gc and CUDA.reclaim", "GC.gc(true); CUDA.reclaim(): arrays that nobody uses live until they are collected", helps &[FullSelf, Fragmented, PoolCap],
        not "the arrays are still referred to, or the program is not Julia", costs "a stall", "https://cuda.juliagpu.org/stable/usage/memory/" }
    Expandable { "expandable segments", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PYTORCH_ALLOC_CONF in newer releases)", helps &[Fragmented],
        not "next to nothing is cached, or the memory is live", costs "no sharing of CUDA tensors between processes in some releases", "https://docs.pytorch.org/docs/stable/notes/cuda.html" }
    MaxSplit { "max_split_size_mb", "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512, where expandable segments cannot be used", helps &[Fragmented],
        not "the memory is live, or expandable segments are on", costs "some speed; a value that is too small wastes memory", "https://docs.pytorch.org/docs/stable/notes/cuda.html" }
    BigFirst { "large buffers first", "allocate the big buffer first, once, and reuse it", helps &[Fragmented],
        not "the big sizes change from step to step", costs "that buffer's memory for as long as the process runs", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html" }
    FewerSizes { "fewer different sizes", "fewer different sizes: pad sequences to a few lengths, or set roundup_power2_divisions", helps &[Fragmented],
        not "all requests are of a few sizes already", costs "the memory of the padding", "https://docs.pytorch.org/docs/stable/notes/cuda.html" }
    Sdpa { "scaled-dot-product attention", "scaled_dot_product_attention (flash or memory-efficient) instead of the full score matrix", helps &[TooBig, FullSelf, SliceCap],
        not "the request is no attention score, or attention is fused already", costs "nothing; a dense mask can switch it off",
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html" }
    EightBit { "8-bit optimizer", "an 8-bit optimizer: 2 bytes a parameter of state instead of 8", helps OWN, not "at inference, or with LoRA: there is hardly any state",
        costs "hardly any accuracy for usual models", "https://huggingface.co/docs/bitsandbytes/main/optimizers" }
    Lora { "LoRA", "LoRA: gradients and states of a few percent of the weights", helps OWN, not "all weights have to be trained, or activations are the load",
        costs "capacity to learn", "https://huggingface.co/docs/peft/main/conceptual_guides/lora" }
    QuantWeights { "quantised weights", "weights in 8 or 4 bits, or a smaller quantisation of the same model", helps &[FullSelf, TooBig, PoolCap, SliceCap, UnevenSplit, HostMemory],
        not "activations or the KV cache are the load", costs "some quality below 5 bits", "https://huggingface.co/docs/transformers/quantization/overview" }
    KvCache { "KV cache type and context", "a shorter context (max_model_len, -c, num_ctx) or an 8-bit KV cache", helps &[PoolCap, FullSelf, TooBig],
        not "weights alone are too large", costs "longer prompts are refused; 8 bits cost a little quality", "https://docs.vllm.ai/en/latest/configuration/conserving_memory/" }
    SplitBatch { "batch splitting", "that one operation in pieces: chunks of the batch, the sequence or the output", helps &[TooBig, Fragmented, FullSelf, SliceCap, PoolCap],
        not "the whole result has to be in memory anyway", costs "a little time", "https://docs.pytorch.org/docs/stable/generated/torch.chunk.html" }
    SetToNone { "gradients set to none", "zero_grad(set_to_none=True), the default of newer releases, before the next forward pass", helps OWN,
        not "the peak is in the backward pass, where gradients are needed", costs "nothing", "https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html" }
    Shard { "sharding", "FSDP, ZeRO or tensor parallelism over more GPUs", helps &[FullSelf, TooBig, HostSpill, PoolCap],
        not "there is one GPU, or every rank is full of activations", costs "communication", "https://docs.pytorch.org/docs/stable/fsdp.html" }
    Offload { "offload", "layers, optimizer states or KV cache in host memory (fewer -ngl layers, CPU offload)", helps &[FullSelf, TooBig, HostSpill],
        not "host RAM is short, too", costs "host RAM of the same size, and much speed", "https://huggingface.co/docs/accelerate/usage_guides/big_modeling" }
    PinnedLess { "less pinned memory", "pin_memory=False, or smaller batches and less prefetching in the loader", helps &[HostMemory],
        not "it is the card that is full", costs "slower copies to the card", "https://docs.pytorch.org/docs/stable/data.html#memory-pinning" }
    MoreRam { "more host RAM", "more RAM for the job (--mem in Slurm, limits.memory in Kubernetes)", helps &[HostMemory], not "it is /dev/shm that is short",
        costs "RAM of the machine", "https://slurm.schedmd.com/sbatch.html#OPT_mem" }
    RestartKernel { "restart the kernel", "restart the notebook's kernel: a stored exception keeps every tensor of the failed call alive", helps &[FullSelf, Unknown, Masked],
        not "another process holds the memory", costs "the state of the session", "https://docs.pytorch.org/docs/stable/notes/faq.html" }
    FewerWorkers { "fewer workers", "fewer loader workers, or fewer serving processes on one card", helps &[HostMemory, OtherProcess],
        not "there is one process", costs "slower loading", "https://docs.pytorch.org/docs/stable/data.html" }
    MemoryFraction { "memory fraction", "raise or drop set_per_process_memory_fraction", helps &[ProcessCap], not "nobody set a fraction, or the card is full",
        costs "less room for others on the card", "https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.set_per_process_memory_fraction.html" }
    VllmPool { "vLLM's pool", "--gpu-memory-utilization: higher when the cache has no room, lower when others hold part of the card", helps &[PoolCap, OtherProcess, WarningOnly],
        not "the weights alone do not fit", costs "fewer requests at once when lower, less room for others when higher", "https://docs.vllm.ai/en/latest/configuration/conserving_memory/" }
    SglangPool { "SGLang's pool", "--mem-fraction-static: higher when the cache has no room, lower when a step runs out", helps &[PoolCap, WarningOnly],
        not "the weights alone do not fit", costs "room for activations when higher", "https://docs.sglang.io/advanced_features/hyperparameter_tuning.html" }
    JaxPool { "JAX's pool", "XLA_PYTHON_CLIENT_MEM_FRACTION=.9, or XLA_PYTHON_CLIENT_PREALLOCATE=false", helps &[PoolCap],
        not "the program's own plan is larger than the card", costs "fragmentation and speed without preallocation", "https://docs.jax.dev/en/latest/gpu_memory_allocation.html" }
    TfPool { "TensorFlow's pool", "set_memory_growth or TF_FORCE_GPU_ALLOW_GROWTH=true; a virtual device for a limit", helps &[PoolCap, WarningOnly],
        not "the model's tensors fill the card", costs "some fragmentation", "https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth" }
    RaisePool { "a larger pool", "raise the pool's limit, or drop it", helps &[PoolCap], not "the card itself is full", costs "room for everything else on the card",
        "https://docs.rapids.ai/api/rmm/stable/" }
    LeaveOthers { "another GPU, or a word with the neighbour", "an emptier GPU, or a word with the owner: vramtop shows who holds it", helps &[OtherProcess, Masked, Unknown],
        not "nobody else is on the card", costs "nothing", "https://docs.nvidia.com/deploy/nvidia-smi/index.html" }
    EndOldRun { "end an old run", "if it is an old run of your own: end it, and wait until its memory is free", helps &[OtherProcess], not "it is somebody else's, or still at work",
        costs "that run", "https://docs.nvidia.com/deploy/nvidia-smi/index.html" }
    FewerGraphs { "fewer captured graphs", "fewer captured sizes, or one pool for all graphs (torch.cuda.graph_pool_handle, cudagraph_trees)", helps &[GraphPool],
        not "no graph is captured", costs "launch overhead for sizes that are not captured", "https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs" }
    LessOutside { "leave room outside the framework", "leave room for what is not the framework's: a lower fraction of its pool, NCCL_BUFFSIZE, one framework a process",
        helps &[OutsideFramework], not "nearly all of it is the framework's", costs "that room", "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html" }
    MoreShm { "more shared memory", "docker run --shm-size=8g (or --ipc=host), an emptyDir of medium Memory at /dev/shm", helps &[HostMemory],
        not "it is locked pages or RAM that is short", costs "host RAM, when it is used", "https://docs.docker.com/engine/containers/run/" }
    LargerSlice { "a larger slice", "a larger MIG profile or software slice", helps &[SliceCap], not "there is no slice", costs "a larger part of the card",
        "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/" }
    Balance { "balance the devices", "another --tensor-split or device_map, so that the full device gets less", helps &[UnevenSplit],
        not "all devices together are too small", costs "nothing", "https://github.com/ggml-org/llama.cpp/tree/master/tools/server" }
    NoSpill { "no spilling to the host", "\"Prefer no sysmem fallback\" in the driver's settings: it fails instead of getting slow", helps &[HostSpill],
        not "on Linux without WSL: there is no such fallback", costs "an error in the place of slowness", "https://nvidia.custhelp.com/app/answers/detail/a_id/5490" }
    Record { "a recording of the next time", "next time torch.cuda.memory._record_memory_history() before the model is built, a snapshot in the handler of the error, and vramtop --once for the neighbours",
        helps &[Unknown], not "it was recorded, and the figures decide already", costs "some host RAM and a little speed while it records", "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html" }
    ServiceCard { "look after the card", "restart what used the card; if it comes again, the card or its driver needs a look", helps &[NotVram], not "memory is what is short",
        costs "an interruption for all who use the card", "https://docs.nvidia.com/deploy/xid-errors/" }
    LookAgain { "find the first error", "CUDA_LAUNCH_BLOCKING=1, and look at the first error of the first rank", helps &[Masked, BogusSize, NotVram, Unknown],
        not "the text has its figures already", costs "speed while it is set", "https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution" }
}

impl Remedy {
    /// Its row.
    pub fn facts(self) -> &'static RemedyFacts {
        // The rows are made in the order of the names.
        &REMEDIES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_whole_and_every_verdict_has_a_remedy() {
        for facts in REMEDIES {
            assert_eq!(facts.remedy.facts().name, facts.name);
            assert!(!facts.helps.is_empty() && !facts.not_when.is_empty() && !facts.costs.is_empty(), "{}", facts.name);
            assert!(facts.source.starts_with("https://"), "{}", facts.name);
        }
        for verdict in Verdict::ALL.iter().filter(|verdict| **verdict != Verdict::Sound) {
            assert!(REMEDIES.iter().any(|facts| facts.helps.contains(verdict)), "{}", verdict.word());
        }
    }
}
