#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs one job of qemu/jobs in User Mode Linux, and judges the outcome.
#
#   qemu/uml.sh [-k KERNEL] [-m MEMORY] [-t SECONDS] [-a "KERNEL ARGUMENTS"] [-n NAME]
#               [-d DIRECTORY] JOB
#
# KERNEL is uml or uml-debug. Modules come from build/KERNEL/, and what is in the directory goes to
# the root. The job's results go to build/log/uml-NAME.out, the kernel's and the job's output to
# build/log/uml-NAME.console; NAME is the job's by default. Fails, and prints why, unless the job
# succeeds in time and the console is free of alarms.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
memory=1G
limit=600

kernel=uml
extra=
name=
more=

usage() {
	die "usage: uml.sh [-k KERNEL] [-m MEMORY] [-t SECONDS] [-a \"KERNEL ARGUMENTS\"]" \
	    "[-n NAME] [-d DIRECTORY] JOB"
}

while getopts k:m:t:a:n:d: option; do
	case $option in
	k) kernel=$OPTARG ;;
	m) memory=$OPTARG ;;
	t) limit=$OPTARG ;;
	a) extra=$OPTARG ;;
	n) name=$OPTARG ;;
	d) more=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || usage
job=$1
[ -r "$top/qemu/jobs/$job.sh" ] || die "there is no job qemu/jobs/$job.sh"

# The guest's memory is a file here too.
work=$(mktemp -d)
uml=
trap 'rm -rf "$work"' EXIT
trap '[ -z "$uml" ] || kill "$uml"; exit 130' INT TERM HUP

eval "$("$top/qemu/kernel.sh" "$kernel")"
mkdir -p "$work/root/bin" "$work/root/lib"
log=$log/uml-${name:-$job}
rm -f "$log".*
cp /bin/busybox "$work/root/bin/busybox"
ln -s busybox "$work/root/bin/sh"
cp "$top/qemu/uml-init" "$work/root/init"
cp "$top/qemu/jobs/$job.sh" "$work/root/job"
cp "$top/qemu/faults.sh" "$top/qemu/memory.sh" "$work/root/lib/"
for file in "$build/$kernel"/*.ko; do
	strip --strip-debug -o "$work/root/lib/${file##*/}" "$file"
done
[ ! "$more" ] || cp -a "$more/." "$work/root/"
(cd "$work/root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) > "$work/initramfs"

gcc -O2 -Wall -Werror -shared -fPIC -o "$work/ptrace.so" "$top/qemu/uml-ptrace.c"

status=0
# shellcheck disable=SC2086 # several arguments, or none
setsid timeout -k 5 "$limit" env LD_PRELOAD="$work/ptrace.so" "$KERNEL_IMAGE" mem="$memory" \
	initrd="$work/initramfs" con=null con0=null,fd:1 stderr=1 uml_dir="$work" \
	panic=-1 panic_on_warn=1 rdinit=/init $extra < /dev/null > "$log.console" 2>&1 &
uml=$!
wait "$uml" || status=$?
tr -d '\r' < "$log.console" | sed -n 's/^.*\(lab-[a-z0-9-]*: .*\)/\1/p' > "$log.out"
fail() {
	echo "uml.sh: $job FAILED: $*; the end of $log.console:" >&2
	tail -n 40 "$log.console" >&2
	exit 1
}
said=$(alarms "$log.console")
[ -z "$said" ] || fail "the console says: $said"
case $status in
124|137) fail "no end after $limit seconds" ;;
esac
grep -q '^uml-verdict: ok' "$log.console" || fail "the job failed (status $status)"
echo "uml.sh: $job: ok" >&2
