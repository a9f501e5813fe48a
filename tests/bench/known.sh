#!/usr/bin/env bash
# How long points of a sweep take whose knob touches one operator (vocabulary: those at both ends) of a step of Llama 3 70B
# on 128 GPUs: each by a program of its own that knows nothing, all by one program (what it has simulated in memory), and
# with a folder that is empty at first, then full. In alternation, on one core; the median of RUNS, in CPU seconds a point
# (a shared machine's wall clock says little), and how many times as fast as alone, all points and those after the first.
# After cmake --build --preset release.
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
rules() { # PAIR MODE KEY VALUES...
  pair=$1 mode=$2 key=$3
  shift 3
  values=
  for value in "$@"; do
    values="$values${values:+, }[{pair: $pair, mode: $mode, $key: $value}]"
  done
  printf '{key: workload.pairs, values: [%s], labels: [%s]}' "$values" "$(echo "$@" | sed 's/ /, /g')"
}
sweep head_chunks '[mixed]' "$(rules 'head_gather + head' kernel chunks $(seq 2 33))"
sweep mlp_slices '[mixed]' "$(rules 'mlp_down + mlp_down_reduce' fused slice_wgs 1 2 4 8 16 32 64 128)"
ways= # of the same pair: slices and orders
for order in remote_first staggered in_turn rotating; do
  for slice in 1 2 4 8 16 32 64 128; do
    ways="$ways${ways:+, }[{pair: mlp_down + mlp_down_reduce, mode: fused, slice_wgs: $slice, order: $order}]"
  done
done
sweep mlp_ways '[mixed]' "{key: workload.pairs, values: [$ways], labels: [$(seq -s ', ' 32)]}"
sweep optimizer '[bulk, fused]' '{key: workload.optimizer_dtype, values: [fp32, bf16, fp16]}'
sweep vocabulary '[bulk, fused]' '{key: workload.model.vocabulary, from: 102400, to: 139264, step: 4096}'

TIMEFORMAT='%U %S'
seconds() { # FUNCTION ARGUMENTS...: of the CPU
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{print $1 + $2}'
}
alone() { # NAME POINTS
  local shard
  for ((shard = 1; shard <= $2; shard++)); do
    "$weft" sweep "$1.yaml" -q -j 1 --known none --shard "$shard/$2" -o "alone/$1/$shard"
  done
}
together() { # NAME KNOWN
  rm -rf "together/$1"
  "$weft" sweep "$1.yaml" -q -j 1 --known "$2" -o "together/$1"
}
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

echo '| sweep | points | each alone | in memory | folder, empty | folder, full | times as fast: memory, empty, full | after the first: memory, empty |'
echo '|---|---|---|---|---|---|---|---|'
for name in ${SWEEPS:-head_chunks mlp_slices mlp_ways optimizer vocabulary}; do
  points=$("$weft" sweep "$name.yaml" --dry-run 2>/dev/null | grep -c ' [0-9a-f]\{16\}$')
  rm -f t_*
  for ((i = 0; i < runs; i++)); do
    rm -rf alone known
    seconds alone "$name" "$points" >>t_alone
    seconds together "$name" none >>t_memory
    seconds together "$name" known >>t_cold
    seconds together "$name" known >>t_warm
  done
  echo "$name $points $(median t_alone) $(median t_memory) $(median t_cold) $(median t_warm)" | awk '{
    n = $2; one = $3 / n
    printf "| %s | %d | %.2f | %.3f | %.3f | %.3f | %.1f, %.1f, %.1f | %.0f, %.0f |\n", $1, n, one, $4 / n, $5 / n,
           $6 / n, $3 / $4, $3 / $5, $3 / $6, one / (($4 - one) / (n - 1)), one / (($5 - one) / (n - 1)) }'
done
