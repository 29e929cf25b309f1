"""Replaces the identifiers in a recording: anonymise.py IN.jsonl OUT.jsonl

UUIDs become GPU-00000000-0000-0000-0000-00000000000N, the host becomes node7, paths of the machine leave the command lines.
"""
import json
import re
import sys


def main(source, target):
    uuids = {}

    def clean(value):
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        if isinstance(value, list):
            return [clean(item) for item in value]
        if isinstance(value, str):
            value = re.sub(r"GPU-[0-9a-f-]{36}", lambda m: uuids.setdefault(m[0], f"GPU-00000000-0000-0000-0000-{len(uuids) + 1:012d}"), value)
            return re.sub(r"(/opt|/usr|/tmp)[\w./-]*/(?=[\w.-]+$)", "", value)
        return value

    with open(source) as lines, open(target, "w") as out:
        for line in lines:
            record = clean(json.loads(line))
            if "host" in record:
                record["host"] = "node7"
            if record["type"] == "process":
                # The recorder ran as root; whoever looks at the recording is to see it as ann would.
                record["mine"] = record["user"] == "ann" or record["user"] == "1001"
            out.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


main(*sys.argv[1:])
