# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2164 # lib.sh and check.sh set these, and strict mode
# What check.sh keeps in the cache: what it has built, and what has passed. Sourced by it.

# What "make check" builds is kept in the cache, for other clones of the same tree. A file there has
# in its name what it was made from: all sources and scripts, the installed packages, the kernel.
# Files of the last days are kept.

# Relative to the top: what builds and boots are made of, and what only the steps read that
# identity() names. static.sh finds what is in neither.
sources=(Kbuild Kconfig VERSION Makefile dkms.conf kunit module qemu replaced scripts selftests
	tools udev)
documents=(Documentation debian LICENSES AUTHORS NEWS README.md CONTRIBUTING.md HACKING.md .ci
	.clang-format .clangd .editorconfig .gitattributes .gitignore)

# sums PATH...: of all files there
sums() { find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; }

# everything [KERNEL]: a hash of all but the documents
everything() {
	{
		dpkg-query -W
		"$top/qemu/kernel.sh" -b "${1:-debian-6.12}"
		sums "${sources[@]}"
	} | sha256sum | cut -c 1-16
}

# all_documents: a hash of them
all_documents() { sums "${documents[@]}" | sha256sum | cut -c 1-16; }

# kept_file NAME KERNEL: where the build of this name is or will be kept. The clients' build has
# manual pages.
kept_file() {
	local more=

	case $1 in
	client-*) more=-$(all_documents) ;;
	esac
	echo "$cache/kept/$1-$(everything "$2")$more.tar"
}

# take_kept FILE OUTPUT...: unpacks it. Not if the first of its outputs, patterns of paths in the
# build directory, is there: make has something to go on then.
take_kept() {
	if [ ! -s "$1" ] || compgen -G "$build/$2" > /dev/null; then
		return 1
	fi
	tar -xf "$1" -C "$build" && touch "$1"
}

# keep FILE OUTPUT...
keep() {
	local file=$1
	shift

	mkdir -p "$cache/kept"
	find "$cache/kept" -type f -mtime +3 -delete
	# shellcheck disable=SC2068 # patterns
	(cd "$build" && tar -cf "$file.$$" --exclude=user/obj --exclude=user/fuzzers $@)
	mv "$file.$$" "$file"
}

# "make check-all" and "make check-long" remember which steps have passed, and go on from there if
# they are run again on the same tree. A file in the cache has a line for each: its identity, which
# is its command without the fuzzer's seed, how many tests have passed, its name. Steps that read
# the documents have a hash of these in their identity.
identity() {
	printf %s "$1" | sed 's/-s+[0-9]*+//'
	case $1 in
	*/static.sh*|*/deb-check.sh*|*/intree-check.sh*|*/dkms-check.sh*|*/installed.sh*)
		all_documents ;;
	esac
}

# Takes the steps that have passed off the queue, and the builds that no other step needs.
skip_remembered() {
	local i needed=" " step passed name

	[ -s "$remembered" ] || return 0
	for i in $(printf '%s\n' "${!commands[@]}" | sort -rn); do
		case $needed in
		*" ${builds[i]:-none} "*)
			needed="$needed${needs[i]} "
			continue ;;
		esac
		step=$(identity "${commands[i]}")
		passed=$(step=$step awk -F '\t' '
			$1 == ENVIRON["step"] { print $2, $3; exit }' "$remembered")
		if [ "$passed" ]; then
			read -r passed name <<< "$passed"
			printf '%-28s %5d passed before\n' "$name" "$passed"
			echo "$passed 0" >> "$results"
			unset "commands[i]"
		else
			needed="$needed${needs[i]} "
		fi
	done
}
