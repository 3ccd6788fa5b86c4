#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Finds the commit that broke a suite or case of KUnit, by "git bisect run": builds and boots each
# commit that git chooses. A commit that does not build, or lacks the case, is skipped. All
# commits have the scripts and the kernel of the commit where this begins, in a worktree: the tree
# stays as it is.
#
#   scripts/bisect.sh SUITE[.CASE] GOOD [BAD]     BAD is HEAD by default
#   KERNEL=debug scripts/bisect.sh ...

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
[[ $# -ge 2 && $# -le 3 ]] || die "usage: bisect.sh SUITE[.CASE] GOOD [BAD]"
cd "$top"
bad=$(git rev-parse --verify "${3:-HEAD}^{commit}")
good=$(git rev-parse --verify "$2^{commit}")
began=$(git rev-parse HEAD)
tree=$build/bisect

# step COMMIT CASE KERNEL: tries what is checked out, with the scripts of the commit.
step() {
	local status=0

	git checkout -q "$1" -- scripts qemu || return 255
	rm -f "$CALLOUT_BUILD/log/$3-one".*
	if ! scripts/one.sh kunit "$2" "$3"; then
		status=1
		[ -e "$CALLOUT_BUILD/log/$3-one.console" ] || status=125
	fi
	git reset -q --hard
	return $status
}
{
	declare -f step
	echo 'step "$@"'
} > "$log/bisect.step"

git worktree remove --force "$tree" 2> "$log/bisect.old" || :
git worktree add -q -f --detach "$tree" "$bad"
trap 'git -C "$top" worktree remove --force "$tree"' EXIT
cd "$tree"
export CALLOUT_BUILD=$tree/build
git bisect start "$bad" "$good"
git bisect run bash "$log/bisect.step" "$began" "$1" "${KERNEL:-kunit}"
