#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the tests and examples of the Rust crate, on the device. For scripts/check/rust.sh.

# shellcheck source=qemu/tap.sh
. /lib/tap.sh

# tests NAME: what Rust's tests print, as TAP
tests() {
	cat > "/tmp/$1" <<-EOF2
		#!/bin/sh
		/rust/deps/$1 | awk -v program=$1 -f /tmp/tap.awk
	EOF2
	chmod +x "/tmp/$1"
	run "/tmp/$1"
}

cat > /tmp/tap.awk <<-'EOF2'
	/^running [0-9]+ tests?$/ { print "1.." $2; next }
	/^test .* \.\.\. / {
		n++
		print ($NF == "ok" ? "ok " : "not ok ") n " " program ": " $2
		next
	}
	/^test result: ok\./ { good = 1 }
	{ print "# " $0 }
	END { exit !good }
EOF2

# It says so if it is on a timerfd.
idle_tokio() {
	/rust/examples/idle_tokio 10000 2 > /tmp/out || return
	sed 's/^/# /' /tmp/out
	! grep -q timerfd /tmp/out
}

# The example is a server.
ifconfig lo 127.0.0.1 up
load_module
for name in timers soundness mio; do
	tests $name
done
check "10 000 idle timeouts in tokio" idle_tokio
unload_module || wrong "the module did not unload"
finish
