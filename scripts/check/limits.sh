#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The time limits of qemu/boot.sh: a guest that prints may exceed its limit, a silent guest may not,
# and no guest takes more than four times its limit. What a user adds to it. And an alarm on the
# console that follows a byte which is no text, and without a boot what alarms and what does not.
# TAP; the last line is "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
limit=20

# boot GUEST SECONDS OUTCOME [OPTION...]: what boot.sh must report about a guest that takes so long
boot() {
	qemu/boot.sh -t $limit -a "LIMITS=$1 LIMITS_SECONDS=$2" "${@:4}" debian-6.12 limits 2>&1 |
		tee "$log/limits-boot.log" || :
	grep -q "$3" "$log/limits-boot.log"
}

# alarmed N LINE...: a console with these lines has N alarms
alarmed() {
	local n=$1

	shift
	printf '%s\r\n' "$@" > "$log/limits.said"
	alarms "$log/limits.said" | tee "$log/limits.alarms"
	[ "$(wc -l < "$log/limits.alarms")" -eq "$n" ]
}

# half_patches STATUS LINE...: whether an int3 on a console with these lines is QEMU's
half_patches() {
	local expected=$1 status=0

	shift
	printf '%s\r\n' "$@" > "$log/limits.said"
	half_patched "$log/limits.said" || status=$?
	[ "$status" -eq "$expected" ]
}

int3="[ 9.0] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI"
nop="[ 9.0] Code: 48 89 43 28 0f <1f> 44 00 00"
tick="[ 1.0] NOHZ tick-stop error: local softirq work is pending, handler #40!!!"
gone="[ 2.0] smpboot: CPU 3 is now offline"
back="[ 2.0] smpboot: Booting Node 0 Processor 3 APIC 0x3"
dropped="[ 1.0] callout: dropped one of kind 0: not initialised, or overwritten"
left="[ 3.0] callout: 1 callouts were still pending; they will not run"
leaves="[ 2.0] callout-init: the next unload leaves callouts"

item "a preemption count that a softirq changed alarms" \
	alarmed 1 "[ 1.0] huh, entered softirq 6 TASKLET 0 with preempt_count 100, exited with 101?"
item "a softirq that is left pending alarms" alarmed 1 "$tick"
item "also on a CPU that goes offline" alarmed 2 "$tick" "$gone" "$back" "$tick"
item "a callout that is dropped alarms" alarmed 2 "$dropped" "ok 1 another" "$dropped"
item "except in file_without_kind" alarmed 0 "$dropped" "[ 2.0]     ok 12 file_without_kind"
item "a callout that is left alarms" alarmed 1 "$left"
item "except once if a job says so" alarmed 1 "$leaves" "$left" "$left"
item "an int3 where there is none is QEMU's" half_patches 0 "$int3" "$nop" "[ 9.0] Call Trace:"
item "an int3 of the code is not" half_patches 1 "$int3" "[ 9.0] Code: cc cc <cc> cc cc" "$nop"
item "nor is one behind another alarm" half_patches 1 "$tick" "$int3" "$nop"
item "nor is one without code" half_patches 1 "$int3"
scripts/setup.sh demo
item "a guest that prints may exceed the limit" \
	boot prints $((limit * 3 / 2)) "limits: ok, 1 passed"
item "a silent guest may not" \
	boot silent $((limit * 3)) "FAILED: no end after $limit seconds, and nothing printed"
item "a guest that prints may not exceed four times the limit" \
	boot prints $((limit * 8)) "FAILED: no end after $((limit * 4)) seconds"
item "an alarm behind a NUL is seen" \
	boot alarms 1 "FAILED: the kernel's console says: .*WARNING: none"

# Of one's own: -d's program, a module that build.sh has not made, and what it has made before.
own() {
	local work

	work=$(mktemp -d)
	mkdir "$work/bin"
	printf '#!/bin/sh\necho "# mine runs"\n' > "$work/bin/mine"
	chmod +x "$work/bin/mine"
	cp "$build/debian-6.12/callout.ko" "$build/debian-6.12/mine.ko"
	cp "$build/debian-6.12/callout.ko" "$build/debian-6.12/earlier.ko"
	echo earlier.ko >> "$build/debian-6.12/made"
	scripts/build.sh debian-6.12 &&
		qemu/boot.sh -t $limit -d "$work" -a LIMITS=own debian-6.12 limits 2>&1 |
			tee "$log/limits-boot.log"
	rm -rf "$work" "$build/debian-6.12/mine.ko"
	grep -q "limits: ok, 2 passed" "$log/limits-boot.log"
}

refuses_dynamic() {
	! qemu/boot.sh -d "$1" debian-6.12 limits 2> "$log/limits-boot.log" &&
		grep "boot.sh: $1/.* is not statically linked" "$log/limits-boot.log"
}

mkdir -p "$build/limits"
cp /bin/true "$build/limits/"
item "a program and a module of one's own" own
item "a program that wants a C library is refused" refuses_dynamic "$build/limits"
item "an option of QEMU's with a comma: -r" boot silent 1 "limits: ok" -r "$log/limits,ram"
rm -f "$log/limits,ram"

# The third attempt is the last.
item "what alarms before the job is repeated" \
	boot "prints x=WARNING:" 1 "spoilt by QEMU or the host, attempt 3 of 3"
finish
