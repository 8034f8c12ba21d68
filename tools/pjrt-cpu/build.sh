#!/usr/bin/env bash
# Builds the plugin: build.sh PYTHON GO OUT. PYTHON has the packages of requirements.txt; GO names the go command, whose
# module go-xla has pjrt_c_api.h. Two minutes of one core.
set -euo pipefail
python=$1 go=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
tensorflow=$("$python" -c 'import importlib.util as u; print(u.find_spec("tensorflow").submodule_search_locations[0])')
header=$("$go" list -m -f '{{.Dir}}' github.com/gomlx/go-xla)/pjrt
include=(-I"$here/stub" -I"$header" -I"$tensorflow/include")
for folder in "$tensorflow"/include/external/*/ "$tensorflow"/include/external/{highwayhash,farmhash_archive/src}; do
  include+=(-isystem "$folder")
done
# NDEBUG as the wheel was built: without it XLA's inline functions look for a type's number that the wheel does not keep.
g++ -std=c++17 -O0 -DNDEBUG -fPIC -shared -fvisibility=hidden -w "${include[@]}" "$here/plugin.cc" -o "$out.new" \
  -L"$tensorflow" -l:libtensorflow_cc.so.2 -l:libtensorflow_framework.so.2 -Wl,-rpath,"$tensorflow"
mv "$out.new" "$out"
