#!/usr/bin/env bash
# Measures a whole NVIDIA node into a folder: builds `calibrate` if it is not there, checks it with
# tiny sizes, then runs it with all GPUs, and once more with half of them, and so on down to 2, what
# needs peers. Group by group: one that hangs or fails costs no other group's results.
#
#   calibration/run_node.sh OUT [options of calibrate, such as --quick or --repeats 5]
#
#   OUT/measured_N.jsonl  the lines of N GPUs     OUT/messages_N.txt  what was said beside them
#   OUT/check.txt         the check               OUT/build.txt       the build
#   OUT/node.txt          driver, links; clocks and heat before and after
#
#   CALIBRATE   a `calibrate` that was built elsewhere
#   GROUPS_ONLY the groups to run, as patterns of --only (default: all, see below)
#   GPUS        the numbers of GPUs to run with (default: all, half of them, ..., 2)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if (($# == 0)); then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
out=$1
shift
mkdir -p "$out"

# Without multicast: a program that uses it can put GPUs that others share out of service.
export NCCL_NVLS_ENABLE=0

# Where CUDA, NCCL and cuBLAS are: of the toolkit, or as Python packages.
cuda=${CUDA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")}
packages=$(python3 -c 'import nvidia; print("\n".join(nvidia.__path__))' 2>/dev/null)
places=("$cuda")
for package in $packages; do
  places+=("$package/nccl" "$package/cu13" "$package/cublas")
done
libraries=
for place in "${places[@]}"; do
  for folder in "$place/lib64" "$place/lib"; do
    [[ -d $folder ]] && libraries+=":$folder"
  done
done
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${libraries#:}

calibrate=${CALIBRATE:-$here/build/nvidia/calibrate}
if ! ldd "$calibrate" >"$out/libraries.txt" 2>&1 ||
  grep -q 'not found' "$out/libraries.txt"; then
  echo "building with $cuda/bin/nvcc"
  calibrate=${TMPDIR:-/tmp}/calibrate-build/calibrate
  roots=$(IFS=';'; echo "${places[*]}")
  cmake -S "$here" -B "$(dirname "$calibrate")" -DPLATFORM=nvidia \
    -DCMAKE_CUDA_COMPILER="$cuda/bin/nvcc" -DNCCL_ROOT="$roots" -DCUBLAS_ROOT="$roots" \
    >"$out/build.txt" 2>&1 &&
    cmake --build "$(dirname "$calibrate")" --parallel "$(nproc)" >>"$out/build.txt" 2>&1 || {
    tail -40 "$out/build.txt"
    exit 1
  }
fi

failed=0

describe_node() {
  date -u +%FT%TZ
  local asked=index,name,driver_version,clocks.sm,clocks.max.sm,clocks.mem
  nvidia-smi --format=csv --query-gpu="$asked",temperature.gpu,power.draw,power.limit
}

# With tiny sizes and once each: a wrong answer is seen before the time is spent.
check() {
  local start=$SECONDS status=0
  "$calibrate" --tiny --quick --repeats 1 --warm-up 1 -o "$out/check.jsonl" 2>"$out/check.txt" ||
    status=$?
  printf '%-22s status %d, %4d lines, %3d s\n' "check" "$status" \
    "$(wc -l <"$out/check.jsonl")" $((SECONDS - start))
  grep -v '^\[' "$out/check.txt" | head -10
  ((status == 0)) || failed=$((failed + 1))
}

only_lines() {  # the first group's `meta` line stands for all
  if [[ -s $1 ]]; then grep --line-buffered -v '"kind": "meta"'; else cat; fi
}

# Lines and messages are written as they come: a run that is cut keeps what it measured.
measure() {  # GPUs, group, options of calibrate...
  local gpus=$1 group=$2 start=$SECONDS before said status
  local lines=$out/measured_$gpus.jsonl messages=$out/messages_$gpus.txt
  shift 2
  before=$(wc -l <"$lines")
  said=$(wc -l <"$messages")
  "$calibrate" --gpus "$gpus" --only "$group" "$@" 2>>"$messages" | only_lines "$lines" >>"$lines"
  status=${PIPESTATUS[0]}
  printf '%d GPUs %-15s status %d, %4d lines, %3d s\n' "$gpus" "$group" "$status" \
    $(($(wc -l <"$lines") - before)) $((SECONDS - start))
  ((status == 0)) || failed=$((failed + 1))
  tail -n +$((said + 1)) "$messages" | grep -v '^\[' | head -5
}

alone="micro.empty micro.hbm micro.l2_read micro.wg_in_flight micro.gather micro.chase"
peers="micro.p2p micro.flag micro.slice micro.store micro.ce_ micro.nccl_ emb. gemv. gemm. gemm_rs.
  c3."
hot="micro.gemm_library"  # last: it heats the GPUs

all=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
sizes=${GPUS:-}
if [[ -z $sizes ]]; then
  for ((size = all; size >= 2; size /= 2)); do
    sizes+=" $size"
  done
fi
{
  describe_node
  nvidia-smi topo -m
} >"$out/node.txt" 2>&1
check
first=yes
for size in ${sizes:-1}; do
  : >"$out/measured_$size.jsonl"
  : >"$out/messages_$size.txt"
  if [[ $first == yes ]]; then groups="$alone $peers $hot"; else groups=$peers; fi
  first=no
  for group in ${GROUPS_ONLY:-$groups}; do
    measure "$size" "$group" "$@"
  done
done
describe_node >>"$out/node.txt" 2>&1
wc -l "$out"/measured_*.jsonl
echo "$SECONDS s, $failed groups failed"
((failed == 0))
