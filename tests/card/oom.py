"""One out-of-memory situation on a real card, and the truth about it as JSON on stdout.

python3 oom.py NAME OUTDIR: too-big full fragmented neighbour fraction graph cublas pinned; or `hold GIB`, which holds memory until its stdin is closed.
The error goes to stderr as torch prints it, so that a log of it is what anybody has.
"""
import ctypes
import json
import sys
import threading
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
    # Blocks of 1 GiB split from segments of 2, every second one freed: much is unused, and nothing in one piece.
    small = [take(0.5) for _ in range(8)]
    del small
    torch.cuda.empty_cache()
    segments = []
    while free_gib() > 12:
        whole = take(2)
        del whole
        half, rest = take(1), take(1)
        segments.append(half)
        del rest
    take(free_gib() + 6)


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
    graphs, side = [], torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(4):
            captured = torch.cuda.CUDAGraph()
            with torch.cuda.graph(captured, stream=side):
                parts = [take(6) for _ in range(4)]
                del parts
            graphs.append(captured)
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
    # A limit on locked pages is not asked by the driver: what fails is host memory that there is not.
    from torch.utils.data import DataLoader, Dataset

    pages = int(open("/proc/meminfo").read().split("MemTotal:")[1].split()[0]) * 1024

    class Huge(Dataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            # Expanded: it takes no memory until the loader's thread copies it into locked pages.
            return torch.zeros(1, dtype=torch.uint8).expand(4 * pages)

    torch.zeros(1, device="cuda")
    next(iter(DataLoader(Huge(), batch_size=None, pin_memory=True, num_workers=1)))


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


def main():
    if NAME == "hold":
        return hold(OUTDIR)
    torch.cuda.init()
    history = threading.Event()
    try:
        torch.cuda.memory._record_memory_history(max_entries=10000)
        history.set()
    except Exception:  # an older torch, without it
        pass
    try:
        {"too-big": too_big, "graph": graph}.get(NAME, globals().get(NAME))()
        failed = False
    except Exception:
        traceback.print_exc()
        failed = True
        error = sys.exc_info()[1]
        del error
    truth(failed)
    if history.is_set() and NAME not in ("cublas", "pinned"):
        torch.cuda.memory._dump_snapshot(f"{OUTDIR}/{NAME}.pickle")
    sys.exit(1 if failed else 0)


main()
