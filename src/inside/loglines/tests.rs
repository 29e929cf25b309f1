//! Lines as these tools print them, and the figures in them.

use super::*;

fn read(log: &str) -> Vec<Note> {
    let mut reader = Reader::new();
    log.lines().for_each(|line| reader.line(line.as_bytes()));
    reader.finish()
}

fn mib(figures: &Figures, quantity: Quantity) -> Option<f64> {
    figures.get(quantity).map(|bytes| bytes as f64 / 1_048_576.0)
}

fn gib(figures: &Figures, quantity: Quantity) -> Option<f64> {
    figures.get(quantity).map(|bytes| (bytes as f64 / 1_073_741_824.0 * 1000.0).round() / 1000.0)
}

#[test]
fn deepspeed() {
    let notes = read(
        "[2023-01-01 10:00:00,123] [INFO] [utils.py:786:see_memory_usage] MA 12.5 GB         Max_MA 14.25 GB         CA 15.0 GB         Max_CA 16 GB \n\
        x [utils.py:786:see_memory_usage] MA 3.0 GB         Max_MA 3.0 GB         CA 15.0 GB         Max_CA 15 GB",
    );
    assert_eq!((notes.len(), notes[0].tool, notes[0].line, notes[0].count), (1, Tool::DeepSpeed, 1, 2));
    assert_eq!(gib(&notes[0].last, Quantity::Allocated), Some(3.0));
    assert_eq!(gib(&notes[0].most, Quantity::MaxAllocated), Some(14.25));
    assert_eq!(gib(&notes[0].most, Quantity::MaxReserved), Some(16.0));
}

#[test]
fn megatron_a_rank() {
    let notes =
        read("8: [Rank 3] (after 10 iterations) memory (MB) | allocated: 1024.5 | max allocated: 2048.0 | reserved: 3000.0 | max reserved: 4096.0");
    assert_eq!(notes[0].stage.as_ref().map(SafeText::as_str), Some("rank 3"));
    assert_eq!(mib(&notes[0].last, Quantity::Allocated), Some(1024.5));
    assert_eq!(mib(&notes[0].last, Quantity::MaxAllocated), Some(2048.0));
    assert_eq!(mib(&notes[0].last, Quantity::Reserved), Some(3000.0));
    assert_eq!(mib(&notes[0].last, Quantity::MaxReserved), Some(4096.0));
}

#[test]
fn vllm_of_the_first_engine() {
    let notes = read(
        "INFO 03-29 15:53:07 [worker.py:267] the current vLLM instance can use total_gpu_memory (7.65GiB) x gpu_memory_utilization (0.90) = 6.89GiB\n\
        INFO 03-29 15:53:07 [worker.py:267] model weights take 5.43GiB; non_torch_memory takes -0.50GiB; PyTorch activation peak memory takes 1.25GiB; the rest of the memory reserved for KV Cache is -0.75GiB.",
    );
    let of = |quantity| gib(&notes[0].last, quantity);
    assert_eq!(of(Quantity::Total), Some(7.65));
    assert_eq!(of(Quantity::Budget), Some(6.89));
    assert_eq!(of(Quantity::Weights), Some(5.43));
    assert_eq!(of(Quantity::Outside), Some(-0.5));
    assert_eq!(of(Quantity::Activations), Some(1.25));
    assert_eq!(of(Quantity::KvCache), Some(-0.75));
}

#[test]
fn vllm_of_the_second_engine() {
    let notes = read(
        "(EngineCore pid=258) INFO gpu_model_runner.py:4879 Model loading took 2.89 GiB memory and 60.297843 seconds\n\
        (EngineCore pid=258) INFO gpu_worker.py:440 Available KV cache memory: 0.56 GiB\n\
        (EngineCore pid=258) INFO kv_cache_utils.py:1708 GPU KV cache size: 20,992 tokens\n\
        (EngineCore pid=258) INFO gpu_worker.py:500 Free memory on device (78.57/79.18 GiB) on startup. Desired GPU memory utilization is (0.9, 71.26 GiB). Actual usage is 14.99 GiB for weight, 4.76 GiB for peak activation, 0.13 GiB for non-torch memory, and -0.45 GiB for CUDAGraph memory.",
    );
    let of = |quantity| gib(&notes[0].last, quantity);
    assert_eq!(notes[0].count, 4);
    assert_eq!(of(Quantity::KvCache), Some(0.56));
    assert_eq!(notes[0].last.get(Quantity::Tokens), Some(20_992));
    assert_eq!((of(Quantity::Free), of(Quantity::Total), of(Quantity::Budget)), (Some(78.57), Some(79.18), Some(71.26)));
    assert_eq!((of(Quantity::Weights), of(Quantity::Activations)), (Some(14.99), Some(4.76)));
    assert_eq!((of(Quantity::Outside), of(Quantity::Graphs)), (Some(0.13), Some(-0.45)));
}

#[test]
fn the_trainer_in_its_four_forms() {
    let forms = [
        "  train_mem_gpu_alloc_delta  =      693MB\n  train_mem_gpu_peaked_delta =        7MB",
        "{'train_mem_gpu_alloc_delta': 726663168, 'train_mem_cpu_peaked_delta': 0, 'train_mem_gpu_peaked_delta': 7340032, 'before_init_mem_gpu': 4747206656}",
        "{\"train_mem_gpu_alloc_delta\": 726663168, \"train_mem_gpu_peaked_delta\": 7340032}",
        "| train_mem_gpu_alloc_delta | 726663168 |\n| train_mem_gpu_peaked_delta | 7340032 |",
    ];
    for form in forms {
        let notes = read(form);
        let train = notes.iter().find(|note| note.stage.as_ref().map(SafeText::as_str) == Some("train")).expect(form);
        assert_eq!(mib(&train.last, Quantity::Delta), Some(693.0), "{form}");
        assert_eq!(mib(&train.last, Quantity::PeakedDelta), Some(7.0), "{form}");
    }
    assert_eq!(read(forms[1])[1].last.get(Quantity::Before), Some(4_747_206_656));
}

#[test]
fn lightning_in_a_table() {
    let notes = read(
        "DeviceStatsMonitor.on_train_batch_start/allocated_bytes.all.current,DeviceStatsMonitor.on_train_batch_start/reserved_bytes.all.peak,epoch,step\n\
        1048576,4194304,0,0\n,,0,1\nsomething else\n2097152,4194304,0,2",
    );
    assert_eq!((notes.len(), notes[0].count), (1, 2));
    assert_eq!(mib(&notes[0].last, Quantity::Allocated), Some(2.0));
    assert_eq!(mib(&notes[0].last, Quantity::MaxReserved), Some(4.0));
    let old = read("\"device_id: 0/memory.used (MB)\",step\n1000.0,1");
    assert_eq!(mib(&old[0].last, Quantity::Used), Some(1000.0));
}

#[test]
fn what_a_tool_did_not_print_is_absent() {
    assert_eq!(read("MA Max_MA nothing here").len(), 0);
    assert_eq!(read("Available KV cache memory: unknown").len(), 0);
    let cut = read("[Rank 0] memory (MB) | allocated: 5.0 | max allo");
    assert_eq!(cut[0].last.get(Quantity::MaxAllocated), None);
}
