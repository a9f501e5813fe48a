#!/usr/bin/env bash
# Whether weft is installed below PREFIX, whole, and runs there.
#
#   tests/install/expect_installed.sh PREFIX
set -euo pipefail
prefix=$1

expect() {  # what, command...
  local what=$1
  shift
  "$@" || {
    echo "not so: $what"
    exit 1
  }
}

for file in bin/weft share/weft/configs/gpus/h200.yaml share/weft/schema/scenario.schema.json \
  share/bash-completion/completions/weft share/zsh/vendor-completions/_weft \
  share/fish/vendor_completions.d/weft.fish share/man/man1/weft.1.gz share/doc/weft/copyright; do
  expect "$file is installed" test -s "$prefix/$file"
done

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
printf '%s\n' 'base: scenarios/embedding_a2a_4_gpus' 'workload: {batch: 256, tables_per_gpu: 4}' \
  >mine.yaml
"$prefix/bin/weft" run mine.yaml --mode bulk --quiet -o results
expect "the base is that of the installed configs" \
  grep -q "$prefix/share/weft/configs/gpus/mi210.yaml" results/manifest.json
"$prefix/bin/weft" list gpus >gpus.txt
expect "the installed configs are listed" grep -qx "$prefix/share/weft/configs:" gpus.txt
expect "no other configs are listed" test "$(grep -c ':$' gpus.txt)" = 1
expect "the version is that of the man page" \
  grep -q "$("$prefix/bin/weft" --version)" <(gzip -dc "$prefix/share/man/man1/weft.1.gz")
