"""One out-of-memory situation on a real card, and the truth about it as JSON on stdout.

python3 oom.py NAME OUTDIR: too-big full fragmented neighbour fraction graph cublas pinned; or `hold GIB`, which holds memory until its stdin is closed.
The error goes to stderr as torch prints it, so that a log of it is what anybody has.
"""
import ctypes
import json
import os
import sys
import traceback

import torch

GIB = 1 << 30
NAME, OUTDIR = sys.argv[1], sys.argv[2]


def take(gib):
    return torch.empty(int(gib * GIB), dtype=torch.uint8, device="cuda")


def free_gib():
    return torch.cuda.mem_get_info()[0] / GIB


def too_big():
    kept = take(20)
    take(free_gib() + 60)
    del kept


def full():
    kept = []
    while True:
        kept.append(take(2))


def fragmented():
    # Two blocks share each segment of 2 GiB, and all are held until the card is nearly full: a block that is freed at once would be the place of
    # the next, since torch takes the best fit. Then every second block goes: half of each segment is free, and no segment can be given back.
    first, second = [], []
    while free_gib() > 12:
        whole = take(2)
        del whole
        first.append(take(1))
        second.append(take(1))
    del second
    take(free_gib() + 6)
    del first


def neighbour():
    kept = take(2)
    take(free_gib() + 4)
    del kept


def fraction():
    torch.cuda.set_per_process_memory_fraction(0.25)
    kept = take(30)
    take(12)
    del kept


def graph():
    torch.zeros(1, device="cuda")
    graphs = []
    side = torch.cuda.Stream()
    for _ in range(4):
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured, stream=side):
            # Work, so that there is something to be captured. What it used stays in the graph's own pool, and torch names only that.
            parts = [take(6) for _ in range(4)]
            for part in parts:
                part.zero_()
            del part, parts
        graphs.append(captured)
    graphs[0].replay()
    torch.cuda.synchronize()
    kept = take(free_gib() - 8)
    take(14)
    del kept, graphs


def cublas():
    # Everything that is free goes to another allocator, so that the library's handle has no room.
    torch.zeros(1, device="cuda")
    left, right = torch.ones(64, 64, device="cuda"), torch.ones(64, 64, device="cuda")
    runtime = ctypes.CDLL(next(path for path in runtimes() if path))
    for size in (1 << 30, 64 << 20, 4 << 20, 2 << 20, 1 << 20):
        pointer = ctypes.c_void_p()
        while runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0:
            pass
        runtime.cudaGetLastError()
    left @ right
    torch.cuda.synchronize()


def runtimes():
    with open("/proc/self/maps") as maps:
        return [line.split()[-1] for line in maps if "libcudart" in line]


def pinned():
    # A limit on locked pages is not asked by the driver: what fails is host memory that there is not. A sparse file takes none until the
    # loader wants a copy of it in locked pages.
    from torch.utils.data import DataLoader, Dataset

    with open("/proc/meminfo") as facts:
        size = 4 * int(facts.read().split("MemTotal:")[1].split()[0]) * 1024
    path = os.path.join(OUTDIR, "sparse.bin")

    class Huge(Dataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return torch.from_file(path, shared=True, size=size, dtype=torch.uint8)

    torch.zeros(1, device="cuda")
    try:
        with open(path, "wb") as file:
            file.truncate(size)
        next(iter(DataLoader(Huge(), batch_size=None, pin_memory=True, num_workers=0)))
    finally:
        if os.path.exists(path):
            os.remove(path)
    # Where that was possible, it is asked for outright.
    torch.empty(16 * size, dtype=torch.uint8, pin_memory=True)


def hold(gib):
    kept = take(float(gib))
    torch.cuda.synchronize()
    print("held", flush=True)
    sys.stdin.read()
    del kept


def truth(failed):
    free, total = torch.cuda.mem_get_info()
    stats = torch.cuda.memory_stats()
    keys = ["allocated_bytes", "reserved_bytes", "inactive_split_bytes"]
    facts = {key.removesuffix("_bytes"): stats.get(f"{key}.all.current") for key in keys}
    print(json.dumps({"name": NAME, "failed": failed, "free": free, "total": total, "ooms": stats.get("num_ooms"), **facts}), flush=True)
    if NAME not in ("cublas", "pinned"):
        try:
            torch.cuda.memory._dump_snapshot(f"{OUTDIR}/{NAME}.pickle")
        except Exception as error:  # an older torch, without it; the error in hand is the one that counts
            print(f"no snapshot: {error}", file=sys.stderr)


def main():
    if NAME == "hold":
        return hold(OUTDIR)
    torch.cuda.init()
    try:
        torch.cuda.memory._record_memory_history(max_entries=10000)
    except Exception:  # an older torch, without it
        pass
    try:
        {"too-big": too_big}.get(NAME, globals().get(NAME))()
    except Exception:
        traceback.print_exc()
        # Read here: the frames of the traceback still hold the tensors, and give them back when this block is left.
        truth(True)
        sys.exit(1)
    truth(False)


main()
