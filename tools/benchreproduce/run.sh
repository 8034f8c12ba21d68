#!/bin/sh
# Carries out experiments with the program of an earlier commit, BEFORE, and then with that of this checkout, as make reproduce does: all of a
# list in one store, which is empty at first, with the same three training seeds, then claims and, where the program has it, report. Prints what
# each part took, CPU time of user and system and wall time, and the ratios. An experiment that the earlier commit does not have is left out.
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

# measure WHICH PART ARGUMENTS... appends to $dir/PART.WHICH: seconds of CPU, of wall. The shell's times counts the children of this subshell
# alone. Exit code 3 is that of claims that do not hold.
measure() (
	which=$1 part=$2
	shift 2
	cd "$dir/$which"
	times >before
	began=$(date +%s)
	./entrorouter "$@" >"$part.log" 2>&1 || test $? = 3 || { echo "$which: $part failed, see $dir/$which/$part.log" >&2; exit 1; }
	wall=$(($(date +%s) - began))
	times >after
	awk -v wall="$wall" 'FNR == 2 { split($1 "m" $2, t, /[ms]+/); cpu = 60*t[1]+t[2]+60*t[3]+t[4] - cpu }
		END { printf "%.2f %d\n", cpu, wall }' before after >"../$part.$which"
)

for which in before now; do
	measure $which experiments run $both --seeds 3 --out store --figures figures
	measure $which claims claims --measurements figures --figures figures
	if "$dir/$which/entrorouter" report --help 2>/dev/null | grep -q -e --questions; then
		measure $which report report $both --seeds 3 --out store --questions 6 --figures figures --output report.html
	else
		echo '0 0' >"$dir/report.$which"
	fi
	echo "steps carried out, $which: $(find "$dir/$which/store/stages" -mindepth 2 -maxdepth 2 -type d | wc -l)"
done

line='%-12s %12s %8s %6s %12s %6s %6s\n'
printf "$line" part 'CPU before' now ratio 'wall before' now ratio
for part in experiments claims report; do
	echo "$part $(cat "$dir/$part.before" "$dir/$part.now" | tr '\n' ' ')"
done | awk -v line="$line" '
	function row(name, cpu, now, wall, then) { printf line, name, sprintf("%.1f", cpu), sprintf("%.1f", now), ratio(now, cpu), wall, then, ratio(then, wall) }
	function ratio(now, before) { return before > 0 ? sprintf("%.2f", now / before) : "" }
	{ row($1, $2, $4, $3, $5); a += $2; b += $4; c += $3; d += $5 }
	END { row("all", a, b, c, d) }'
