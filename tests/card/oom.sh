#!/bin/sh
# Eight real out-of-memory situations on one card, what `vramtop explain` says of each, and the truth beside it.
#
#   tests/card/oom.sh VRAMTOP OUTDIR     (python3 with torch; one idle NVIDIA card; about three minutes)
#
# Ends with the number of verdicts that are not the expected one.
set -u
vramtop=$1
out=$2
here=$(dirname "$0")
mkdir -p "$out"
wrong=0

situation() { # NAME EXPECTED-VERDICT...
    name=$1
    shift
    echo "=== $name (expected: $*)"
    timeout 100 python3 "$here/oom.py" "$name" "$out" >"$out/$name.json" 2>"$out/$name.log"
    grep -h '"failed"' "$out/$name.json" | sed 's/^/truth: /'
    # Beside the card, so that "Also seen" has what the device shows now.
    timeout 20 "$vramtop" explain "$out/$name.log" --color never </dev/null
    if [ -f "$out/$name.pickle" ]; then
        echo "--- the snapshot:"
        timeout 20 "$vramtop" explain "$out/$name.pickle" --color never </dev/null | head -25
    fi
    verdict=$(timeout 20 "$vramtop" explain "$out/$name.log" --format json </dev/null | python3 -c 'import json,sys; print(json.loads(sys.stdin.readline())["verdict"])')
    case " $* " in
    *" $verdict "*) echo "verdict: $verdict, as expected" ;;
    *)
        echo "verdict: $verdict, EXPECTED $*"
        wrong=$((wrong + 1))
        ;;
    esac
    echo
}

situation too-big too-big
situation full full-self
situation fragmented fragmented

# A neighbour that holds all but 10 GiB; inside a PID namespace it is seen by its PID on the host.
total=$(python3 -c 'import torch; print(int(torch.cuda.mem_get_info()[0] / 2**30))')
mkfifo "$out/release" 2>/dev/null
python3 "$here/oom.py" hold $((total - 10)) >"$out/hold.txt" <"$out/release" &
holder=$!
exec 9>"$out/release"
tries=0
until grep -q held "$out/hold.txt" || [ $tries -ge 60 ]; do
    tries=$((tries + 1))
    sleep 1
done
# It still holds the memory while the answer is made: "Also seen" has to name it.
situation neighbour other-process
if timeout 20 "$vramtop" explain "$out/neighbour.log" --color never </dev/null | grep -q '^Also seen'; then
    echo "device now: told"
else
    echo "device now: NOT TOLD"
    wrong=$((wrong + 1))
fi
exec 9>&-
wait $holder
rm -f "$out/release"

situation fraction process-cap
situation graph graph-pool
situation cublas masked outside-framework
situation pinned host-memory

echo "$wrong verdicts are not the expected ones"
exit $wrong
