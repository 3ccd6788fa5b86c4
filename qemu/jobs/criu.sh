#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: CRIU dumps processes that have callouts, and restores them in another boot.
#
# CALLOUT_CRIU=dump: two processes, moved, are dumped; their images go to boot.sh's -o, as a tar
# file. CALLOUT_CRIU=restore: the images are in /images. For scripts/check/criu.sh.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# A restore gives each process its number: no other process of either boot has one from here on.
first=20000

# start NAME COUNT [ahead]
start() {
	name=$1
	shift
	first=$((first + 1000))
	echo $first > /proc/sys/kernel/ns_last_pid
	moved "/tmp/$name" "$@" || return
	tries=600
	while [ ! -e "/tmp/$name.pid" ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return
		sleep 0.1
	done
	cp "/tmp/$name.pid" /images/
}

# runs_criu DIRECTORY COMMAND OPTION...: criu, with its images and its log in the directory
runs_criu() {
	images=$1
	log=$images/$2.log
	mkdir -p "$images"
	shift
	/usr/sbin/criu "$@" -D "$images" -o "${log##*/}" -v4 --manage-cgroups=ignore
}

# dump NAME [DIRECTORY]: and the process has ended
dump() {
	pid=$(cat "/images/$1.pid")
	CALLOUT_STALE_HANDLES=1 runs_criu "${2:-/images/$1}" dump -t "$pid" ||
		{ grep -E "Error|Warn" "$log" | sed 's/^/# /'; return 1; }
	while [ -e "/proc/$pid" ]; do
		sleep 0.1
	done
}

# dump_fails PATTERN NAME OPTION...: the log says why, and the process still runs
dump_fails() {
	pattern=$1
	pid=$(cat "/images/$2.pid")
	shift 2
	rm -rf /tmp/failed
	! runs_criu /tmp/failed dump -t "$pid" "$@" || return
	if ! grep -qE "$pattern" "$log"; then
		grep Error "$log" | sed 's/^/# /'
		return 1
	fi
	[ -e "/proc/$pid/exe" ]
}

# restore NAME [DIRECTORY]
restore() {
	runs_criu "${2:-/images/$1}" restore -d ||
		{ grep -E "Error|Warn" "$log" | sed 's/^/# /'; return 1; }
}

# sees NAME: what the process says of its callouts
sees() {
	cat > "/tmp/sees-$1" <<-EOF2
		#!/bin/sh
		pid=$(cat "/images/$1.pid")
		kill -USR1 \$pid
		while [ ! -e /tmp/$1 ]; do
			[ -e /proc/\$pid/exe ] || exit 1
			sleep 0.2
		done
		cat /tmp/$1
	EOF2
	chmod +x "/tmp/sees-$1"
	run "/tmp/sees-$1"
}

# dumped NAME N: files of the process, together with N callouts or more, some unread
dumped() {
	sed -n 's/^.*callout: file //p' "/images/$1/dump.log" | tee /tmp/files
	awk -v least="$2" '{ n += $2; unread += $4 } END { exit n < least || !unread }' /tmp/files
}

# CRIU looks at what TCP and nftables can do.
ifconfig lo 127.0.0.1 up
for module in /lib/criu-*.ko; do
	insmod "$module"
done
load_module
if [ "${CALLOUT_CRIU:-dump}" = dump ]; then
	mkdir -p /images /tmp/none
	check "start" start plain 100000
	check "without the plugin a dump fails" \
		dump_fails "Can't dump file [0-9]+ of that type .20600. \(chr 10:" plain \
		-L /tmp/none
	check "a dump of handles fails" dump_fails "a callout has a handle and no key" plain
	check "dump" dump plain
	check "callouts were dumped" dumped plain 100000
	check "start in a time namespace" start ahead 1000 ahead
	check "dump in a time namespace" dump ahead
	check "restore in the same boot" restore ahead
	sees ahead
	rm -f /tmp/ahead
	tar -c -C / images > /dev/vport0p1
else
	check "restore" restore plain
	check "dump again" dump plain /tmp/again
	check "restore again" restore plain /tmp/again
	sees plain
	check "restore of a time namespace" restore ahead
	sees ahead
fi
unload_module || wrong "the module did not unload"
finish
