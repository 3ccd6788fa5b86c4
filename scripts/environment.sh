# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the scripts do not take over from the shell, hook or daemon that runs them. Sourced first, by
# lib.sh and by each script that does without it. A variable that is given to make on its command
# line still counts: it is in MAKEFLAGS.

# With it cd goes to other directories, and prints where it has gone.
unset CDPATH
# With it bash and what parses options are not as the scripts have them.
unset POSIXLY_CORRECT
# Scripts read what compilers, apt and man print, and sort.
export LC_ALL=C.UTF-8
unset LANGUAGE
# A hook of git's has them.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_PREFIX
# Who builds kernels has them, and kbuild would take them for another kernel's.
unset ARCH SUBARCH CROSS_COMPILE LLVM LLVM_IAS KBUILD_OUTPUT KBUILD_EXTMOD KBUILD_EXTRA_SYMBOLS
unset KCONFIG_CONFIG KCONFIG_ALLCONFIG
# Others read what root installs, and what a program in the test machine runs as another user.
umask 022

# plain_path PATH: no make splits it, nor does the kernel's, which takes no comma either
plain_path() { [[ $1 != *[^[:alnum:]/._+@=-]* ]]; }

# Some scripts build there, and go to other directories.
if [[ ${TMPDIR:-/} != /* ]] || ! plain_path "${TMPDIR:-}"; then
	unset TMPDIR
fi
