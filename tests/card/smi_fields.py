"""Captures what the real nvidia-smi says for every field that it knows, in its three formats: smi_fields.py OUT.json

{help_gpu, help_apps, list, gpu: {field: {csv, noheader, nounits}}, apps: {…}, all: {…}, unknown: [code, text], none: …}; UUIDs and serials are
replaced, everything else is as printed.
"""
import json
import re
import subprocess
import sys


def smi(*args):
    done = subprocess.run(["nvidia-smi", *args], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def fields(text):
    names = []
    for line in text.splitlines():
        if line.startswith('"'):
            names += re.findall(r'"([a-z0-9_.]+)"', line.split("//")[0])[:1]
    return names


FORMATS = {"csv": "csv", "noheader": "csv,noheader", "nounits": "csv,noheader,nounits", "units_off_header": "csv,nounits"}


def main(out):
    found = {"help_gpu": smi("--help-query-gpu")[1], "help_apps": smi("--help-query-compute-apps")[1], "list": smi("-L")[1], "gpu": {}, "apps": {}}
    for kind, option, text in [("gpu", "--query-gpu=", found["help_gpu"]), ("apps", "--query-compute-apps=", found["help_apps"])]:
        names = fields(text)
        for name in names:
            code, printed = smi(option + name, "--format=csv")
            found[kind][name] = {"code": code, "csv": printed}
        good = [name for name in names if found[kind][name]["code"] == 0]
        found[kind + "_all"] = {"fields": good, **{key: smi(option + ",".join(good), "--format=" + form)[1] for key, form in FORMATS.items()}}
    found["unknown"] = smi("--query-gpu=memory.usde", "--format=csv")
    found["no_format"] = smi("--query-gpu=memory.used")
    found["bad_format"] = smi("--query-gpu=memory.used", "--format=xml")
    found["spaces"] = smi("--query-gpu=memory.used, memory.free", "--format=csv, noheader")
    found["id"] = smi("-i", "0", "--query-gpu=index,name", "--format=csv")
    found["bad_id"] = smi("-i", "9", "--query-gpu=index,name", "--format=csv")
    text = json.dumps(found, indent=1)
    seen = {}
    text = re.sub(r"GPU-[0-9a-f]{8}-[0-9a-f-]{27}", lambda m: seen.setdefault(m[0], f"GPU-00000000-0000-0000-0000-{len(seen) + 1:012d}"), text)
    for serial in set(re.findall(r'"serial": \{\s*"code": 0,\s*"csv": "serial\\n([^"]*)"', text)):
        for number in serial.split("\\n"):
            if number.strip().isdigit():
                text = text.replace(number.strip(), "1320000000000")
    open(out, "w").write(text)


main(sys.argv[1])
