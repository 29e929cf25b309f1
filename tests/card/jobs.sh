# Starts and stops the jobs of three invented people on a real card. Sourced by check.sh and demo.sh; needs root and torch.
jobs=/tmp/vramtop-jobs
card=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(command -v python3)

people() {
  for user in ann bob cleo; do id "$user" >/dev/null 2>&1 || useradd -m "$user"; done
  mkdir -p "$jobs/bin" "$jobs/configs"
  for name in train.py eval.py embed.py sweep.py ipykernel_launcher.py bin/vllm; do cp "$card/workload.py" "$jobs/$name"; done
  ln -sf "$python" "$jobs/python"
  chmod -R a+rX "$jobs"
}

# job USER GPU WORKLOAD COMMAND…: runs it in the background as that user, and as nobody's child: this script is no part of the family.
job() {
  local user=$1 gpu=$2 workload=$3
  shift 3
  (cd "$jobs" && exec setsid --fork setpriv --reuid "$user" --regid "$user" --clear-groups \
    env HOME="/home/$user" USER="$user" CUDA_VISIBLE_DEVICES="$gpu" WORKLOAD="$workload" PYTHONUNBUFFERED=1 "$@") >>"$jobs/$user.log" 2>&1 &
}

stop_jobs() {
  for user in ann bob cleo; do pkill -u "$user" 2>/dev/null; done
  sleep 1
}
