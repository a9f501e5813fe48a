#!/usr/bin/env bash
# `cmake --install`: everything in its place, and the program finds its configs from anywhere.
#
#   tests/install/install_test.sh BUILD_FOLDER
set -euo pipefail
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --install "$build" --prefix "$folder/here" >/dev/null
"$(dirname "${BASH_SOURCE[0]}")/expect_installed.sh" "$folder/here"

# Moved as a whole it still works, and not by way of the source tree.
mv "$folder/here" "$folder/there"
"$(dirname "${BASH_SOURCE[0]}")/expect_installed.sh" "$folder/there"
