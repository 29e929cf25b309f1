#!/usr/bin/env bash
# What is checked on a real card, beside nvidia-smi: check.sh VRAMTOP OUTDIR. Needs root, torch and cc.
set -u
vramtop=$1 out=$2
mkdir -p "$out"
. "$(dirname "$0")/jobs.sh"
people

echo "== the machine"; nvidia-smi -L | sed 's/GPU-[0-9a-f-]*/GPU-…/'; nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1
echo "== --once on an idle card, beside nvidia-smi"
"$vramtop" --once; nvidia-smi --query-gpu=index,memory.total,memory.used,memory.reserved,memory.free,temperature.gpu,power.draw --format=csv

cat >/tmp/bare.c <<'C'
#include <dlfcn.h>
int main(void) {
  void *lib = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  if (!lib) return 1;
  int (*init)(void) = (int (*)(void))dlsym(lib, "nvmlInit_v2"), (*down)(void) = (int (*)(void))dlsym(lib, "nvmlShutdown");
  return init() || down();
}
C
cc -O2 -o /tmp/bare /tmp/bare.c -ldl
python3 - "$vramtop" <<'PY'
import statistics, subprocess, sys, time
commands = {"bare init + shutdown": ["/tmp/bare"], "vramtop --once": [sys.argv[1], "--once"],
            "nvidia-smi --query-gpu=memory.used": ["nvidia-smi", "--query-gpu=memory.used", "--format=csv"],
            "nvidia-smi, the same figures": ["nvidia-smi", "--query-gpu=name,memory.total,memory.used,memory.free,utilization.gpu,temperature.gpu,power.draw,enforced.power.limit", "--format=csv"]}
times = {name: [] for name in commands}
for _ in range(30):
    for name, command in commands.items():
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times[name].append((time.perf_counter() - began) * 1000)
print("== wall in ms, in turn, 30 rounds: median, lowest, highest")
for name, all_ms in times.items():
    print(f"{name:40} {statistics.median(all_ms):7.1f} {min(all_ms):7.1f} {max(all_ms):7.1f}")
PY

echo "== two jobs on GPU 0: the ledger, beside nvidia-smi"
job ann 0 "train --gib 40 --seconds 75" "$python" -u train.py --config configs/7b.yaml --bs 16
job bob 0 "spike --gib 6 --seconds 75" "$python" embed.py --model bge-large
sleep 14
"$vramtop" --once; "$vramtop" --once --format json | tee "$out/once.json" | python3 -c '
import json, sys
for gpu in json.load(sys.stdin)["gpus"]:
    m = gpu["memory"]
    total = m["free"] + m["driver"] + m["host"] + m["processes"] + m["unattributed"] - m["overlap"]
    print("GPU", gpu["index"], {k: m[k] for k in ("total", "free", "driver", "processes", "unattributed", "overlap")}, "adds up:", total == m["total"])'
nvidia-smi --query-compute-apps=pid,used_memory --format=csv; nvidia-smi --query-gpu=memory.used,memory.free --format=csv

echo "== -l 0.2 beside nvidia-smi -lms 200 for 20 s of training"
job cleo 0 "grow --gib 2 --rate 0.4 --seconds 40" "$python" eval.py --split test
sleep 8
nvidia-smi --query-gpu=timestamp,index,memory.used --format=csv,noheader,nounits -lms 200 -i 0 >"$out/smi.csv" & smi=$!
"$vramtop" -l 0.2 -n 100 -i 0 --format json -o "$out/log.jsonl"
kill $smi
python3 "$card/compare.py" "$out/log.jsonl" "$out/smi.csv" "$jobs/bob.log"
echo "== own cost while logging"; tail -1 "$out/log.jsonl" | python3 -c 'import json,sys; print(json.loads(sys.stdin.readline()).get("own"))'

if command -v tmux >/dev/null; then
  echo "== the dashboard in tmux, 120x36"
  LC_ALL=C.UTF-8 tmux -u -L card new-session -d -x 120 -y 36 "COLORTERM=truecolor $vramtop"
  sleep 5
  tmux -L card capture-pane -p -t 0; tmux -L card capture-pane -e -p -t 0 >"$out/dash.ansi"
  tmux -L card send-keys q; sleep 0.3; tmux -L card kill-server 2>/dev/null
fi
stop_jobs
