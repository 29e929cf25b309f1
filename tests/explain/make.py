"""Writes the made-up snapshots of this folder: one story in every layout and protocol. Needs nothing but Python 3.

The story, in MiB (GPU 0):
  large, default pool   20: live 8, free 4, live 8          40: free 40
  small, default pool    2: live 1, freed and pending 0.5, free 0.5
  large, private 0:1    20: live 12, free 8
  large, stream 7       20: live 2, free 18
  expandable           100: live 10, free 60, live 10, free 20
GPU 1: one segment of 20, live 20.
Events of GPU 0: 100 MiB are allocated and freed again, 8 stay, then a request of 200 MiB fails with 30 MiB free on the card.
"""
import pickle
import struct

MIB = 1 << 20
BASE = 0x7F0000000000
def frame(f, l, n): return {"filename": f, "line": l, "name": n}
LINEAR = frame("/opt/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", 125, "forward")
MODEL = frame("/srv/job/model.py", 40, "forward")
LOOP = frame("/srv/job/train.py", 12, "main")
NATIVE = frame("??", 0, "torch::unwind::unwind()")
STACK_A = [NATIVE, LINEAR, MODEL, LOOP]
STACK_B = [NATIVE, LOOP]
STACK_C = [NATIVE, MODEL, MODEL, LOOP]


def segment(n, size, kind, blocks, pool=(0, 0), stream=0, expandable=False, device=0):
    address = BASE + n * 1024 * MIB
    at, made = address, []
    for mib, state, frames in blocks:
        nbytes = int(mib * MIB)
        made.append({"address": at, "size": nbytes, "requested_size": nbytes - 100 if state != "inactive" else nbytes, "state": state, "frames": frames})
        at += nbytes
    assert at == address + size * MIB
    live = sum(b["size"] for b in made if b["state"] == "active_allocated")
    active = sum(b["size"] for b in made if b["state"] != "inactive")
    return {"device": device, "address": address, "total_size": size * MIB, "allocated_size": live, "active_size": active,
            "requested_size": active, "stream": stream, "segment_type": kind, "segment_pool_id": pool, "is_expandable": expandable,
            "frames": [], "blocks": made}


LIVE, WAIT, FREE = "active_allocated", "active_pending_free", "inactive"
SEGMENTS = [
    segment(0, 20, "large", [(8, LIVE, STACK_A), (4, FREE, []), (8, LIVE, STACK_B)]),
    segment(1, 40, "large", [(40, FREE, [])]),
    segment(2, 2, "small", [(1, LIVE, STACK_A), (0.5, WAIT, STACK_A), (0.5, FREE, [])]),
    segment(3, 20, "large", [(12, LIVE, STACK_C), (8, FREE, [])], pool=(0, 1)),
    segment(4, 20, "large", [(2, LIVE, []), (18, FREE, [])], stream=7),
    segment(5, 100, "large", [(10, LIVE, STACK_B), (60, FREE, []), (10, LIVE, STACK_B), (20, FREE, [])], expandable=True),
    segment(6, 20, "large", [(20, LIVE, [])], device=1),
]
B0 = SEGMENTS[0]["blocks"][0]
BIG = BASE + 9 * 1024 * MIB


def event(action, addr, size, t, frames):
    key = "device_free" if action == "oom" else "addr"
    return {"action": action, key: addr, "size": size, "stream": 0, "time_us": 1_700_000_000_000_000 + t, "compile_context": "N/A",
            "user_metadata": "", "frames": frames}


TRACE = [
    event("segment_alloc", BIG, 100 * MIB, 0, STACK_A),
    event("alloc", BIG, 100 * MIB, 10, STACK_A),
    event("alloc", B0["address"], B0["requested_size"], 20, STACK_A),
    event("free_requested", BIG, 100 * MIB, 30, STACK_B),
    event("free_completed", BIG, 100 * MIB, 31, STACK_B),
    event("segment_free", BIG, 100 * MIB, 40, []),
    event("oom", 30 * MIB, 200 * MIB, 50, STACK_B),
    event("snapshot", 0, 0, 60, []),
]
SETTINGS = {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128", "max_split_size": 128 * MIB, "garbage_collection_threshold": 0.8,
            "expandable_segments": False, "roundup_power2_divisions": {"1": 0, "256": 4, "512": 2}}
WHOLE = {"segments": SEGMENTS, "device_traces": [TRACE, []], "allocator_settings": SETTINGS,
         "external_annotations": [{"device": 0, "name": "## optimizer ##", "stage": "START", "time_us": 1}]}


def old(segments):
    """The layout of torch 1.11 to 2.0: blocks without addresses, with a history of real sizes."""
    made = []
    for s in segments:
        s = {k: v for k, v in s.items() if k not in ("requested_size", "frames", "is_expandable", "segment_pool_id")}
        s["blocks"] = [{"size": b["size"], "state": b["state"], **({"history": [{"addr": b["address"], "real_size": b["requested_size"], "frames": b["frames"]},
                       {"addr": b["address"], "real_size": 1, "frames": []}]} if b["state"] != FREE else {})} for b in s["blocks"]]
        made.append(s)
    return made


def native(value):
    """As torch's own C++ writer does it: protocol 2, nothing but texts remembered, lists and dictionaries in one piece."""
    out, memo = bytearray(b"\x80\x02"), {}

    def put(v):
        if v is None: out.extend(b"N")
        elif v is True: out.extend(b"\x88")
        elif v is False: out.extend(b"\x89")
        elif isinstance(v, int):
            if 0 <= v < 256: out.extend(b"K" + bytes([v]))
            elif -2**31 <= v < 2**31: out.extend(b"J" + struct.pack("<i", v))
            else: out.extend(b"\x8a\x08" + struct.pack("<q", v))
        elif isinstance(v, float): out.extend(b"G" + struct.pack(">d", v))
        elif isinstance(v, str):
            if v in memo:
                n = memo[v]
                out.extend(b"h" + bytes([n]) if n < 256 else b"j" + struct.pack("<I", n))
                return
            data = v.encode()
            out.extend(b"X" + struct.pack("<I", len(data)) + data)
            memo[v] = len(memo)
            n = memo[v]
            out.extend(b"q" + bytes([n]) if n < 256 else b"r" + struct.pack("<I", n))
        elif isinstance(v, tuple):
            for x in v: put(x)
            out.extend({1: b"\x85", 2: b"\x86", 3: b"\x87"}[len(v)])
        elif isinstance(v, list):
            out.extend(b"](")
            for x in v: put(x)
            out.extend(b"e")
        else:
            out.extend(b"}(")
            for k, x in v.items(): put(k); put(x)
            out.extend(b"u")
    put(value)
    return bytes(out + b".")


if __name__ == "__main__":
    for protocol in range(6):
        with open(f"story-{protocol}.pickle", "wb") as f: pickle.dump(WHOLE, f, protocol)
    with open("story-native.pickle", "wb") as f: f.write(native(WHOLE))
    with open("story-list.pickle", "wb") as f: pickle.dump(SEGMENTS, f, 4)
    with open("story-old.pickle", "wb") as f: pickle.dump(old(SEGMENTS), f, 2)
    with open("story-early.pickle", "wb") as f: pickle.dump({"segments": old(SEGMENTS), "device_traces": [TRACE]}, f, 3)
