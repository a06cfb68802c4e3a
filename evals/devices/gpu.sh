#!/usr/bin/env bash
# Runs a small model of random weights on a GPU and compares it with the processor.
#
#   evals/devices/gpu.sh pack FOLDER   downloads the pinned runtime and cuts it into pieces of 48 MB; copies skillc
#   evals/devices/gpu.sh run FOLDER    on the machine with the GPU, which needs no network: joins them and measures
#
# DEVICE=cpu tries the script itself where there is no GPU. CUDA 13 and cuDNN 9 must be on the machine.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
device=${DEVICE:-cuda}
action=${1:?pack or run} folder=${2:?a folder}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

pack() {
  local skillc=$root/target/release/skillc home=$folder/home
  test -x "$skillc" || { echo "cargo build --release -p skillc makes $skillc" >&2; exit 1; }
  SKILLC_HOME=$home "$skillc" model fetch --device "$device"
  rm -f "$folder"/runtime.*
  tar -C "$home" -czf - $(cd "$home" && ls -d onnxruntime*) | split -b 48m - "$folder/runtime."
  rm -rf "$home"
  strip -o "$folder/skillc" "$skillc" && gzip -f "$folder/skillc"
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install -q gguf==0.19.0
  "$folder/venv/bin/python" "$root/compiler/cli/tests/data/tiny.py" "$folder"
  rm -rf "$folder/venv"
  ls -l "$folder"
}

run() {
  local skillc library
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cat "$folder"/runtime.* | tar -C "$work" -xzf -
  gzip -dc "$folder/skillc.gz" > "$work/skillc" && chmod +x "$work/skillc"
  skillc=$work/skillc
  library=$(find "$work" -path '*onnxruntime-gpu*' -name 'libonnxruntime.so*' | head -1)
  test -n "$library" || library=$(find "$work" -name 'libonnxruntime.so*' | head -1)
  export SKILLC_HOME=$work/home ORT_DYLIB_PATH=$library
  "$skillc" model import "$folder/tiny-llama.gguf" -o "$work/model"
  for where in cpu "$device"; do
    echo "== $where"
    "$skillc" model info --model "$work/model" --device "$where" --json | tee "$folder/info-$where.json"
    "$skillc" model bench --model "$work/model" --device "$where" --alone 5 --json > "$folder/bench-$where.json"
    sed 's/"prompts":{.*}},//; s/"prompts".*\]},//' "$folder/bench-$where.json"
  done
}

case $action in
  pack | run) "$action" ;;
  *) echo "pack or run, not $action" >&2; exit 2 ;;
esac
