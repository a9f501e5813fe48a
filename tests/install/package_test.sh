#!/usr/bin/env bash
# The Debian package: what it says of itself, what is in it, and that what is in it runs.
#
#   tests/install/package_test.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "$1" && pwd)
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

(cd "$build" && cpack -G DEB -B "$folder" >"$folder/log" 2>&1) || {
  cat "$folder/log"
  exit 1
}
package=$(echo "$folder"/*.deb)
dpkg-deb --info "$package"
dpkg-deb -c "$package" | awk '{print $6}' | sort >"$folder/files"
[[ $(dpkg-deb -f "$package" Package) == weft ]]
[[ "weft $(dpkg-deb -f "$package" Version)" == "$("$build/sim/weft" --version)" ]]
dpkg-deb -f "$package" Depends | grep -q 'libc6' # what it needs was found out
grep -qx './usr/bin/weft' "$folder/files"
[[ -z $(grep -v '^\./usr/' "$folder/files" | grep -vx './') ]] # nothing outside /usr
dpkg-deb -x "$package" "$folder/root"
"$tests/expect_installed.sh" "$folder/root/usr"
