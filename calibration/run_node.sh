#!/usr/bin/env bash
# Measures a whole NVIDIA node into a folder: builds `calibrate` if it is not there, then runs it
# group by group, so that a group that hangs or fails costs no other group's results.
#
#   calibration/run_node.sh OUT [options of calibrate, such as --quick or --repeats 5]
#
#   CALIBRATE   a `calibrate` that was built elsewhere
#   GROUPS_ONLY the groups to run, as patterns of --only (default: all, see below)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if (($# == 0)); then
  sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
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

groups=${GROUPS_ONLY:-"micro.empty micro.hbm micro.wg_in_flight micro.gather micro.p2p micro.flag
  micro.slice micro.store micro.ce_ micro.nccl_ emb. gemv. gemm. gemm_rs. c3. micro.gemm_library"}
# Lines and messages are written as they come: a run that is cut keeps what it measured.
measured=$out/measured.jsonl
messages=$out/messages.txt
: >"$measured"
: >"$messages"
only_lines() {  # the first group's `meta` line stands for all
  if [[ -s $measured ]]; then grep --line-buffered -v '"kind": "meta"'; else cat; fi
}
failed=0
for group in $groups; do
  start=$SECONDS
  before=$(wc -l <"$measured")
  said=$(wc -l <"$messages")
  "$calibrate" --only "$group" "$@" 2>>"$messages" | only_lines >>"$measured"
  status=${PIPESTATUS[0]}
  printf '%-20s status %d, %4d lines, %3d s\n' "$group" "$status" \
    $(($(wc -l <"$measured") - before)) $((SECONDS - start))
  ((status == 0)) || failed=$((failed + 1))
  tail -n +$((said + 1)) "$messages" | grep -v '^\[' | head -5
done
echo "$(wc -l <"$measured") lines in $measured, $failed groups failed"
((failed == 0))
