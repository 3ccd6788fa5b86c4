# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# The queueing discipline sfq changes its hash every few seconds by a deferrable timer, which
# wakes no CPU.

queues=32

# perturb SECONDS: on each, whose former timer is deleted
perturb() {
	for i in $(seq $queues); do
		echo "qdisc delete dev sfq$i root"
		echo "qdisc add dev sfq$i root sfq perturb $1"
	done > /tmp/commands
	tc -force -batch /tmp/commands > /tmp/said 2>&1 || :
	[ "$(tc qdisc show | grep -c "sfq .* perturb $1sec")" -eq $queues ]
}

make_queues() {
	for i in $(seq $queues); do
		ip link add "sfq$i" type veth peer name "peer$i" &&
			ip link set "sfq$i" up && ip link set "peer$i" up || return 1
	done
}

hundredths() { sed 's/ .*//; s/\.//' /proc/uptime; }

# wake SECONDS: the CPU, ten times a second; took: how long, in hundredths of a second
wake() {
	took=$(hundredths)
	for i in $(seq $((10 * $1))); do
		usleep 100000
	done
	took=$(($(hundredths) - took))
}

check "load sch_sfq.ko" load_client sch_sfq
check "$queues queues" quietly make_queues
check "each perturbed each second" perturb 1
clear_expired
wake 10
check "on time while the CPU is awake" \
	expired sfq_perturbation $((queues * ((took - 100) / 100))) $((queues * (took / 100 + 1)))
check "each each ten seconds" perturb 10
clear_expired
wake 31
check "on time, too" expired sfq_perturbation $((queues * ((took - 100) / 1000))) \
	$((queues * (took / 1000 + 1)))
check "each second once more" perturb 1
for i in $(seq $queues); do
	ip link delete "sfq$i"
done
clear_expired
wake 3
check "none is left of queues that are gone" expired sfq_perturbation 0
check "sch_sfq.ko unloads" rmmod sch_sfq
