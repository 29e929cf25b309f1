#!/usr/bin/env bash
# Makes the recording that is built into the binary, on a machine with two H200s: demo.sh VRAMTOP OUT.jsonl [SECONDS]
# Afterwards assets/demo.jsonl.gz is that file, packed by gzip -9n, with UUIDs and the host's name replaced (tests/card/anonymise.py).
set -u
vramtop=$1 out=$2 seconds=${3:-390}
. "$(dirname "$0")/jobs.sh"
people
s=$((seconds + 60))
job cleo 1 "hold --gib 96 --seconds $s" "$python" bin/vllm serve Qwen/Qwen3-32B --port 8000
job bob 0 "hold --gib 17.5 --seconds $s" env JPY_SESSION_NAME=/home/bob/probe.ipynb "$python" -m ipykernel_launcher -f /home/bob/.local/share/jupyter/runtime/kernel-1f2e.json
sleep 6
"$vramtop" -l 1 -n "$seconds" --format json -o "$out" &
log=$!
sleep 8
job ann 0,1 "grow --gib 58 --rate 0.03 --seconds $s" env WORKLOAD_1="grow --gib 24 --rate 0.004 --seconds $s" \
  "$python" -m torch.distributed.run --standalone --nproc_per_node 2 train.py --config configs/7b.yaml --bs 16
sleep 20
job cleo 0 "saw --gib 9 --seconds $s" "$python" eval.py --split test
sleep 15
job bob 1 "spike --gib 2.4 --seconds $s" "$python" embed.py --model bge-large
sleep $((seconds / 2 - 40))
job ann 0 "die --gib 4 --rate 0.7 --seconds 120" "$python" sweep.py --lr 3e-4
wait $log
stop_jobs
