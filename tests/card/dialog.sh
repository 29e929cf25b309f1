#!/usr/bin/env bash
# Two jobs on a real card; the one that is selected is ended from the dashboard's dialog, the other lives on: dialog.sh VRAMTOP. Needs tmux.
set -u
vramtop=$1
. "$(dirname "$0")/jobs.sh"
people
job ann 0 "hold --gib 20 --seconds 90" "$python" train.py --bs 16
job bob 0 "hold --gib 5 --seconds 90" "$python" embed.py
sleep 12
LC_ALL=C.UTF-8 tmux -u -L card new-session -d -x 120 -y 30 "$vramtop"
sleep 3
tmux -L card send-keys j; sleep 0.5
tmux -L card send-keys K; sleep 1
echo "== the dialog"; tmux -L card capture-pane -p | grep -v '^ *$' | tail -22
tmux -L card send-keys Enter; sleep 3
echo "== after it"; tmux -L card capture-pane -p | grep -v '^ *$' | tail -12
tmux -L card send-keys Escape; sleep 0.3; tmux -L card send-keys q; sleep 0.3; tmux -L card kill-server 2>/dev/null
echo "== still there"; pgrep -u ann -fa train.py; pgrep -u bob -fa embed.py || echo "bob's embed.py has ended"
stop_jobs
