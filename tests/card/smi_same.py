"""Compares vramtop's dialect with the real nvidia-smi, name by name: smi_same.py VRAMTOP

Every name of src/output/smi/names.txt in every form, the fields of --query-compute-apps, and -L. A field that moves (power, temperature,
clocks, utilization, time) is asked up to five times. Prints what differs, and how many names are the same; exit code 1 if any differs.
"""
import pathlib
import subprocess
import sys

FORMS = ["csv", "csv,noheader", "csv,nounits", "csv,noheader,nounits", "csv, noheader"]
APPS = "gpu_name gpu_bus_id gpu_serial gpu_uuid pid process_name name used_gpu_memory used_memory".split()
vramtop = sys.argv[1]


def say(program, *args):
    done = subprocess.run([program, *args], capture_output=True, text=True)
    return done.returncode, done.stdout


def differs(*args):
    """None where vramtop does not offer it; else what each said when they last differed, or an empty list."""
    for _ in range(5):
        ours, theirs = say(vramtop, *args), say("nvidia-smi", *args)
        if ours[0] == 2 and theirs[0] == 0:
            return None
        # A refusal has each program's own text.
        if ours == theirs or ours[0] == theirs[0] == 2:
            return []
    return [ours, theirs]


names = pathlib.Path(__file__).parents[2].joinpath("src/output/smi/names.txt").read_text().split()
questions = [(f"--query-gpu={name}", f"--format={form}") for name in names if name != "timestamp" for form in FORMS]
questions += [(f"--query-compute-apps={name}", f"--format={form}") for name in APPS for form in FORMS]
questions += [("-L",), ("--query-gpu=index,name", "-i", "0"), ("--query-gpu=memory.used",)]
same = wrong = 0
for question in questions:
    told = differs(*question)
    if told:
        wrong += 1
        print(question, *told, sep="\n  ", flush=True)
    elif told is not None:
        same += 1
print(f"{same} answers are the same, {wrong} differ")
sys.exit(wrong > 0)
