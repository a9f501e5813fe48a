#!/usr/bin/env bash
# The completion of bash, in a bash; that zsh and fish can read theirs; the manual page without a
# warning. What is not installed is said and left out (scripts/setup --full installs it all).
#
#   tests/help/completion_test.sh WEFT
set -uo pipefail
weft=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

fail() {
  echo "$1"
  failed=1
}

# words of the line, the last is completed -- words offered
expect() {
  local line=() offered
  while [[ $1 != -- ]]; do
    line+=("$1")
    shift
  done
  shift
  COMP_WORDS=("${line[@]}")
  COMP_CWORD=$((${#line[@]} - 1))
  COMPREPLY=()
  _weft
  offered="${COMPREPLY[*]}"
  [[ $offered == "$*" ]] || fail "${line[*]}: offers '$offered', not '$*'"
}

# shellcheck source=/dev/null
source <("$weft" completion bash)
cd "$folder" || exit 1
mkdir configs
touch configs/one.yaml "configs/two words.yaml"

expect weft cal -- calibrate
expect weft --c -- --color
expect weft --color '' -- auto always never
expect weft --color = al -- always
expect weft --color never li -- list
expect weft run --mode fu -- fused
expect weft run --mode = fu -- fused
expect weft run --stop-after '' -- scenario cluster model tasks
expect weft run --trace-detail '' -- kernels waves all
expect weft run configs/o -- configs/one.yaml
expect weft run 'configs/two' -- 'configs/two words.yaml'
expect weft run --mode bulk c -- configs
expect weft run configs/one.yaml -o c -- configs
expect weft run configs/one.yaml '' --
expect weft report c -- configs
expect weft report configs c -- configs
expect weft run --set fused.or -- fused.order=
expect weft run --set fused.order = '' --
expect weft run --seed '' --
expect weft run --set cluster.nodes = 4 c -- configs
expect weft explain fused.s -- fused.sending_waves fused.staging fused.sending_wgs fused.sent_by fused.slice_wgs fused.sending_cus
expect weft list sc -- scenarios
expect weft cache --policy cache_ri -- cache_rinse
expect weft schema g -- gpu graph
expect weft import py -- pytorch
expect weft import chakra c -- configs
expect weft completion '' -- bash zsh fish
expect weft nonsense '' --

# Every command and every option is there.
commands=$("$weft" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
  COMP_WORDS=(weft "$command" -)
  COMP_CWORD=2
  _weft
  for option in $("$weft" "$command" --help | grep -o '^  \(-[a-z], \)\?--[a-z0-9-]*' | tr -d ,); do
    [[ " ${COMPREPLY[*]} " == *" $option "* ]] || fail "weft $command -: $option is not offered"
  done
done

for shell in zsh fish; do
  if command -v $shell >/dev/null; then
    "$weft" completion $shell >"$folder/script"
    $shell -n "$folder/script" || fail "$shell cannot read its completion"
  else
    echo "left out: $shell is not here"
  fi
done
if command -v fish >/dev/null; then
  offered=$(fish -c "source $folder/script; complete -C 'weft run --mode fu'" | cut -f1)
  [[ $offered == fused ]] || fail "fish offers '$offered', not 'fused'"
fi

"$weft" man >"$folder/weft.1"
for command in $commands; do
  section=$(sed -n "/^\.SS $command\$/,/^\.S[SH]/p" "$folder/weft.1")
  [[ -n $section ]] || fail "the manual page lacks $command"
  for option in $("$weft" "$command" --help | grep -o '^  \(-[a-z], \)\?--[a-z0-9-]*' | grep -o -- '--.*'); do
    [[ $section == *"${option//-/\\-}"* ]] || fail "the manual page lacks weft $command $option"
  done
done
if command -v mandoc >/dev/null; then
  mandoc -Tlint "$folder/weft.1" || fail "mandoc complains"
else
  echo "left out: mandoc is not here"
fi
if command -v man >/dev/null; then
  warnings=$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$folder/weft.1" 2>&1 >/dev/null)
  [[ -z $warnings ]] || fail "man warns: $warnings"
else
  echo "left out: man is not here"
fi
exit $failed
