"""A process that holds GPU memory in one of the ways that people's jobs do. Needs torch; used by tests/card/*.sh on a real card.

    WORKLOAD="KIND --gib N --seconds S" python workload.py [arguments that only make the command line look like somebody's]

KIND: grow (a base, plus a little more every second), saw (fills and empties), hold (takes it and sleeps), spike (a base, and
for 50 ms every few seconds much more), train (real matrix work on a growing list), die (grows until it is out of memory).
"""
import argparse
import os
import time

import torch

GIB = 1 << 30


def take(gib):
    return torch.empty(int(gib * GIB), dtype=torch.uint8, device="cuda")


def work(size=4096):
    a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    (a @ a).sum().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["grow", "saw", "hold", "spike", "train", "die"])
    parser.add_argument("--gib", type=float, default=4.0)
    parser.add_argument("--rate", type=float, default=0.02, help="GiB a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    rank = os.environ.get("LOCAL_RANK", "0")
    known = parser.parse_args(os.environ.get(f"WORKLOAD_{rank}", os.environ["WORKLOAD"]).split())
    torch.cuda.set_device(int(rank))
    until = time.monotonic() + known.seconds
    kept = [take(known.gib)]
    turn = 0
    while time.monotonic() < until:
        turn += 1
        if known.kind == "grow":
            kept.append(take(known.rate))
            busy = time.monotonic() + 0.75
            while time.monotonic() < busy:
                work(8192)
            time.sleep(0.2)
        elif known.kind == "saw":
            extra = []
            for _ in range(8):
                extra.append(take(known.gib / 10))
                for _ in range(30):
                    work(8192)
                time.sleep(0.7)
            del extra
            torch.cuda.empty_cache()
        elif known.kind == "hold":
            time.sleep(0.5)
        elif known.kind == "spike":
            burst = take(known.gib * 4)
            torch.cuda.synchronize()
            began = time.time()
            time.sleep(0.05)
            del burst
            torch.cuda.empty_cache()
            print(f"spike {began:.3f} {time.time() - began:.3f}", flush=True)
            time.sleep(4)
        elif known.kind == "train":
            work(8192)
        elif known.kind == "die":
            kept.append(take(known.rate * 10))
            time.sleep(0.5)
            work(2048)


main()
