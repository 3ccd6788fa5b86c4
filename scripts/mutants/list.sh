#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes small wrong changes, mutants, one at a time, and runs the checks that should notice. A
# mutant that is noticed is killed: passed. A mutant that survives has failed: it needs a test, or a
# reason in its list. The last line is "N passed, N failed".
#
#   scripts/mutants/list.sh [NAME...]    all mutants of selftests/mutants/*.list, or these: names of
#                                   mutants, patterns of the shell, or names of lists
#
# The checks, the cheapest first:
#
#   schemes SCHEME           scheme_harness, in user space
#   fuzz NAME                a fuzzer of selftests/fuzz/user: its corpus, then at most a minute
#   kunit SUITE,...          on the KUnit kernel; debug SUITE,... on the debug kernel
#   interleave LOAD,...      loads of "make interleave"
#   device PROGRAM,...       tests of the device on Debian's 6.12 kernel
#   library PROGRAM          the same, for changes of the library
#   faults PROGRAM           a program of the job "faults": faults_memcg there, others on the debug
#                            kernel, which injects faults
#   tools                    the job "tools", for changes of calloutctl
#   misuse NAME              a misuse of the job "misuse", on the debug kernel
#   unload COUNT             so many rounds of the job "unload", on the debug kernel; time goes by
#                            instructions, so what meets is the same on a busy machine
#
# Each check must pass without a mutant: that is tried first. A check that fails although no case of
# it has may tell of a busy machine: that counts if it passes right afterwards, without the mutant.
# A tree, build/mutants/tree, has links to this one and the file of the mutant; what it changes is
# compiled and nothing else.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
lists=(selftests/mutants/*.list)
tree=$build/mutants/tree
out=$build/mutants/build
logs=$log/mutants
# Seconds: of a boot, and of a fuzzer.
limit=150
fuzzing=60

# A build that fails is no verdict on a test.
built() {
	if ! "$@" > "$logs/build.log" 2>&1; then
		tail -n 15 "$logs/build.log" >&2
		echo "BUILD" > "$logs/verdict"
		return 1
	fi
}

in_tree() { (cd "$tree" && CALLOUT_BUILD=$out "$@"); }

# build.sh begins from scratch after a warning, which a mutant may well cause.
build_modules() {
	local mark=$out/$1/clean

	[ ! -e "$mark.last" ] || cp "$mark.last" "$mark"
	built in_tree scripts/build.sh "$1" C=0 W= || return
	[ ! -e "$mark" ] || cp "$mark" "$mark.last"
}

# Cases that have failed so far; the console has KUnit's.
failures() {
	cat "$out/log/$1-$2".{out,console} 2> "$logs/unread" | tr -d '\r' |
		sed -nE 's/^(\[ *[0-9.]+\])? *not ok/not ok/p' | head -n 3 || :
}

# boot KERNEL JOB ARGUMENTS [OPTION...]: what the job's tests say is shown. It ends when a case has
# failed: the cases that follow may each wait as long as their patience lasts.
boot() {
	local status=0 pid said=""

	rm -f "$out/log/$1-$2".*
	(cd "$tree" &&
		CALLOUT_BUILD=$out exec qemu/boot.sh -t "$limit" -a "$3" "${@:4}" "$1" "$2") \
		> "$logs/boot.log" 2>&1 &
	pid=$!
	while [ -z "$said" ] && kill -0 $pid 2> "$logs/ended"; do
		sleep 1
		said=$(failures "$1" "$2")
	done
	[ -z "$said" ] || kill $pid 2> "$logs/ended" || :
	wait $pid || status=$?
	[ -z "$said" ] || status=1
	if [ $status -ne 0 ]; then
		{
			echo "$said"
			grep -aE '^boot.sh: .*(FAILED|warn)' "$logs/boot.log" || :
		} | sed '/^$/d' | head -n 3
	fi
	return $status
}

programs() {
	local name

	rm -rf "$out/user/selftests"
	mkdir -p "$out/user/selftests"
	for name in ${1//,/ }; do
		built in_tree make -s -C selftests O="$out/all" "$out/all/selftests/$name" ||
			return 2
		cp "$out/all/selftests/$name" "$out/user/selftests/"
	done
}

# check KIND NAMES: fails, and says how, if a test does
check() {
	local status=0 kernel

	: > "$logs/verdict"
	case $1 in
	schemes)
		built in_tree make -s -C selftests O="$out/all" \
			"$out/all/host/scheme_harness" || return 2
		# It takes a second or two on an idle machine.
		timeout 120 "$out/all/host/scheme_harness" -f -n 20000 -S "$2" \
			> "$logs/harness.log" 2>&1 || status=$?
		[ $status -ne 0 ] || return 0
		grep '^not ok' "$logs/harness.log" || echo "no end, or killed: status $status"
		return 1 ;;
	fuzz)
		built make -s -C selftests/fuzz/user TREE="$tree" O="$out/all" \
			"$out/all/fuzzers/$2_fuzz" || return 2
		fuzz "$2" ;;
	kunit|debug)
		build_modules "$1" || return 2
		rm -rf "$out/user/selftests"
		boot "$1" kunit "CALLOUT_SETS=tick_source=jiffies CALLOUT_ONLY=$2" ;;
	interleave)
		build_modules interleave || return 2
		programs "$(grep -o 'device_[a-z_]*' <<< "$2" | sort -u | paste -sd ,)" || return 2
		limit=900 boot interleave interleave "INTERLEAVE=${2//,/+}" ;;
	device|library)
		build_modules debian-6.12 || return 2
		programs "$2" || return 2
		boot debian-6.12 selftests "CALLOUT_SETS=device_hz=250000 CALLOUT_COMPAT32=no" ;;
	tools)
		build_modules debian-6.12 || return 2
		rm -rf "$out/user/selftests"
		built in_tree make -s -C tools O="$out/user" all examples || return 2
		limit=300 boot debian-6.12 tools "" ;;
	faults)
		# Debian's kernel injects no faults, the debug kernel has no memory cgroups.
		kernel=debug
		[ "$2" != faults_memcg ] || kernel=debian-6.12
		build_modules $kernel || return 2
		rm -rf "$out/user/selftests"
		mkdir -p "$out/user"
		built in_tree make -s -C selftests O="$out/all" "$out/all/$2" || return 2
		cp "$out/all/$2" "$out/user/"
		limit=900 boot $kernel faults "FAULTS=$2" ;;
	misuse)
		build_modules debug || return 2
		rm -rf "$out/user/selftests"
		boot debug misuse "CALLOUT_ONLY=$2" ;;
	unload)
		build_modules debug || return 2
		rm -rf "$out/user/selftests"
		limit=900 boot debug unload "UNLOADS=$2" -i -c 4 ;;
	*) die "there is no check $1" ;;
	esac
}

# fuzz NAME: the corpus, then new inputs
fuzz() {
	local dir=$out/fuzz-user/$1 program=$out/all/fuzzers/$1_fuzz

	rm -rf "$dir"
	mkdir -p "$dir/corpus"
	scripts/fuzz/corpus.pl unpack "$dir/corpus" "selftests/fuzz/user/corpus/$1"*.hex
	export LLVM_PROFILE_FILE=$dir/profraw
	if ! timeout 600 "$program" -runs=0 -timeout=120 -artifact_prefix="$dir/" "$dir/corpus" \
		> "$logs/fuzz.log" 2>&1; then
		echo "the corpus"
		return 1
	fi
	# A baseline is not fuzzed.
	[ "${mutant:-}" ] || return 0
	if ! timeout 600 "$program" -max_total_time=$fuzzing -max_len=400 -len_control=0 \
		-timeout=120 -artifact_prefix="$dir/" "$dir/corpus" > "$logs/fuzz.log" 2>&1; then
		echo "$(grep -E '^#[0-9]+' "$logs/fuzz.log" | tail -n 1 | cut -f 1) inputs"
		return 1
	fi
}

# Links to all that is checked in, and to what is new.
plant() {
	local file

	mkdir -p "$tree" "$out" "$logs"
	while read -r file; do
		[ -e "$file" ] || continue
		[ ! "$tree/$file" -ef "$file" ] || continue
		mkdir -p "$tree/$(dirname "$file")"
		if [ -e "$tree/$file" ] && [ ! -L "$tree/$file" ]; then
			cmp -s "$top/$file" "$tree/$file" || revert "$file"
		else
			ln -sfn "$top/$file" "$tree/$file"
		fi
	done < <(git ls-files -co --exclude-standard)
}

# The file as it was, but newer, so that what depends on it is compiled again.
revert() { cp --remove-destination "$top/$1" "$tree/$1"; }

# The state of what is checked: a baseline that passed need not be repeated.
state() { git ls-files -s module kunit selftests tools scripts qemu; git diff HEAD; }

# split CHECKS: one a line, "KIND NAMES"
split() { tr ';' '\n' <<< "$1" | sed 's/^ *//'; }

baseline() {
	local kind names key good=yes

	key=$(state | sha1sum | cut -c 1-16)
	while read -r kind names; do
		[ ! -e "$out/baseline-$key-$kind-$names" ] || continue
		if item "$kind $names, without a mutant" check "$kind" "$names"; then
			touch "$out/baseline-$key-$kind-$names"
		fi
	done < <(cut -f 3 "$logs/chosen" | grep -v '^equivalent: ' | tr ';' '\n' |
		sed 's/^ *//' | sort -u)
	[ "$failed" -eq 0 ] || good=
	[ "$good" ] || die "a check fails without a mutant"
	passed=0
}

# passes_without KIND NAMES: the check passes now, without a mutant.
passes_without() {
	local mutant=

	check "$1" "$2" < /dev/null > "$logs/without"
}

# try NAME FILE CHECKS: one TAP line
try() {
	local kind names said="" status=0 start=$SECONDS

	mutant=$1
	scripts/mutants/mutate.pl apply "$1" "$tree" "${lists[@]}" > "$logs/applied"
	while read -r kind names; do
		status=0
		said=$(check "$kind" "$names" < /dev/null) || status=$?
		[ $status -eq 0 ] || break
	done < <(split "$3")
	revert "$2"
	if [ $status -ne 0 ] && [ ! -s "$logs/verdict" ] && ! grep -q '^not ok' <<< "$said" &&
	   ! passes_without "$kind" "$names"; then
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) $1: $kind $names fails without it too" \
			"# $((SECONDS - start)) s"
	elif [ -s "$logs/verdict" ]; then
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) $1 does not build # $((SECONDS - start)) s"
	elif [ $status -ne 0 ]; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $1: $kind $names # $((SECONDS - start)) s"
		printf '%s\n' "$said" | sed 's/^ */#   /'
	else
		failed=$((failed + 1))
		survivors+=("$1")
		echo "not ok $((passed + failed)) $1 survives $3 # $((SECONDS - start)) s"
	fi
}

# chosen NAME...: the lines of the mutants that are asked for
chosen() {
	local name file checks list want

	for list in "${lists[@]}"; do
		scripts/mutants/mutate.pl list "$list" > "$logs/list" || die "$list is wrong"
		while IFS=$'\t' read -r name file checks; do
			for want in "$@"; do
				# shellcheck disable=SC2053 # a pattern
				if [[ $name = $want || $list = selftests/mutants/$want.list ]]; then
					printf '%s\t%s\t%s\n' "$name" "$file" "$checks"
					break
				fi
			done
		done < "$logs/list"
	done
}

if ! { scripts/setup.sh all && scripts/setup.sh fuzz-user; }; then
	die "the packages could not be installed"
fi
exec 7> "$build/mutants.lock"
flock 7
plant
[ $# -gt 0 ] || set -- '*'
chosen "$@" > "$logs/chosen"
[ -s "$logs/chosen" ] || die "there is no such mutant"
survivors=()
equivalent=0
mutant=
[ "${BASELINE:-yes}" = no ] || baseline
while IFS=$'\t' read -r name file checks; do
	case $checks in
	equivalent:*)
		equivalent=$((equivalent + 1))
		echo "# $name: $checks" ;;
	*) try "$name" "$file" "$checks" ;;
	esac
done < "$logs/chosen"
echo "# $equivalent are equivalent; survivors: ${survivors[*]:-none}"
[ $((passed + failed)) -eq 0 ] ||
	echo "# score: $((passed * 1000 / (passed + failed) / 10)) %"
finish
