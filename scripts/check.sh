#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs checks, all of them even if one fails; the last line is "N passed, N failed".
#
#   scripts/check.sh [static] [schemes] [schemes-all] [kunit] [late] [selftests] [tools] [load]
#                    [client] [clients] [clients-short] [hotplug] [suspend] [torture] [debug]
#                    [old-hotplug] [limits] [bench] [lab] [replaced] [targets] [builds] [fuzz]
#                    [faults] [model] [litmus] [library] [rust] [runtimes] [docs] [criu]
#                    [deb-check] [intree] [arm64] [s390x] [riscv64] [cpus] [interleave]
#   scripts/check.sh quick    what takes minutes: "make check"
#   scripts/check.sh all      each that runs on this machine's processor, whole: "make check-all"
#   scripts/check.sh long     what takes hours: other processors and kernels, every scheme,
#                             half an hour of the fuzzer: "make check-long"
#
# All output goes to build/log/; the part that matters is shown when a check fails, and at the end,
# for readers of the last lines only, the names of what failed.
#
# A check is one or several steps: builds, boots, programs. All are queued first; then one more
# than there are CPUs run at a time, since a boot often waits for timers. Each step starts when
# its builds are complete, and prints its results and how long it took.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=qemu/machines.sh
. "$(dirname "$0")/../qemu/machines.sh"
# shellcheck source=scripts/check/kept.sh
. "$(dirname "$0")/check/kept.sh"
cd "$top"
# No step takes these over: see environment.sh.
export CDPATH=.:$top LANGUAGE=de GIT_DIR=/nowhere ARCH=none KBUILD_OUTPUT=/nowhere
results=$log/check.results
failures=$log/check.failures
: > "$results"
: > "$failures"
short=yes
quick=
long=
once=
# See kept.sh.
remembered=
this_step=

# report NAME PASSED FAILED SECONDS-AT-START: ends a step.
report() {
	printf '%-28s %5d passed %4d failed %5d s\n' "$1" "$2" "$3" $((SECONDS - $4))
	echo "$2 $3" >> "$results"
	[ "$3" -ne 0 ] || [ ! "$remembered" ] ||
		printf '%s\t%s\t%s\n' "$(identity "$this_step")" "$2" "$1" >> "$remembered"
}

# failures_in NAME FILE PATTERN: keeps the lines of the file that match, for the end.
failures_in() {
	grep -aE "$3" "$2" | cut -c 1-300 | sed "s|^|$1: |" >> "$failures" || :
}

# The queue, by number: the name of the build that a step is, or nothing; the builds that it
# needs; its command.
builds=()
needs=()
commands=()

# step NEEDS COMMAND...
step() {
	builds+=("")
	needs+=("$1")
	commands+=("$(printf '%q ' "${@:2}")")
}

# build NAME NEEDS KERNEL OUTPUTS COMMAND...: once a run, for all steps that need it
build() {
	case " ${builds[*]} " in *" $1 "*) return 0 ;; esac
	builds+=("$1")
	needs+=("$2")
	commands+=("$(printf '%q ' run_build "$1" "${@:3}")")
}

build_kernel() { build "$1" "" "$1" "$1/*.ko $1/made $1/src/Module.symvers" scripts/build.sh "$1"; }
build_programs() { build programs "" debian-6.12 "user/s* user/[!s]*" run_make; }
build_foreign() { build "programs-$1" "" "$1" "user-$1/*" make_foreign "$1"; }

# "make check" runs no 32-bit programs.
run_make() {
	make -j"$(nproc)" -C tools O="$build/user" all examples &&
		make -j"$(nproc)" -C selftests O="$build/user" ${quick:+HAVE_M32=no}
}

# Passes if there is no warning, except make's about its jobserver. A build that failed or warned is
# repeated the next time, see build.sh, and so are its warnings.
#
# run_build NAME KERNEL OUTPUTS COMMAND...
run_build() {
	local start=$SECONDS file=$log/build-$1.log status=0 bad=0 kept

	# shellcheck disable=SC2086 # several
	if [ "$quick" ]; then
		kept=$(kept_file "$1" "$2" 2> "$file")
		if take_kept "$kept" $3; then
			report "kept $1" 1 0 "$start"
			return
		fi
	fi
	"${@:4}" > "$file" 2>&1 || status=$?
	if grep -v '^make' "$file" |
	   grep -A 4 -E 'warning:|WARNING:|error:' > "$file.warnings"; then
		bad=1
		head -n 100 "$file.warnings"
	elif [ $status -ne 0 ]; then
		bad=1
		tail -n 20 "$file"
	fi
	# shellcheck disable=SC2086 # several
	[ $bad -ne 0 ] || [ ! "$quick" ] || keep "$kept" $3
	[ $bad -eq 0 ] || failures_in build "$file" 'warning:|WARNING:|error:|Error'
	report "build $1" $((1 - bad)) $bad "$start"
	return $status
}

# run_script NAME SCRIPT...: a script that prints TAP, and "N passed, N failed" as its last line
run_script() {
	local start=$SECONDS file=$log/$1.log passed failed

	"${@:2}" > "$file" 2>&1 || :
	if ! tail -n 1 "$file" | grep -xE '[0-9]+ passed, [0-9]+ failed' > "$file.last"; then
		echo "0 passed, 1 failed" > "$file.last"
	fi
	read -r passed _ failed _ < "$file.last"
	if [ "$failed" -gt 0 ]; then
		# Each failed test with the lines before it, and the lines after the last test.
		awk '
			/^ok / { held = ""; next }
			{ held = held $0 "\n" }
			/^not ok / { printf "%s", held; held = "" }
			END { printf "%s", held }' "$file"
		failures_in "$1" "$file" '^not ok '
	fi
	report "$1" "$passed" "$failed" "$start"
}

# run_bench NAME SCRIPT...: a script that prints a line ending with "ok" or "MISSED" for each target
run_bench() {
	local start=$SECONDS file=$log/check-$1.log passed failed good=

	if "${@:2}" > "$file" 2>&1; then
		good=yes
	fi
	passed=$(grep -cE '(  |: )ok$' "$file") || :
	failed=$(grep -cE '(  |: )MISSED$' "$file") || :
	if [ "$failed" -eq 0 ] && { [ ! "$good" ] || [ "$passed" -eq 0 ]; }; then
		failed=1
		tail -n 20 "$file"
	fi
	grep -E '(  |: )MISSED$' "$file" || :
	failures_in "$1" "$file" '(  |: )MISSED$'
	report "$1" "$passed" "$failed" "$start"
}

run_schemes() {
	local start=$SECONDS file=$log/schemes.log host=$build/user/host passed failed good=

	if { "$host/scheme_harness" "$@" && "$host/scheme_race" -c reserve_beside; } \
		> "$file" 2>&1; then
		good=yes
	fi
	passed=$(grep -c '^ok ' "$file") || :
	failed=$(grep -c '^not ok ' "$file") || :
	# No machine does that many operations in a second.
	if ! { "$host/scheme_harness" -p 1 -n 4000000000 -S tree -c random || :; } |
	     grep -x '# timed out after 1 s' > /dev/null; then
		good=
		echo "a case without end: not timed out" >> "$file"
	fi
	if [ ! "$good" ]; then
		[ "$failed" -gt 0 ] || failed=1
		grep -B 20 '^not ok ' "$file" || tail -n 20 "$file"
		failures_in schemes "$file" '^not ok '
	fi
	report schemes "$passed" "$failed" "$start"
}

build_client() {
	local modules="$1/callout_client.ko $1/callout_tcp.ko $1/callout_[fno]*bsd.ko"

	build_kernel "$1"
	build_programs
	build "client-$1" "$1 programs" "$1" \
		"$1/installed $modules $1/callout_dragonfly.ko user/installed_wait" \
		scripts/check/installed.sh "$1"
}

# build_clients KERNEL TIMERS
build_clients() {
	build_kernel "$1"
	build_programs
	build "clients-$1-$2" "$1 programs" "$1" "$1/clients/root" \
		scripts/check/linux-modules.sh "$1" "$2"
}

# run_job KERNEL JOB[:NAME] SECONDS [ARGUMENTS OF boot.sh]: queues a boot, with logs named JOB or
# JOB-NAME
run_job() {
	local need="$1 programs"

	build_kernel "$1"
	machine_of "$1"
	if [ "$foreign" ]; then
		need="$1 programs-$foreign"
		build_foreign "$foreign"
	else
		build_programs
	fi
	if [ "$2" = client ]; then
		build_client "$1"
		need="$need client-$1"
	fi
	if [ "${2%%:*}" = clients ]; then
		build_clients "$1" callout
		need="$need clients-$1-callout"
		# Both fill one directory.
		case " $* " in *CLIENTS_TIMERS=linux*)
			build_clients "$1" linux
			need="$need clients-$1-linux" ;;
		esac
	fi
	step "$need" boot "$@"
}

boot() {
	local start=$SECONDS name=${2/:/-} file=$log/$1-${2/:/-} passed=0 failed=0 good=
	local said=

	rm -f "$file".*
	if qemu/boot.sh "${@:4}" -n "$name" -t "$3" "$1" "${2%%:*}" > "$file.log" 2>&1; then
		good=yes
	fi
	[ ! -e "$file.console" ] || said=$(verdict "$file.console")
	if [ "$said" ]; then
		read -r _ passed failed _ <<< "$said"
	fi
	if [ ! "$good" ] || [ $((passed + failed)) -eq 0 ]; then
		[ "$failed" -gt 0 ] || failed=1
		if [ -e "$file.out" ]; then
			grep -aE -B 8 '^ *not ok|# SKIP' "$file.out" || :
		fi
		grep -a -A 70 '^boot.sh: ' "$file.log" || tail -n 20 "$file.log"
		failures_in "$name $1" "$file.log" '^boot.sh: .* FAILED'
	fi
	report "$name $1" "$passed" "$failed" "$start"
}

queue_static() {
	# A build passes without warnings; the sources differ most between these flavours.
	for kernel in debian-6.1 debian-6.12 kunit; do
		build_kernel $kernel
	done
	[ "$quick" ] || build_kernel clang
	# shellcheck disable=SC2046 # no argument, or one
	step "" run_script static scripts/check/static.sh $([ "$quick" ] || echo all)
}

queue_schemes() {
	build_programs
	# shellcheck disable=SC2086 # two arguments
	step programs run_schemes ${short:+-n 100000}
	step "" run_script fuzz-user scripts/fuzz/user.sh corpus
	[ "$quick" ] || run_job debian-6.12+lab schemes 600
}

queue_kunit() {
	local races=CALLOUT_RACES=1
	local periodic="highres=off nohz=off CALLOUT_SETS=tick_source=jiffies"
	# What needs no second CPU.
	local by_clock=callout_lag,callout_bsd.bsd_never_early_jiffies,callout_sleep.sleep_sbt

	[ "$short" ] || races=CALLOUT_RACES=10
	# Suites that take locks, with lockdep, KASAN and the other checkers.
	[ ! "$short" ] || run_job debug kunit:locks 600 \
		-a "CALLOUT_SETS=tick_source=jiffies CALLOUT_SUITES=locks"
	# Side by side: much of their time they wait.
	run_job kunit kunit:jiffies 600 -a "CALLOUT_SETS=tick_source=jiffies $races"
	run_job kunit kunit:hrtimer 600 \
		-a "CALLOUT_SETS=tick_source=hrtimer+hz=10000;scheme=sorted_list $races"
	# A tick that does not make up for lost ticks.
	run_job kunit kunit:periodic 300 -c 1 -a "$periodic CALLOUT_ONLY=$by_clock"
	[ "$quick" ] || run_job kunit kunit:periodic-smp 300 \
		-a "$periodic CALLOUT_ONLY=callout_lag,callout_bsd,callout_bsd_lock,callout_sleep"
}

# For the job selftests: one run of each program of three.
short_ticks="CALLOUT_SETS=device_hz=250000 CALLOUT_COMPAT32=no"

queue_selftests() {
	local long_ticks="CALLOUT_SETS=device_hz=250 CALLOUT_COMPAT32=no"
	local one="CALLOUT_SETS=device_hz=250000${quick:+ CALLOUT_COMPAT32=no}"
	local threads=device_basic+device_cancel+device_life+device_killed+device_readers

	# Where several threads meet: what PREEMPT_RT changes.
	threads=$threads+device_slack+device_stress+device_stuck+device_turns+device_uring_cmd
	threads=$threads+device_uring_end+device_wait+libcallout_contexts

	# One kernel with each tick and each width of pointers: the others differ in neither.
	run_job debian-6.12 selftests 600 ${short:+-a "$one"}
	[ "$quick" ] || run_job debian-6.1 selftests 600 -a "$long_ticks"
	run_job debian-6.12-rt selftests 600 -a "$short_ticks${quick:+ CALLOUT_TESTS=$threads}"
}

queue_torture() {
	local seconds=120

	[ ! "$long" ] || seconds=600
	[ "$long" ] ||
		run_job debian-6.12 torture 200 -a "TORTURE_SECONDS=20 TORTURE_RACED=500"
	if [ ! "$short" ]; then
		# As scripts/check/torture.sh does.
		run_job debug torture 900 -a TORTURE_SECONDS=$seconds
		run_job debian-6.12-rt torture 900 -a TORTURE_SECONDS=$seconds
	fi
}

queue_debug() {
	run_job debug kunit 2400 -a "CALLOUT_STORM=60 CALLOUT_RACES=5 CALLOUT_LITMUS=2000"
	run_job debug selftests 1800 -a "$short_ticks"
	run_job debug load 900
	run_job debug client 900
	run_job debug nohz 900 -a nohz_full=2,3
	run_job debian-6.12 unload 1200
	# One takes 3.5 s on an idle machine, and ten times that beside other checks.
	run_job debug unload 1200 -a UNLOADS=12
	run_job debug misuse 900
	run_job debug misuse:own 900 -a CALLOUT_ONLY=drain_own
	run_job debug misuse:timer 900 -a "CALLOUT_ONLY=timer_*"
}

queue_fuzz() {
	local seed="FUZZ_ARGUMENTS=-s+$RANDOM+-c+/lib/fuzz/corpus+-d" seconds=300

	[ ! "$long" ] || seconds=1800
	mkdir -p "$build/user/root-fuzz/lib/fuzz"
	cp selftests/fuzz/corpus.txt "$build/user/root-fuzz/lib/fuzz/corpus"
	if [ "$short" ]; then
		run_job fuzz fuzz 400 -a "$seed+-t+60"
	else
		run_job fuzz fuzz 2400 -a "$seed+-t+$seconds"
		run_job debian-6.12-rt fuzz 2400 -a "$seed+-t+$seconds"
	fi
}

queue_faults() {
	local memcg="FAULTS=faults_memcg"

	[ "$quick" ] || run_job debug faults 2400
	# The debug kernel has no memory cgroups.
	run_job debian-6.12 faults:memcg 300 -a "$memcg"
	[ "$short" ] || run_job debian-6.1 faults:memcg 300 -a "$memcg"
	[ "$short" ] || run_job debian-6.12-rt faults:memcg 300 -a "$memcg"
}

queue_clients() {
	local rest="CLIENTS_TESTS=bridge+sfq+vgem"

	run_job debian-6.12 clients 900 -i
	run_job debian-6.12 clients:churn 300 -a "CLIENTS_TESTS=churn CLIENTS_PEERS=64"
	run_job debug clients:wireguard 1800 -i -a "CLIENTS_TESTS=wireguard CLIENTS_PEERS=128"
	run_job debug clients:rest 900 -i -a "$rest"
	run_job debug clients:churn 900 -a "CLIENTS_TESTS=churn CLIENTS_PEERS=16"
	# What the tests expect of Linux's own timers: the same.
	run_job debian-6.12 clients:linux 900 -i -a "CLIENTS_TIMERS=linux"
}

queue_arm64() {
	run_job kunit-arm64 kunit 1800 -a "CALLOUT_RACES=5 CALLOUT_LITMUS=10000"
	run_job arm64 load 300 -a CALLOUT_ROUNDS=3
	run_job arm64 selftests 1200
	run_job arm64 torture 900 -a TORTURE_SECONDS=600
	run_job arm64 hotplug 900 \
		-a "CALLOUT_SETS=tick_source=jiffies;tick_source=hrtimer+hz=10000"
}

# queue_foreign ARCHITECTURE: an architecture for which Debian has no kernel here
queue_foreign() {
	run_job "kunit-$1" kunit 1800
	run_job "kunit-$1" load 600 -a CALLOUT_ROUNDS=3
	run_job "kunit-$1" selftests 1200
}

# queue CHECK
queue() {
	case $1 in
	builds)
		# First one of Debian's, so that boots begin early, then while these run
		# those whose boots take longest.
		build_programs
		for kernel in debian-6.12 kunit debug debian-6.12-rt debian-6.1; do
			build_kernel $kernel
		done
		[ "$quick" ] || build_kernel clang
		[ "$quick" ] || build_kernel debian-6.12+lab ;;
	static) queue_static ;;
	schemes) queue_schemes ;;
	model)
		# shellcheck disable=SC2046 # no argument, or one
		step "" run_script model scripts/check/model.sh $([ "$short" ] || echo all) ;;
	litmus) step "" run_script litmus scripts/check/litmus.sh ;;
	library) step "" run_script library scripts/check/library.sh ;;
	runtimes)
		# Now, while no step installs packages.
		if scripts/setup.sh runtimes; then
			step "" run_script runtimes scripts/check/runtimes.sh
		else
			report "not run: runtimes" 0 1 $SECONDS
		fi ;;
	criu|rust)
		# Now, while no step installs packages.
		if scripts/setup.sh "$1"; then
			build_kernel debian-6.12
			build_programs
			step "debian-6.12 programs" run_script "$1" "scripts/check/$1.sh"
		else
			report "not run: $1" 0 1 $SECONDS
		fi ;;
	schemes-all) run_job debian-6.12+lab schemes:all 5400 -a CALLOUT_TESTS=all ;;
	kunit) queue_kunit ;;
	late) run_job kunit late 300 -i ;;
	selftests) queue_selftests ;;
	tools)
		[ "$quick" ] || run_job debian-6.1 tools 300
		run_job debian-6.12 tools 300 ;;
	load)
		run_job debian-6.1 load 120 ${short:+-a CALLOUT_ROUNDS=3}
		[ "$quick" ] || run_job debian-6.12+lab load 120 ${short:+-a CALLOUT_ROUNDS=3} ;;
	client)
		run_job debian-6.1 client 120
		run_job debian-6.12 client 120
		[ "$quick" ] || run_job debian-6.12-rt client 120
		# check-debug runs it. With lockdep callout.h defines more.
		[ "$quick" ] || build_client debug
		[ "$short" ] || step "" run_script dkms scripts/package/dkms-check.sh
		run_job debian-6.12-rt inversion 120 ;;
	clients) queue_clients ;;
	clients-short)
		run_job debian-6.12 clients:short 300 -i -a "CLIENTS_PEERS=16 CLIENTS_GROUPS=100" ;;
	hotplug)
		run_job debian-6.12 hotplug 600 \
			-a "CALLOUT_SETS=tick_source=jiffies;tick_source=hrtimer+hz=10000"
		[ "$short" ] ||
			run_job debian-6.12+lab hotplug:single 600 -a CALLOUT_SETS=bases=single
		run_job debian-6.12 nohz 120 -a "nohz_full=2,3 isolcpus=domain,0,1" ;;
	cpus)
		# Time by instructions: tests.rst says why.
		for cpus in 64 128; do
			run_job debian-6.12 cpus:$cpus 900 -i -c $cpus -m 4G -a "CPUS=$cpus"
		done
		# The check "bench" has it too.
		[ ! "$short" ] ||
			step "debian-6.12 programs" run_bench bench-cpus \
				scripts/measure/bench.sh cpus ;;
	suspend)
		# Each level takes half a minute.
		run_job debian-6.12 suspend 300 \
			${quick:+-a SUSPEND_WITHOUT=freezer+devices+platform+processors}
		[ "$short" ] || run_job debian-6.1 suspend 300
		[ "$short" ] || run_job debian-6.12-rt suspend 300 ;;
	interleave) run_job interleave interleave 1800 ;;
	old-hotplug) run_job oldhp hotplug 600 -a CALLOUT_SETS=tick_source=jiffies ;;
	torture) queue_torture ;;
	debug) queue_debug ;;
	fuzz) queue_fuzz ;;
	faults) queue_faults ;;
	limits)
		build_kernel debian-6.12
		step debian-6.12 run_script limits scripts/check/limits.sh ;;
	bench)
		build_kernel bench
		build_programs
		step "bench programs" run_bench bench scripts/measure/bench.sh
		step "bench programs" run_bench bench-user scripts/measure/bench-user.sh ;;
	lab)
		build_kernel kunit
		build_programs
		step "kunit programs" run_bench lab scripts/measure/lab.sh ;;
	replaced)
		build_kernel replaced
		step replaced run_script replaced scripts/measure/replaced.sh
		step replaced run_script replaced-debug scripts/measure/replaced.sh debug ;;
	docs)
		# Now, while no step installs packages.
		if scripts/setup.sh docs-check; then
			step "" run_script docs scripts/check/docs.sh
		else
			report "not run: docs" 0 1 $SECONDS
		fi ;;
	deb-check)
		# Now, while no step installs packages.
		if scripts/setup.sh deb && scripts/setup.sh system; then
			step "" run_script deb-check scripts/package/deb-check.sh
		else
			report "not run: deb-check" 0 1 $SECONDS
		fi ;;
	arm64|s390x|riscv64)
		# Now, while no step installs packages.
		if ! scripts/setup.sh "$1"; then
			report "not run: $1" 0 1 $SECONDS
		elif [ "$1" = arm64 ]; then
			queue_arm64
		else
			queue_foreign "$1"
		fi ;;
	targets) step "" run_script targets scripts/check/targets.sh ;;
	intree) step "" run_script intree scripts/package/intree-check.sh ${quick:+"callout_w*"} ;;
	*)
		echo "check.sh: there is no check $1" >&2
		echo "0 1" >> "$results" ;;
	esac
}

# Each step is a process group, so that none outlives this script.
set -m
declare -A step_of=()
trap 'for pid in "${!step_of[@]}"; do kill -- "-$pid"; done' EXIT

# The output of a step is printed at its end, in one piece.
in_one_piece() {
	local said status=0

	said=$(eval "$1") || status=$?
	echo "$said"
	return $status
}

# Whether the builds that step $1 needs are complete: yes, not yet, or no if one failed.
is_ready() {
	local need ready=yes

	for need in ${needs[$1]}; do
		case ${built[$need]:-} in
		yes) ;;
		no) echo no; return ;;
		*) ready="not yet" ;;
		esac
	done
	echo "$ready"
}

# Starts the first step in the queue that can start, and fails if none can. Builds use all CPUs: one
# at a time.
start_one() {
	local i

	for i in "${!commands[@]}"; do
		[ ! "${builds[i]}" ] || [ ! "$building" ] || continue
		case $(is_ready "$i") in
		yes)
			this_step=${commands[i]}
			in_one_piece "$this_step" &
			step_of[$!]=$i
			[ ! "${builds[i]}" ] || building=$i ;;
		no)
			report "not run: ${commands[i]}" 0 1 $SECONDS
			[ ! "${builds[i]}" ] || built[${builds[i]}]=no ;;
		*) continue ;;
		esac
		unset "commands[i]"
		return 0
	done
	return 1
}

run_steps() {
	local building="" pid i ended
	declare -A built=()

	while :; do
		while [ ${#step_of[@]} -le "$(nproc)" ] && start_one; do :; done
		[ ${#step_of[@]} -gt 0 ] || break
		ended=yes
		wait -f -n -p pid || ended=no
		i=${step_of[$pid]}
		unset "step_of[$pid]"
		if [ "${builds[i]}" ]; then
			built[${builds[i]}]=$ended
			building=
		fi
	done
	# A step that needs a build which is not in the queue.
	for i in "${!commands[@]}"; do
		report "not run: ${commands[i]}" 0 1 $SECONDS
	done
}

scripts/setup.sh all || { echo "0 passed, 1 failed"; exit 1; }
case $* in
quick)
	quick=yes
	set -- builds static suspend selftests kunit hotplug schemes torture load client \
		clients-short tools late faults litmus library intree ;;
all)
	short=
	# What takes longest first.
	set -- builds debug faults fuzz torture bench client intree limits old-hotplug kunit \
		deb-check runtimes rust docs criu selftests hotplug cpus suspend schemes model \
		litmus library tools load late clients static ;;
long)
	short=
	long=yes
	set -- schemes-all replaced lab fuzz torture interleave arm64 s390x riscv64 ;;
*) once=yes ;;
esac
for check in "$@"; do
	queue "$check"
done
if [ ! "$quick$once" ]; then
	mkdir -p "$cache/passed"
	find "$cache/passed" -type f -mtime +3 -delete
	remembered=$cache/passed/$(everything)
	skip_remembered
fi
run_steps
[ -s "$results" ] || { echo "check.sh: nothing was checked" >&2; echo "0 1" >> "$results"; }
printf '%-54s %5d s\n' total "$SECONDS"
cat "$failures"
awk '
	{ passed += $1; failed += $2 }
	END { print passed " passed, " failed " failed"; exit failed > 0 }' "$results"
