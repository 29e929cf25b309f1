"""Holds a vramtop log against nvidia-smi's of the same time: compare.py LOG.jsonl SMI.csv SPIKES.log

For each line of nvidia-smi: the vramtop samples within 250 ms, and whether one of them, or its lane, has the same MiB.
"""
import datetime
import json
import sys


def main(log, smi, spikes):
    samples, changes, maxima = [], [], []
    offset = None
    for line in open(log):
        record = json.loads(line)
        if record["type"] != "sample":
            continue
        at = datetime.datetime.fromisoformat(record["time"].replace("Z", "+00:00")).timestamp()
        memory = record["gpus"][0]["memory"]
        offset = at - record["elapsed_ms"] / 1000
        samples.append((at, memory["used"]))
        maxima.append((memory["used_min"], memory["used_max"]))
        changes += [(offset + ms / 1000, used) for ms, used in memory["lane"] if used is not None]
    mib = lambda b: -(-b // 1048576)
    same = near = total = 0
    for line in open(smi):
        try:
            stamp, _, used = [part.strip() for part in line.split(",")]
            at = datetime.datetime.strptime(stamp, "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=datetime.timezone.utc).timestamp()
        except ValueError:
            continue
        if not samples[0][0] <= at <= samples[-1][0]:
            continue
        total += 1
        values = {mib(u) for t, u in samples if abs(t - at) <= 0.25} | {mib(u) for t, u in changes if abs(t - at) <= 0.25}
        before = [u for t, u in changes if t <= at]
        values |= {mib(before[-1])} if before else set()
        same += int(used) in values
        near += any(abs(int(used) - v) <= 1 for v in values)
    print(f"nvidia-smi lines in the window: {total}; the same MiB: {same}; within 1 MiB: {near}")
    higher = [high for low, high in maxima if high > low + (1 << 30)]
    print(f"samples whose used_max is over 1 GiB above their used_min: {len(higher)}; spikes that the job made in the window:",
          sum(1 for line in open(spikes) if line.startswith("spike") and samples[0][0] <= float(line.split()[1]) <= samples[-1][0]))


main(*sys.argv[1:])
