//! Command lines as they are met, and the names they should get.

use super::super::{Facts, argv, interpreters, name, rules};
use super::{Variable, named};

/// One case is two lines: the command, then `short | full` (or one name where they are the same).
/// Before the `$` stand what is known besides: `comm=…`, `title` (one string, as a process writes
/// over its arguments), or variables. A `·` is a space inside an argument.
const CASES: &str = r"
# Python: scripts, modules, code.
$ python train.py --config configs/7b.yaml
train.py | train.py --config 7b.yaml
$ /opt/conda/envs/llm/bin/python3.11 -u /home/ann/exp/train.py --config configs/7b.yaml --bs 16 --num-workers 8
train.py | train.py --config 7b.yaml --bs 16
$ python3 train.py --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size=4 --output_dir /scratch/out
train.py | train.py --model_name_or_path Llama-3.1-8B --per_device_train_batch_size=4
$ python3 -X frozen_modules=off -W ignore finetune.py --data /data/c4/en --seed 3 --fp16
finetune.py | finetune.py --data en --seed 3
$ python train.py model=llama data.name=c4 trainer.max_epochs=3 +experiment=long
train.py | train.py model=llama data.name=c4 +experiment=long
$ python tools/train.py configs/rtdetr/r50.py --amp
train.py | train.py r50.py
$ python train.py --token hf_abcdefghijklmnopqrst --name sweep-3
train.py | train.py --name sweep-3
$ python train.py --name hf_abcdefghijklmnopqrst
train.py | train.py --name ***
$ python train.py --data https://bob:pw@host/set.json --config=a.yaml
train.py | train.py --data *** --config=a.yaml
$ python train.py --config a.yaml --seed 1 --lr 3e-4 --bs 8 --model gpt2 --data c4
train.py | train.py --config a.yaml --bs 8 --model gpt2 --data c4
$ python train.py --resume --config a.yaml
train.py | train.py --config a.yaml
$ python -m pkg.mod --config a.yaml
pkg.mod | pkg.mod --config a.yaml
$ python -um nemo.collections.llm.recipes.pretrain --name big
llm.recipes.pretrain | nemo.collections.llm.recipes.pretrain --name big
$ python3 -m lightning_app.__main__ fit -c conf/fit.yaml
lightning_app | lightning_app fit -c fit.yaml
$ python /srv/app/trainer/__main__.py
trainer
$ /usr/bin/python3.12 /home/u/.local/bin/axolotl train examples/qlora.yml
axolotl | axolotl train qlora.yml
$ python
python (interactive)
$ python3 -i
python (interactive)
$ python -
python (stdin)
$ python -c import·torch;·x·=·torch.zeros(1<<30).cuda();·input()
python -c | python -c import torch; x = torch.zeros(1<<30).cu…
$ python -c login(token='abcdef');·run()
python -c | python -c login(token=*** run()
$ /usr/bin/python3.13t bench.py
bench.py
$ python -m debugpy --listen 5678 train.py --config a.yaml
train.py | train.py --config a.yaml
$ python -m cProfile -o prof.out train.py --bs 2
train.py | train.py --bs 2
$ python3 /usr/bin/ipython
ipython
# The children of pools.
$ /usr/bin/python3 -c from·multiprocessing.spawn·import·spawn_main;·spawn_main(tracker_fd=5,·pipe_handle=7) --multiprocessing-fork
python worker (spawn)
$ /usr/bin/python3 -c from·multiprocessing.resource_tracker·import·main;main(4)
python resource tracker
$ python3 -c from·multiprocessing.forkserver·import·main;·main(9,·11,·['__main__'],·**{})
python worker (forkserver)
$ python -m joblib.externals.loky.backend.popen_loky_posix --process-name LokyProcess-1 --pipe 13
python worker (loky)
$ /opt/venv/bin/python3 /opt/venv/lib/python3.12/site-packages/torch/_inductor/compile_worker/__main__.py --pickler=x --kind=fork --workers=32
torch compile worker
# Launchers.
$ python -u -m torch.distributed.run --nproc-per-node 8 train.py --config a.yaml
torchrun train.py | torchrun train.py --config a.yaml
$ /opt/venv/bin/python /opt/venv/bin/torchrun --standalone --nproc_per_node=gpu -m pkg.train --bs 4
torchrun pkg.train | torchrun pkg.train --bs 4
$ python /opt/venv/bin/accelerate launch --config_file fsdp.yaml train.py --bs 8
accelerate train.py | accelerate train.py --bs 8
$ /usr/bin/python3 /usr/local/bin/deepspeed --num_gpus 4 train.py --deepspeed ds.json
deepspeed train.py
$ python -u -m deepspeed.launcher.launch --world_info=eyJsb2NhbGhvc3QiOiBbMF19 --master_port=29500 train.py --model gpt2
deepspeed train.py | deepspeed train.py --model gpt2
$ mpirun -np 8 python train.py --config a.yaml
mpirun train.py | mpirun train.py --config a.yaml
$ torchrun --help
torchrun
# Notebooks.
JPY_SESSION_NAME=/home/ann/work/probe.ipynb $ /opt/venv/bin/python -m ipykernel_launcher -f /home/ann/.local/share/jupyter/runtime/kernel-3f2a9c11-be04-4f6e-9d53-0b9f7d2f2f3a.json
notebook probe.ipynb
JPY_SESSION_NAME=probe-of-attention.ipynb $ python -m ipykernel_launcher -f /run/kernel-1.json
probe-of-attention.ipynb | notebook probe-of-attention.ipynb
$ python -m ipykernel_launcher -f /home/ann/.local/share/jupyter/runtime/kernel-3f2a9c11-be04-4f6e-9d53-0b9f7d2f2f3a.json
notebook kernel-3f2a9c11
$ python -Xfrozen_modules=off -m ipykernel_launcher --f=/home/ann/.local/share/jupyter/runtime/kernel-v3b1c2d3e4f5.json
notebook kernel-b1c2d3e4
$ python3 /usr/local/lib/python3.12/dist-packages/ipykernel_launcher.py
notebook kernel
$ /usr/bin/python3 /home/ann/.local/bin/jupyter-lab --no-browser --NotebookApp.token=abc
jupyter | jupyter lab
$ python -m jupyter nbconvert --execute report.ipynb
jupyter | jupyter nbconvert report.ipynb
$ python /usr/bin/papermill in/probe.ipynb out.ipynb
papermill | papermill probe.ipynb out.ipynb
# Model servers.
$ /opt/venv/bin/python /opt/venv/bin/vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --api-key sk-0123456789abcdef
vllm Qwen3-32B
$ python3 -m vllm.entrypoints.openai.api_server --host 0.0.0.0 --model meta-llama/Llama-3.1-70B-Instruct
vllm Llama-3.1-70B | vllm Llama-3.1-70B-Instruct
$ vllm serve /root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/9c925d64d72725edaf899c6cb9c377fd0709d9c5
vllm Qwen3-8B
$ vllm serve --config serve.yaml
vllm serve | vllm serve --config serve.yaml
title $ VLLM::EngineCore
vllm engine
$ VLLM::EngineCore_DP0
vllm engine DP0
$ VLLM::Worker_TP3
vllm worker TP3
$ python3 -m sglang.launch_server --model-path Qwen/Qwen2.5-7B-Instruct --port 30000
sglang Qwen2.5-7B | sglang Qwen2.5-7B-Instruct
title $ sglang::scheduler_TP0
sglang scheduler TP0
$ sglang::detokenizer
sglang detokenizer
$ text-generation-launcher --model-id mistralai/Mistral-7B-v0.1 --num-shard 2
tgi Mistral-7B-v0.1
$ /opt/conda/bin/python3.10 /opt/conda/bin/text-generation-server serve bigcode/starcoder --sharded
tgi starcoder
MODEL_ID=BAAI/bge-m3 $ text-embeddings-router --port 80
tei bge-m3
$ /usr/local/bin/ollama serve
ollama serve
$ /usr/local/bin/ollama runner --model /usr/share/ollama/.ollama/models/blobs/sha256-667b0c1932bc6ffc593ed1d03f895bf2dc8dc6df21db3042284a6f4416b06a29 --ctx-size 8192 --port 40231
ollama runner
$ ollama run llama3.1:8b
ollama llama3.1:8b
$ ollama runner --ollama-engine --model gemma3:4b --port 40231
ollama gemma3:4b
$ ./build/bin/llama-server -m /models/Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 32768
llama-server Qwen3-8B | llama-server Qwen3-8B-Q4_K_M.gguf
$ llama-server -hf ggml-org/gemma-3-1b-it-GGUF
llama-server gemma-3-1b | llama-server gemma-3-1b-it-GGUF
$ python -m llama_cpp.server --model models/phi-2.gguf
llama-cpp phi-2 | llama-cpp phi-2.gguf
$ /opt/venv/bin/python /opt/venv/bin/lmdeploy serve api_server internlm/internlm3-8b-instruct --tp 2
lmdeploy internlm3-8b | lmdeploy internlm3-8b-instruct
$ tritonserver --model-repository=/models
triton server
$ /opt/tritonserver/backends/python/triton_python_backend_stub /models/pre/1/model.py triton_python_backend_shm_region_1
triton stub
$ python /srv/ComfyUI/main.py --listen 0.0.0.0
comfyui
PWD=/srv/ComfyUI $ python main.py
comfyui
PWD=/home/u/stable-diffusion-webui $ python3 -u launch.py --xformers
sd-webui
PWD=/home/u/project $ python main.py
main.py
# Titles.
$ ray::train_fn()
ray::train_fn
$ ray::Worker.train()
ray::Worker | ray::Worker.train
$ ray::IDLE
ray::IDLE
title $ postgres: walwriter
postgres | postgres: walwriter
title $ sweep-7 lr=3e-4 --token abc
sweep-7 | sweep-7 lr=3e-4 --token ***
title $ python train.py --bs 4
train.py | train.py --bs 4
# Wrappers.
$ numactl -N 0 --membind=0 python train.py --bs 8
train.py | train.py --bs 8
$ nice -n 10 ionice -c 3 python train.py
train.py
$ env -u DISPLAY CUDA_VISIBLE_DEVICES=0 HF_TOKEN=hf_abcdefghijklmnop python train.py
train.py
$ timeout -k 5 1h stdbuf -oL python3 eval.py --task mmlu
eval.py | eval.py --task mmlu
$ /opt/nvidia/nsys profile -t cuda,nvtx -o out --stats=true python train.py
train.py
$ ncu --set full -o report ./matmul 4096
matmul
$ compute-sanitizer --tool memcheck ./a.out
a.out
$ python3 /opt/conda/bin/conda run --no-capture-output -n llm python train.py
train.py
$ uv run --with torch train.py --config a.yaml
train.py | train.py --config a.yaml
$ poetry run python -m pkg.mod
pkg.mod
$ sudo -u ann CUDA_VISIBLE_DEVICES=1 python train.py
train.py
$ /usr/bin/tini -g -- python serve.py --model gpt2
serve.py | serve.py --model gpt2
$ taskset -c 0-3 ./gpu_burn 60
gpu_burn
$ /bin/bash /opt/nvidia/nvidia_entrypoint.sh python train.py --bs 2
train.py | train.py --bs 2
$ /bin/sh /docker-entrypoint.sh tritonserver
triton server
$ bash -lc cd·/work·&&·source·venv/bin/activate·&&·exec·python·train.py·--name·'big·one'·>·log·2>&1
train.py | train.py --name big one
$ sh -c for·i·in·1·2;·do·CUDA_VISIBLE_DEVICES=$i·python·eval.py;·done
eval.py
$ sh run.sh --config a.yaml
run.sh | run.sh --config a.yaml
$ -bash
bash
# Other interpreters.
$ java -Xmx4g -cp a.jar:b.jar com.example.Main --config app.conf
com.example.Main | com.example.Main --config app.conf
$ java -jar /opt/h2o/h2o.jar -name cloud
h2o.jar | h2o.jar -name cloud
$ node --max-old-space-size=4096 server.js
server.js
$ julia --project=. -t 8 sim.jl --config a.toml
sim.jl | sim.jl --config a.toml
$ /usr/lib/R/bin/exec/R --no-echo --no-restore --file=fit.R
fit.R
$ Rscript fit.R --data iris.csv
fit.R | fit.R --data iris.csv
$ /usr/local/MATLAB/R2024a/bin/glnxa64/MATLAB -nodesktop -batch train_model
matlab | matlab train_model
# Desktops and plain binaries.
$ /usr/lib/xorg/Xorg -core :0 -seat seat0 -auth /var/run/lightdm/root/:0
Xorg
$ X :0
Xorg
$ /usr/bin/Xwayland :0 -rootless -auth /run/user/1000/.mutter-Xwaylandauth
Xwayland
$ /usr/bin/gnome-shell --mode=ubuntu
gnome-shell
$ /usr/lib/firefox/firefox -contentproc -childID 5 -isForBrowser -parentBuildID 20250101 gpu
firefox | firefox gpu
$ /usr/lib/firefox/firefox -contentproc {a1} 12345 true
firefox
$ /usr/lib/firefox/firefox
firefox
title $ /opt/google/chrome/chrome --type=gpu-process --crashpad-handler-pid=3 --enable-crash-reporter
chrome gpu-process
comm=slack $ /proc/self/exe --type=gpu-process --no-sandbox
slack gpu-process
$ blender -b /home/u/shots/scene.blend -a
blender | blender -b scene.blend
$ ./nccl-tests/build/all_reduce_perf -b 8 -e 8G
all_reduce_perf
comm=My·App $ /opt/My·Apps/My·App
My App
$ C:\Program·Files\Epic\Game.exe -windowed
Game
title $ C:\Program Files\Epic\Game.exe -windowed
Game
comm=nvidia-modeset/ $
[nvidia-modeset/]
$
[?]
";

struct Case {
    line: String,
    comm: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    short: String,
    full: String,
}

impl Case {
    fn env(&self) -> Vec<Variable<'_>> {
        self.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

fn cases() -> Vec<Case> {
    let mut lines = CASES.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    let mut cases = Vec::new();
    while let Some(line) = lines.next() {
        let expected = lines.next().unwrap();
        let (short, full) = expected.split_once(" | ").unwrap_or((expected, expected));
        let (known, command) = line.split_once('$').unwrap();
        let (mut comm, mut title, mut env) = (String::new(), false, Vec::new());
        for word in known.split_whitespace() {
            match word.split_once('=') {
                Some(("comm", name)) => comm = name.replace('·', " "),
                Some((name, value)) => env.push((name.to_owned(), value.to_owned())),
                None => title = word == "title",
            }
        }
        let command = command.trim();
        let args =
            if title { vec![command.to_owned(), String::new()] } else { command.split_whitespace().map(|word| word.replace('·', " ")).collect() };
        let (line, short, full) = (line.to_owned(), short.to_owned(), full.to_owned());
        cases.push(Case { line, comm, args, env, short, full });
    }
    cases
}

/// The command lines of the cases, for other tests to spoil.
pub(super) fn command_lines() -> Vec<Vec<String>> {
    cases().into_iter().map(|case| case.args).collect()
}

#[test]
fn command_lines_get_their_names() {
    let cases = cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let what = named(&case.comm, &case.args, &case.env(), "");
            let right = (&what.short, &what.full) == (&case.short, &case.full);
            (!right).then(|| format!("{}\n  {:?} | {:?}", case.line, what.short, what.full))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_has_an_example() {
    let mut unused: Vec<&str> = rules::RULES.iter().map(|rule| rule.name).collect();
    for case in cases() {
        let facts = Facts { comm: &case.comm, args: &case.args, env: &|_| None, cgroup: "" };
        let program = interpreters::program(argv::argv(facts.args, facts.comm));
        let env = case.env();
        let lookup = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let seen = name::Seen { program, facts: &Facts { env: &lookup, ..facts } };
        let rule = rules::RULES.iter().find(|rule| (rule.names)(&seen).is_some()).unwrap();
        unused.retain(|name| *name != rule.name);
    }
    assert!(unused.is_empty(), "{unused:?}");
}
