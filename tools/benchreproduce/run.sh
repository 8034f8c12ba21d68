#!/bin/sh
# Carries out experiments with the program of this checkout and with that of an earlier commit, BEFORE, in turn: the same three training
# seeds, each program from an empty store of its own. Prints what each took, CPU time of user and system and wall time, and the ratios.
# An experiment that the earlier commit does not have is left out.
set -eu
before=${BEFORE:-7b47ec0}
dir=build/bench-reproduce
rm -rf "$dir"
mkdir -p "$dir/tree" "$dir/before" "$dir/now"
git archive -o "$dir/tree.tar" "$before"
tar -x -f "$dir/tree.tar" -C "$dir/tree"
(cd "$dir/tree" && go build -buildvcs=false -o ../before/entrorouter ./cmd/entrorouter)
go build -buildvcs=false -o "$dir/now/entrorouter" ./cmd/entrorouter

both='' alone=''
for e in "$@"; do
	if test -e "$dir/tree/experiments/$e.yaml"; then both="$both $e"; else alone="$alone $e"; fi
done
test -n "$both" || { echo "$before has none of $*" >&2; exit 2; }
echo "carried out by $before and by this checkout, in seconds:$both"
test -z "$alone" || echo "left out, since $before does not have them:$alone"
echo "Rows and outputs of an experiment are those that the program has, so the newer one may do more: steps are what it planned."

# measure WHICH EXPERIMENT appends to $dir/WHICH.took: steps to do, seconds of CPU, of wall. The shell's times counts the children of this subshell alone.
measure() (
	program=$PWD/$dir/$1/entrorouter
	cd "$dir/$1"
	steps=$("$program" plan "$2" --seeds 3 --out store | grep -c '^to do' || true)
	times >before
	began=$(date +%s)
	"$program" run "$2" --seeds 3 --out store --figures figures >"$2.log" 2>&1 || { echo "$1: $2 failed, see $dir/$1/$2.log" >&2; exit 1; }
	wall=$(($(date +%s) - began))
	times >after
	awk -v steps="$steps" -v wall="$wall" 'FNR == 2 { split($1 "m" $2, t, /[ms]+/); cpu = 60*t[1]+t[2]+60*t[3]+t[4] - cpu }
		END { printf "%d %.2f %d\n", steps, cpu, wall }' before after >>"../$1.took"
)

line='%-20s %12s %6s %12s %8s %6s %12s %6s %6s\n'
printf "$line" experiment 'steps before' now 'CPU before' now ratio 'wall before' now ratio
rows() {
	paste -d' ' "$dir/names" "$dir/before.took" "$dir/now.took" | awk -v line="$line" '
		function ratio(now, before) { return before > 0 ? sprintf("%.2f", now / before) : "" }
		{ if (!total) for (i = 2; i <= 7; i++) x[i] = 0; for (i = 2; i <= 7; i++) x[i] += $i }
		END { printf line, total ? "all" : $1, x[2], x[5], sprintf("%.1f", x[3]), sprintf("%.1f", x[6]), ratio(x[6], x[3]), x[4], x[7], ratio(x[7], x[4]) }' "$@"
}
for e in $both; do
	measure before "$e"
	measure now "$e"
	echo "$e" >>"$dir/names"
	rows
done
rows total=1
