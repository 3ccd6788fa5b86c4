#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Fuzzes the schemes, the table, the hash and libcallout in user space, with libFuzzer and the
# sanitizers; see selftests/fuzz/user. One TAP line a fuzzer, and one a file, whose lines are
# counted; the last line is "N passed, N failed".
#
#   scripts/fuzz/user.sh SECONDS   fuzzes that long, all fuzzers together, then as below
#   scripts/fuzz/user.sh corpus    runs each input of the corpus once
#   scripts/fuzz/user.sh merge     writes the corpus: the fewest inputs that reach what the corpus
#                                  and the inputs of earlier runs reach
#
# New inputs are kept in build/fuzz-user/NAME/found, and a failing input in
# build/fuzz-user/NAME/failed-*. To run it again: build/user/fuzzers/NAME_fuzz FILE.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
fuzzers="scheme table hash lib"
corpus=selftests/fuzz/user/corpus
programs=$build/user/fuzzers
# Bytes of an input.
longest=400
# Percent of a file's lines.
enough=95

seconds=0
case ${1:-} in
corpus|merge) mode=$1 ;;
''|*[!0-9]*) die "usage: user.sh SECONDS|corpus|merge" ;;
*) mode=fuzz; seconds=$1 ;;
esac

unpack_all() {
	local name

	for name in $fuzzers; do
		rm -rf "$build/fuzz-user/$name/corpus"
		mkdir -p "$build/fuzz-user/$name/corpus" "$build/fuzz-user/$name/found"
		scripts/fuzz/corpus.pl unpack "$build/fuzz-user/$name/corpus" "$corpus/$name"*.hex
	done
}

# fuzzer NAME ARGUMENT...
fuzzer() {
	local name=$1

	shift
	LLVM_PROFILE_FILE=$build/fuzz-user/$name/%p.profraw \
		"$programs/${name}_fuzz" -artifact_prefix="$build/fuzz-user/$name/failed-" \
		-max_len=$longest -len_control=0 -timeout=60 "$@"
}

run_corpus() { fuzzer "$1" -runs=0 "$build/fuzz-user/$1/corpus"; }

# Prints how many inputs it has run. One fuzzer a CPU.
run_fuzzer() {
	fuzzer "$1" -max_total_time="$2" -print_final_stats=1 "$build/fuzz-user/$1/found" \
		"$build/fuzz-user/$1/corpus" > "$build/fuzz-user/$1/log" 2>&1
}

fuzz_all() {
	local name each=$((seconds / 2)) pids=() bad=0

	for name in $fuzzers; do
		run_fuzzer "$name" $each &
		pids+=($!)
		[ ${#pids[@]} -eq 2 ] || continue
		wait "${pids[0]}" || bad=1
		wait "${pids[1]}" || bad=1
		pids=()
	done
	return $bad
}

# The verdict on a fuzzer's run, from its log.
judge() {
	local log=$build/fuzz-user/$1/log

	grep -E '^stat::number_of_executed_units' "$log" | tee "$log.units" > "$log.last"
	if [ ! -s "$log.units" ] || grep -qE '^==[0-9]+==|SUMMARY:' "$log"; then
		tail -n 40 "$log"
		return 1
	fi
}

executions() { sed -nE 's/^stat::number_of_executed_units: *//p' "$build/fuzz-user/$1/log"; }

# Prints "FILE LINES COVERED" for each file under test. A line that is 0 since an invariant holds,
# in the check of a scheme, does not count.
coverage() {
	local objects=() name

	for name in $fuzzers; do
		objects+=(-object "$programs/${name}_fuzz")
	done
	llvm-profdata merge -o "$build/fuzz-user/profile" "$build"/fuzz-user/*/*.profraw || return 1
	llvm-cov show "${objects[@]:1}" -instr-profile="$build/fuzz-user/profile" \
		-path-equivalence="$top/,$top/" > "$build/fuzz-user/lines" || return 1
	awk -v top="$top/" '
		function put() { if (file != "") print file, lines, covered }
		/^\/.*:$/ {
			put()
			file = substr($0, 1, length($0) - 1)
			file = index(file, top) == 1 ? substr(file, length(top) + 1) : ""
			if (file !~ /^module\/(wheel|lab|handles\/(table|search|hash|bucket)\.)/ &&
			    file !~ /^tools\/lib\/.*\.c$/) file = ""
			# Half of it is for CONFIG_CALLOUT_DEBUG.
			if (file == "module/wheel/scheme.h") file = ""
			lines = covered = 0
			next
		}
		file != "" && match($0, /^ *[0-9]+\| *[0-9.kMGE]+\|/) {
			split($0, part, "|")
			text = substr($0, RLENGTH + 1)
			count = part[2]
			gsub(/ /, "", count)
			# check of a scheme: the number of an invariant that does not hold
			if (text ~ /^#define/) next
			if (count == "0" && text ~ /^\t+return ([1-9][0-9]*|false);$/) next
			lines++
			covered += count != "0"
		}
		END { put() }' "$build/fuzz-user/lines" | sort
}

covered_enough() {
	echo "$2 lines, $3 covered"
	[ $(($3 * 100)) -ge $(($2 * enough)) ]
}

merge() {
	local name dir

	for name in $fuzzers; do
		dir=$build/fuzz-user/$name/merged
		rm -rf "$dir"
		mkdir -p "$dir"
		logged "merge-$name" fuzzer "$name" -merge=1 -set_cover_merge=1 -use_counters=0 \
			"$dir" "$build/fuzz-user/$name/corpus" "$build/fuzz-user/$name/found"
		{
			echo "# SPDX-License-Identifier: GPL-2.0"
			echo "# An input of ${name}_fuzz a line, by scripts/fuzz/user.sh merge."
			scripts/fuzz/corpus.pl pack "$dir"
		} > "$corpus/$name.hex"
		wc -lc "$corpus/$name.hex"
	done
}

scripts/setup.sh fuzz-user
logged fuzz-user-build make -s -C selftests/fuzz/user O="$build/user"
unpack_all
rm -f "$build"/fuzz-user/*/*.profraw
if [ "$mode" = merge ]; then
	mkdir -p "$corpus"
	merge
	exit
fi
for name in $fuzzers; do
	item "$name: corpus" run_corpus "$name"
done
if [ "$mode" = fuzz ]; then
	fuzz_all || :
	for name in $fuzzers; do
		item "$name: $(executions "$name") executions" judge "$name"
	done
fi
coverage > "$build/fuzz-user/coverage" || :
while read -r file lines covered; do
	item "$file: $covered of $lines lines, $((covered * 1000 / lines / 10)) %" \
		covered_enough "$file" "$lines" "$covered"
done < "$build/fuzz-user/coverage"
[ -s "$build/fuzz-user/coverage" ] || item "coverage" false
finish
