#!/bin/sh
# How long points of a sweep take whose knob touches one operator of a step of Llama 3 70B on 128 GPUs: each by a program
# of its own that knows nothing, all by one program (what it has simulated in memory), and with a folder that is empty at
# first, then full. In alternation, on one core; the median of RUNS, in seconds a point, and how many times as fast as by
# themselves. After cmake --build --preset release.
#
#   tests/bench/known.sh [RUNS] [WEFT]        # 3, build/release/sim/weft
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
runs=${1:-3}
weft=$(realpath "${2:-$root/build/release/sim/weft}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

sweep() { # NAME MODES AXIS
  printf 'name: %s\nscenario: scenarios/models/llama3_70b_training\nset: {modes: %s}\naxes:\n  - %s\n' "$1" "$2" "$3" >"$1.yaml"
}
rules() { # MODE KEY VALUES...: of the pair of the head, the last product of the forward pass
  mode=$1 key=$2
  shift 2
  values=
  for value in "$@"; do
    values="$values${values:+, }[{pair: head_gather + head, mode: $mode, $key: $value}]"
  done
  printf '{key: workload.pairs, values: [%s], labels: [%s]}' "$values" "$(echo "$@" | sed 's/ /, /g')"
}
sweep head_chunks '[mixed]' "$(rules kernel chunks 2 3 4 5 6 7 8 9 10 12 14 16 18 20 24 28)"
sweep head_slices '[mixed]' "$(rules fused slice_wgs 1 2 4 8)"
sweep optimizer '[bulk, fused]' '{key: workload.optimizer_dtype, values: [fp32, bf16, fp16]}'
sweep vocabulary '[bulk, fused]' '{key: workload.model.vocabulary, from: 102400, to: 139264, step: 4096}'

seconds() { # COMMAND...: of the wall
  begin=$(date +%s.%N)
  "$@" >/dev/null 2>&1
  echo "$(date +%s.%N) $begin" | awk '{print $1 - $2}'
}
alone() { # NAME POINTS
  i=0
  while [ $i -lt "$2" ]; do
    i=$((i + 1))
    "$weft" sweep "$1.yaml" -q -j 1 --known none --shard "$i/$2" -o "alone/$1/$i"
  done
}
together() { # NAME KNOWN
  rm -rf "together/$1"
  "$weft" sweep "$1.yaml" -q -j 1 --known "$2" -o "together/$1"
}
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

printf '| sweep | points | each alone | in memory | folder, empty | folder, full | times as fast |\n|---|---|---|---|---|---|---|\n'
for name in ${SWEEPS:-head_chunks head_slices optimizer vocabulary}; do
  points=$("$weft" sweep "$name.yaml" --dry-run 2>/dev/null | grep -c ' [0-9a-f]\{16\}$')
  rm -f t_*
  i=0
  while [ $i -lt "$runs" ]; do
    i=$((i + 1))
    rm -rf alone known
    seconds alone "$name" "$points" >>t_alone
    seconds together "$name" none >>t_memory
    seconds together "$name" known >>t_cold
    seconds together "$name" known >>t_warm
  done
  echo "$name $points $(median t_alone) $(median t_memory) $(median t_cold) $(median t_warm)" | awk '{
    printf "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.1f, %.1f, %.1f |\n", $1, $2, $3 / $2, $4 / $2, $5 / $2, $6 / $2,
           $3 / $4, $3 / $5, $3 / $6 }'
done
