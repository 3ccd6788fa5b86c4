#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots a kernel in QEMU, runs one job of qemu/jobs in it and judges the outcome.
#
#   qemu/boot.sh [-i] [-c CPUS] [-m MEMORY] [-t SECONDS] [-a "KERNEL ARGUMENTS"] [-n NAME]
#                [-p PLUGIN] [-r FILE] [-d DIRECTORY] [-o FILE] [-g] KERNEL JOB
#
# -i is for counting: time goes by instructions, a nanosecond each, and leaps over sleep. There is
# one CPU unless -c says more, of which then one runs at a time. -p is QEMU's -plugin. -r makes the
# file the machine's memory: what was in it when the kernel panicked can be read then. -d puts what
# is in the directory into the machine's root. -o, for 6.12 and later, makes the file what the job
# writes to /dev/vport0p1. -g stops the machine before its first instruction: gdb, at port 1234,
# continues it. Nothing is judged then.
#
# Modules come from build/KERNEL/, programs from build/user/, tests from build/user/selftests/, and
# what one job only needs, such as programs with their libraries, from build/user/root-JOB/; for
# another architecture it is build/user-ARCHITECTURE/.
# Two channels, see machines.sh: the kernel's console, whose last word is the verdict, and the job's
# output, which is also copied to standard output. Both are kept in build/log/KERNEL-NAME.{console,
# out}; NAME is the job's by default.
#
# Fails, and prints why, unless the job reported "ok" in time and the console is free of alarms. A
# boot that QEMU or the host has spoilt is repeated; the first console is then in .attempt-1,
# the second in .attempt-2.
#
# The time limit, -t SECONDS, is for an idle machine. On a busy one the guest may take up to four
# times that as long as it prints: it is ended when it has printed nothing for half the limit.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
# shellcheck source=qemu/machines.sh
. "$top/qemu/machines.sh"
cpus=
memory=2G
limit=300
extra=
name=
counted=
plugin=
ram=
more=
written=
stopped=

usage() {
	die "usage: boot.sh [-i] [-c CPUS] [-m MEMORY] [-t SECONDS] [-a \"KERNEL ARGUMENTS\"]" \
	    "[-n NAME] [-p PLUGIN] [-r FILE] [-d DIRECTORY] [-o FILE] [-g] KERNEL JOB"
}

while getopts ic:m:t:a:n:p:r:d:o:g option; do
	case $option in
	i) counted=yes ;;
	c) cpus=$OPTARG ;;
	m) memory=$OPTARG ;;
	t) limit=$OPTARG ;;
	a) extra=$OPTARG ;;
	n) name=$OPTARG ;;
	p) plugin=$OPTARG ;;
	r) ram=$OPTARG ;;
	d) more=$OPTARG ;;
	o) written=$OPTARG ;;
	g) stopped=yes ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 2 ] || usage
kernel=$1
job=$2
[ -r "$top/qemu/jobs/$job.sh" ] || die "there is no job qemu/jobs/$job.sh"
[ ! "$more" ] || [ -d "$more" ] || die "there is no directory $more"

# The initramfs has no C library.
static_program() {
	if readelf -lW "$1" 2>/dev/null | grep -q INTERP; then
		die "$1 is not statically linked"
	fi
}

install_program() {
	static_program "$1"
	cp "$1" "$2"
}

# install_more ROOT: what -d names. Where it brings a C library, any program may be.
install_more() {
	local file

	if ! compgen -G "$more/lib*/ld-*" > /dev/null; then
		while read -r file; do
			static_program "$file"
		done < <(find -L "$more" -type f -perm /111 ! -name '*.ko')
	fi
	cp -a "$more/." "$1/"
}

make_initramfs() {
	local root=$1 file

	mkdir -p "$root/bin" "$root/lib" "$root/selftests"
	cp "$KERNEL_BUSYBOX" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	cp "$top/qemu/init" "$root/init"
	cp "$top/qemu/jobs/$job.sh" "$root/job"
	cp "$top/qemu/ktap.awk" "$top/qemu/tap.sh" "$top/qemu/faults.sh" "$top/qemu/memory.sh" \
		"$top/qemu/suites" "$root/lib/"
	for file in "$build/$kernel"/*.ko; do
		[ ! -e "$file" ] || "${KERNEL_CROSS}strip" --strip-debug \
			-o "$root/lib/${file##*/}" "$file"
	done
	for file in "$user"/*; do
		[ ! -f "$file" ] || [ ! -x "$file" ] || install_program "$file" "$root/bin/"
	done
	for file in "$user/selftests"/*; do
		[ ! -f "$file" ] || [ ! -x "$file" ] || install_program "$file" "$root/selftests/"
	done
	# 18 MB, for the one job with a program in Python.
	[ "$job" != tools ] || cp -a "$user/python/." "$root/"
	[ "$job" != clients ] || cp -a "$build/$kernel/clients/root/." "$root/"
	if [ -d "$top/qemu/jobs/$job" ]; then
		mkdir -p "$root/lib/$job"
		cp "$top/qemu/jobs/$job"/*.sh "$root/lib/$job/"
	fi
	[ ! -d "$user/root-$job" ] || cp -a "$user/root-$job/." "$root/"
	[ ! "$more" ] || install_more "$root"
	(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0)
}

# Prints the reason, and the console from the job's start, or else its end.
fail() {
	echo "boot.sh: $kernel $job FAILED: $*" >&2
	echo "boot.sh: the end of $log.console:" >&2
	tr -d '\r' < "$log.console" > "$work/console"
	if grep -q 'callout-init: job starts' "$work/console"; then
		sed -i '1,/callout-init: job starts/ { /job starts/ ! d }' "$work/console"
	fi
	tail -n 60 "$work/console" >&2
	exit 1
}

judge() {
	local said line word failed reason

	said=$(alarms "$log.console")
	[ -z "$said" ] || fail "the kernel's console says: $said"
	[ -z "$late" ] || fail "$late"
	case $status in
	0) ;;
	124|137) fail "no end after $((limit * 4)) seconds, although it prints" ;;
	*) fail "QEMU ended with status $status" ;;
	esac
	line=$(verdict "$log.console")
	[ "$line" ] || fail "the machine stopped without a verdict"
	read -r word passed failed reason <<< "$line"
	[ "$word" = ok ] || fail "$passed passed, $failed failed: $reason"
	[ "$failed" = 0 ] || fail "the job says ok, but counted $failed failures"
}

# The number of bytes that the guest has printed, on all ports. QEMU may not have opened them yet.
printed() {
	{ cat "$log.console" "$log.out" 2> "$work/unprinted" || :; } | wc -c
}

# Ends QEMU, which runs as $qemu, when it is past its limit and has stopped printing.
watch() {
	local start=$SECONDS heard=$SECONDS size=0 now half=$((limit / 2))

	while kill -0 "$qemu" 2> "$work/ended"; do
		sleep 1
		now=$(printed)
		if [ "$now" -ne "$size" ]; then
			size=$now
			heard=$SECONDS
		fi
		if [ $((SECONDS - start)) -ge "$limit" ] && [ $((SECONDS - heard)) -ge $half ]; then
			late="no end after $limit seconds, and nothing printed for $half"
			kill "$qemu"
			return
		fi
	done
}

# spoilt: has QEMU or a busy host made this boot fail? It has if QEMU ran half-patched code, see
# maxcpus below; or if something alarms before the job starts, and so before there is a module,
# unless the kernel has the facility built in. Or if the kernel took the TSC for as fast as the PIT
# says, since the host had stopped the CPU in between: its clock may be 50 times too fast.
spoilt() {
	local early=$work/early

	! half_patched "$log.console" || return 0
	LC_ALL=C sed '/callout-init: job starts/,$d' "$log.console" > "$early"
	[[ $kernel == replaced* ]] || [ -z "$(alarms "$early")" ] || return 0
	grep -aq 'tsc: Using PIT calibration value' "$early" &&
		{ [[ $(verdict "$log.console") != ok* ]] || [ "$(alarms "$log.console")" ]; }
}

eval "$("$top/qemu/kernel.sh" "$kernel")"
[ "$KERNEL_IMAGE" ] || exit 1
machine_of "$kernel"
user=$build/user${foreign:+-$foreign}
[ ! "$counted" ] || [ ! "$foreign" ] || die "-i is for x86_64"
log=$log/$kernel-${name:-$job}
work=$(mktemp -d)
qemu=
trap 'rm -rf "$work"' EXIT
trap '[ -z "$qemu" ] || kill "$qemu"; exit 130' INT TERM HUP
rm -f "$log.console" "$log.out" "$log".attempt-*
mkdir "$work/root"
make_initramfs "$work/root" > "$work/initramfs"

# Mitigations slow an emulated CPU much and protect nothing there.
#
# maxcpus=1: QEMU before 8.1 at times runs half-patched code when one emulated CPU patches code that
# another translates, and a kernel patches itself most while it boots ("Oops: int3", one boot in
# forty). So init brings up the other CPUs.
arguments="maxcpus=1 console=$console ignore_loglevel panic=-1 oops=panic panic_on_warn=1"
arguments="$arguments sysctl.kernel.softlockup_panic=1 sysctl.kernel.hung_task_panic=1"
arguments="$arguments random.trust_cpu=on mitigations=off kunit.enable=1"
accelerator=(-accel "tcg,thread=multi" -smp "${cpus:-4}")
if [ "$counted" ]; then
	# The APIC's timer fails its test there. The HPET serves, once the TSC is calibrated: 2 s
	# after boot.
	arguments="$arguments nolapic_timer tsc=reliable"
	accelerator=(-accel "tcg,thread=single" -icount "shift=0,sleep=off" -smp "${cpus:-1}")
else
	# The test of the timer fails where the host stops the CPU during it.
	arguments="$arguments no_timer_check"
fi
# The kernel's own limits are in real time, and the host may stop an emulated CPU for a while.
arguments="$arguments watchdog_thresh=30 sysctl.kernel.hung_task_timeout_secs=400"
arguments="$arguments rcupdate.rcu_cpu_stall_timeout=60 workqueue.watchdog_thresh=60"
arguments="$arguments CALLOUT_KERNEL=$kernel CALLOUT_JOB=$job"
arguments="$arguments CALLOUT_OUT=$out ${stopped:+nokaslr }$extra"
command=(
	"${machine[@]}" "${accelerator[@]}" -m "$memory"
	-nodefaults -no-user-config -display none -nic none -no-reboot
	-kernel "$KERNEL_IMAGE" -initrd "$work/initramfs" -append "$arguments"
	-chardev "file,id=console,path=$log.console"
	-chardev "stdio,id=out,signal=off,logfile=$log.out"
	"${ports[@]}"
)
[ -z "$plugin" ] || command+=(-plugin "$plugin")
[ ! "$stopped" ] || command+=(-s -S)
if [ "$written" ]; then
	command+=(-device virtio-serial-pci -device "virtserialport,chardev=written"
		  -chardev "file,id=written,path=${written//,/,,}")
fi
if [ "$ram" ]; then
	rm -f "$ram"
	command+=(-machine memory-backend=ram
		  -object "memory-backend-file,id=ram,size=$memory,mem-path=${ram//,/,,},share=on")
fi
if [ "$job" = shell ] || [ "$stopped" ]; then
	"${command[@]}"
	exit
fi
for attempt in 1 2 3; do
	status=0
	late=
	timeout -k 5 $((limit * 4)) "${command[@]}" < /dev/null &
	qemu=$!
	watch
	wait "$qemu" || status=$?
	spoilt || break
	echo "boot.sh: $kernel $job: spoilt by QEMU or the host, attempt $attempt of 3" >&2
	[ $attempt -eq 3 ] || cp "$log.console" "$log.attempt-$attempt"
done
judge
echo "boot.sh: $kernel $job: ok, $passed passed" >&2
