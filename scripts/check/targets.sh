#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs targets of the Makefile twice, in a fresh clone with its own empty cache: what the
# first run leaves must not break the second. One TAP line a run; the last line is "N passed, N
# failed".
#
#   scripts/check/targets.sh quick      takes seconds: dependency files outlive their cache
#   scripts/check/targets.sh            every target of "make help" of less than half an hour
#   scripts/check/targets.sh TARGET...  these
#
# Only what is committed is cloned. Logs: build/log/targets/.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
logs=$log/targets
mkdir -p "$logs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The same cache by two names: files named below the first are gone when the second is used.
quick() {
	local name
	local object=$work/user/obj/selftests/harness/tools/rbtree.o

	for name in first second; do
		ln -s "$(realpath "$cache")" "$work/$name"
		item "an object of the harness, $name time" env CALLOUT_CACHE="$work/$name" \
			make --no-print-directory -C selftests O="$work/user" "$object"
		rm "$work/$name"
	done
}

# Targets that take hours, or consist of others, must be named.
chosen() {
	local named="check-all|check-arm64|check-debug|check-long|check-riscv64|check-s390x"

	named="$named|check-schemes-all|deb-check|lab|matrix|mutants|soak"
	echo help
	sed -nE 's/^([a-z][a-z0-9 ._-]*):.*## .*/\1/p' Makefile | tr ' ' '\n' |
		grep -vxE "$named|clean|distclean"
	echo clean
	echo distclean
}

make_target() {
	case $1 in
	kunit) make "$1" SUITE=callout_paper ;;
	gdb) make "$1" SUITE=callout_paper ;;
	selftest) make "$1" TEST=device_noent ;;
	install) make "$1" KERNEL=debian-6.12 DESTDIR="$work/installed" ;;
	uninstall) make install "$1" KERNEL=debian-6.12 DESTDIR="$work/installed" ;;
	torture) make "$1" SECONDS=20 ;;
	shell) echo exit | make "$1" ;;
	*) make "$1" ;;
	esac
}

# run_target TARGET TIME: logs what make prints, and shows its end if it fails.
run_target() {
	local file=$logs/$1-$2.log

	if ! make_target "$1" > "$file" 2>&1 < /dev/null; then
		tail -n 20 "$file"
		echo "see $file"
		return 1
	fi
}

whole() {
	local target

	git clone -q "$top" "$work/clone"
	cd "$work/clone"
	export CALLOUT_CACHE=$work/cache
	unset CALLOUT_BUILD
	for target in "$@"; do
		item "$target, first time" run_target "$target" first
		item "$target, second time" run_target "$target" second
	done
}

case ${1:-} in
quick) quick ;;
'') mapfile -t targets < <(chosen); whole "${targets[@]}" ;;
*) whole "$@" ;;
esac
finish
