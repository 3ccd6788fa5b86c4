#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: modules that nobody here wrote, whose timers one added line has made callouts, do what they
# do with Linux's timers. For boot.sh -i, whose time leaps over sleep: the delays are the modules'
# own, minutes. With the arguments
#
#   CLIENTS_TIMERS=linux   the modules as they are: what the tests themselves are tried on
#   CLIENTS_TESTS=a+b      only these files of /lib/clients
#   CLIENTS_PEERS=N        that many pairs of peers of WireGuard, or to the next square; 1024
#   CLIENTS_GROUPS=N       that many multicast groups of a bridge; 1000
#   CLIENTS_SECONDS=N      the length of "churn", which is in real time; 20

# shellcheck source=qemu/tap.sh
. /lib/tap.sh
timers=${CLIENTS_TIMERS:-callout}
clients=/lib/clients

# shellcheck source=qemu/jobs/clients/expired.sh
. $clients/expired.sh

# busybox prefers its own.
ip() { /sbin/ip "$@"; }
tc() { /sbin/tc "$@"; }

# load_client NAME: a module that is linked with callout.ko, or is not
load_client() {
	insmod "$clients/$timers/$1.ko"
}

# quietly COMMAND...: its output is shown if it fails
quietly() {
	"$@" > /tmp/said 2>&1 || { sed 's/^/# /' /tmp/said; return 1; }
}

if [ -e $clients/wanted ]; then
	# shellcheck disable=SC2046 # names
	modprobe -a $(cat $clients/wanted)
fi
mkdir -p /var
ln -snf /run /var/run
[ "$timers" = linux ] || load_module
count_expired
tests=$(echo "${CLIENTS_TESTS:-wireguard+bridge+sfq+vgem}" | tr + ' ')
for test in $tests; do
	echo "# $test, timers of $timers"
	# shellcheck source=/dev/null
	. "$clients/$test.sh"
done
count_no_more
if [ "$timers" = callout ]; then
	check "callout.ko unloads" unload_module
	check "no callout is left" eval '! callouts_left'
fi
finish
