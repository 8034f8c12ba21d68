#!/bin/sh
# Makes the torch of PyPI importable without the CUDA libraries that it is linked to (3 GB of nvidia-* packages): puts
# libraries beside it that define the symbols it asks of them and answer 100, "no device". nvidia-cuda-runtime, which is small and
# which torch does ask on the CPU, must be installed.
#
#     tools/python/torch-cpu.sh VENV      needs cc, nm and readelf
set -eu
lib=$(echo "$1"/lib/python3*/site-packages/torch/lib)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for f in "$lib"/lib*torch*.so "$lib"/libc10*.so; do
	readelf -dW "$f" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >>"$work/needed"
	readelf -VW "$f" | awk '/File: / { so = $5 } so != "" && /Name: / { print so, $3 }' >>"$work/versions"
	nm -D --undefined-only "$f" | sed -n 's/.* U //p' >>"$work/symbols"
done
for so in $(sort -u "$work/needed" | grep -E '^lib(cu|nv|nccl)'); do
	if ls "$lib/$so" "$lib"/../../nvidia/*/lib/"$so" >/dev/null 2>&1; then continue; fi
	: >"$work/stub.c"
	: >"$work/map"
	# A version names its library. What has none is defined in every library that has no versions.
	for version in $(sed -n "s/^$so //p" "$work/versions" | sort -u); do
		sed -n "s/@$version\$//p" "$work/symbols" | sort -u >"$work/own"
		sed 's/.*/int &(void) { return 100; }/' "$work/own" >>"$work/stub.c"
		{ echo "$version { global:"; sed 's/$/;/' "$work/own"; echo "};"; } >>"$work/map"
	done
	if ! test -s "$work/map"; then
		echo "{ global: *; };" >"$work/map"
		grep -E '^(cu|nv|nccl)[A-Za-z0-9_]*$' "$work/symbols" | sort -u | sed 's/.*/int &(void) { return 100; }/' >"$work/stub.c"
	fi
	cc -w -shared -fPIC -Wl,-soname,"$so" -Wl,--version-script,"$work/map" -o "$lib/$so" "$work/stub.c"
done
