#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Downloads or builds a kernel, once, and prints where it is as shell assignments.
#
#   eval "$(qemu/kernel.sh NAME)"       KERNEL_RELEASE, KERNEL_BUILD (for external modules),
#                                       KERNEL_IMAGE (to boot), KERNEL_ROOT, KERNEL_BUSYBOX and
#                                       KERNEL_CROSS, what the names of its compiler's programs
#                                       begin with, empty for the host's
#   eval "$(qemu/kernel.sh -b NAME)"    the first two only: does not fetch Debian's image
#   eval "$(qemu/kernel.sh -m NAME)"    all three and KERNEL_MODULES, the directory of Debian's own
#                                       modules, empty for a kernel that has none
#   qemu/kernel.sh -s                   the directory of linux-source-6.12, for its scripts/
#
# NAME: debian-6.1, debian-6.12, debian-6.12-rt: Debian's own, unpacked from its package, never
#                installed;
#       kunit, debug, kcsan, gdb: built from Debian's linux-source-6.12 with the .config fragments
#                that are here;
#       uml:     User Mode Linux, a program of this machine, built from the same source with
#                uml.config; uml-debug: with uml-debug.config, too;
#       oldhp:   as kunit, with the cpuhp_setup_state() of kernels before 6.1.97, 6.6.37, 6.9.8 and
#                6.10: see oldhp.patch;
#       clang:   as kunit, but with LLVM=1, and only what modules need: nothing to boot;
#       replaced: with -b, built from the same source in build/, with replaced/replaced.config and
#                replaced.patch: timer_list is a callout of this tree; replaced-debug: with
#                debug.config, too;
#       unreplaced, unreplaced-debug: the same without the patch, to compare with;
#       bench: kunit's kernel, for modules as they are installed; fuzz: debug's, for a module that
#       tells which code has run; interleave: kunit's, for a module with points; NAME+lab, of
#       Debian's kernels, for modules with CONFIG_CALLOUT_LAB; see scripts/build.sh;
#       trixie, trixie-backports, testing, unstable: the newest kernel of this suite of Debian's
#                archive, in its own root file system, KERNEL_ROOT, with the compiler that its
#                headers want: KERNEL_BUILD is a place in there;
#       arm64:   debian-6.12 of that architecture, with a cross compiler, KERNEL_CROSS;
#       arm64-trixie, ..., and arm64-bookworm, Debian 12: the newest kernel of this suite for that
#                architecture, as trixie, ...;
#       s390x, riscv64: the cross compiler and KERNEL_BUSYBOX alone: nothing to boot;
#       kunit-SUITE: kunit, of the newest source of this suite, with this machine's compiler;
#       bench-SUITE: its kernel, as bench is kunit's; uml-SUITE: uml, of the same source;
#       kunit-arm64, kunit-s390x, kunit-riscv64: kunit for that architecture, with its compiler;
#       kunit-arm64-SUITE: kunit-arm64, of the newest source of this suite;
#       running: the running kernel, to build for.

set -euo pipefail

# shellcheck source=scripts/environment.sh
. "$(dirname "$0")/../scripts/environment.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=${here%/*}
overlay=$top/replaced
build=${CALLOUT_BUILD:-$top/build}
cache=${CALLOUT_CACHE:-${XDG_CACHE_HOME:-${HOME:-$build}/.cache}/callout}
source_package=linux-source-6.12
# shellcheck source=qemu/machines.sh
. "$here/machines.sh"
# shellcheck source=qemu/archive.sh
. "$here/archive.sh"

die() { echo "kernel.sh: $*" >&2; exit 1; }
say() { echo "kernel.sh: $*" >&2; }

# usage [KERNEL]: of a wrong one
usage() {
	local names="debian-6.1|debian-6.12|debian-6.12-rt|kunit|debug|kcsan|gdb|oldhp|bench"

	names="$names|fuzz|interleave|uml[-debug]|clang|replaced[-debug]|unreplaced[-debug]|running"
	names="$names|[kunit-|bench-|uml-]{trixie|trixie-backports|testing|unstable}"
	names="$names|[kunit-]arm64|[kunit-]s390x|[kunit-]riscv64|[kunit-]arm64-SUITE"
	[ $# -eq 0 ] || die "there is no kernel \"$1\": $names"
	die "usage: kernel.sh -s | [-b|-m] $names"
}

installed_version() {
	{ dpkg-query -W -f '${db:Status-Status} ${Version}' "$1" 2>/dev/null || :; } |
		sed -n 's/^installed //p'
}

# An interrupted step leaves only a *.partial, which the next run removes.
lock() {
	plain_path "$cache" || die "$cache has a blank, a comma, a colon or the like, which the" \
		"kernel's build cannot take; CALLOUT_CACHE names another cache"
	mkdir -p "$cache"
	exec 9> "$cache/$1.lock"
	flock 9
}

# The release that the installed header meta-package $1 stands for, such as 6.1.0-56-amd64.
headers_release() {
	dpkg-query -W -f '${Depends}' "$1" 2>/dev/null | grep -o 'linux-headers-[^ ,]*' |
		sed 's/^linux-headers-//' ||
		die "$1 is not installed; run scripts/setup.sh all, or rt"
}

# unpack_image DIRECTORY PART RELEASE VERSION: the part, boot or lib, of Debian's image of exactly
# the headers' version: another may refuse modules built with them.
unpack_image() {
	local dir=$1 part=$2 package=linux-image-$3 version=$4

	[ ! -d "$dir" ] || return 0
	lock "${dir##*/}"
	[ ! -d "$dir" ] || return 0
	say "fetching Debian's $package $version"
	rm -rf "$dir.partial"
	mkdir -p "$dir.partial/package"
	(cd "$dir.partial" &&
	 apt-get -qq -o APT::Sandbox::User=root download "$package=$version") >&2 ||
		die "$package $version, the version of the installed headers, cannot be" \
		    "downloaded; the archive may have a newer one: upgrade linux-headers, then" \
		    "try again"
	dpkg-deb -x "$dir.partial"/*.deb "$dir.partial/package"
	mv "$dir.partial/package/$part" "$dir.partial/"
	rm -rf "$dir.partial"/*.deb "$dir.partial/package"
	mv "$dir.partial" "$dir"
}

fetch_image() {
	local release=$1 version=$2 dir

	if [ "$(installed_version "linux-image-$release")" = "$version" ] &&
	   [ -r "/boot/vmlinuz-$release" ]; then
		KERNEL_IMAGE=/boot/vmlinuz-$release
		return
	fi
	dir=$cache/image-$release-$version
	KERNEL_IMAGE=$dir/boot/vmlinuz-$release
	unpack_image "$dir" boot "$release" "$version"
}

fetch_modules() {
	local release=$1 version=$2 dir

	KERNEL_MODULES=/lib/modules/$release/kernel
	if [ "$(installed_version "linux-image-$release")" = "$version" ] &&
	   [ -d "$KERNEL_MODULES" ]; then
		return
	fi
	dir=$cache/modules-$release-$version
	KERNEL_MODULES=$dir/lib/modules/$release/kernel
	unpack_image "$dir" lib "$release" "$version"
}

debian() {
	local flavour version

	flavour=${1#debian-}
	case $flavour in
	6.1) flavour= ;;
	*) flavour=$flavour- ;;
	esac
	KERNEL_RELEASE=$(headers_release "linux-headers-${flavour}amd64")
	KERNEL_BUILD=/usr/src/linux-headers-$KERNEL_RELEASE
	[ -d "$KERNEL_BUILD" ] || die "$KERNEL_BUILD is missing; run scripts/setup.sh"
	version=$(installed_version "linux-headers-$KERNEL_RELEASE")
	[ "$build_only" ] || fetch_image "$KERNEL_RELEASE" "$version"
	[ ! "$with_modules" ] || fetch_modules "$KERNEL_RELEASE" "$version"
}

digest() { sha256sum | cut -c1-12; }

# The last setting of each option in the fragments, one line each.
merge_fragments() {
	awk '/^CONFIG_/ { split($0, a, "="); o[a[1]] = $0 }
	     /^# CONFIG_[A-Z0-9_]* is not set$/ { o[$2] = $0 }
	     END { for (k in o) print o[k] }' "$@" | LC_ALL=C sort
}

# Fails if Kconfig dropped an option because of a missing dependency.
check_config() {
	local wanted=$1 config=$2 line option missing=

	while read -r line; do
		case $line in
		'#'*)	option=${line#\# }; option=${option%% *}
			! grep -q "^$option=" "$config" || missing="$missing $option(off)" ;;
		*)	grep -qxF -- "$line" "$config" || missing="$missing ${line%%=*}" ;;
		esac
	done < "$wanted"
	[ -z "$missing" ] || die "these options did not take effect:$missing"
}

# Sets source_version and source_dir.
unpack_source() {
	source_version=$(installed_version $source_package)
	[ "$source_version" ] || die "$source_package is not installed; run scripts/setup.sh"
	source_dir=$cache/linux-source-$source_version
	[ ! -d "$source_dir" ] || return 0
	lock source
	[ ! -d "$source_dir" ] || return 0
	say "unpacking $source_package"
	rm -rf "$source_dir.partial"
	mkdir -p "$source_dir.partial"
	tar -C "$source_dir.partial" --strip-components=1 -xf /usr/src/$source_package.tar.xz
	mv "$source_dir.partial" "$source_dir"
	ln -sfn "${source_dir##*/}" "$cache/$source_package"
}

# Makes source_dir a patched copy of itself, by links, and adds the patch to source_version.
patch_source() {
	source_version="$source_version $(digest < "$here/$1.patch")"
	local copy=$cache/$1-source-${source_version##* }

	[ -d "$copy" ] || lock "$1-source"
	if [ ! -d "$copy" ]; then
		rm -rf "$copy.partial"
		cp -as "$source_dir" "$copy.partial"
		# Replaces the link by a file.
		patch -s --follow-symlinks -d "$copy.partial" -p1 < "$here/$1.patch" >&2 ||
			die "$1.patch does not apply"
		mv "$copy.partial" "$copy"
	fi
	source_dir=$copy
}

# checked LOG COMPLAINT COMMAND...: appends the output to the log; dies with its end if it fails.
checked() {
	if ! "${@:3}" >> "$1" 2>&1; then
		tail -n 40 "$1" >&2
		die "$2, see $1"
	fi
}

# configure NAME TREE LOG [MAKE ARGUMENTS...]
configure() {
	local name=$1 tree=$2 log=$3

	shift 3
	rm -rf "$tree"
	mkdir -p "$tree"
	: > "$log"
	merge_fragments "${fragments[@]}" > "$tree/wanted.config"
	checked "$log" "configuring the $name kernel failed" \
		make -s -C "$source_dir" O="$tree" KCONFIG_ALLCONFIG="$tree/wanted.config" "$@" \
		allnoconfig
	check_config "$tree/wanted.config" "$tree/.config"
}

# build_tree NAME TREE IMAGE [MAKE ARGUMENTS...]: in place, since the tree holds absolute paths; the
# file "complete" marks a whole one.
build_tree() {
	local name=$1 tree=$2 image=$3 log=$2/build.log

	shift 3
	[ ! -e "$tree/complete" ] || return 0
	lock "$name"
	[ ! -e "$tree/complete" ] || return 0
	say "building the $name kernel, a few minutes, once ($log)"
	configure "$name" "$tree" "$log" "$@"
	checked "$log" "building the $name kernel failed" \
		make -s -C "$source_dir" O="$tree" "$@" -j"$(nproc)" "${image##*/}" modules_prepare
	[ "$name" != gdb ] || checked "$log" "making the scripts of gdb failed" \
		make -s -C "$source_dir" O="$tree" scripts_gdb
	# No option is =m: modules can use only the exports of vmlinux.
	cp "$tree/vmlinux.symvers" "$tree/Module.symvers"
	# External modules need the headers, scripts and objtool, not the objects.
	find "$tree" -type f \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' \) \
		! -path "$tree/scripts/*" ! -path "$tree/tools/*" -delete
	rm -f "$tree"/.tmp_vmlinux* "$tree/vmlinux.unstripped" "$tree/System.map"
	touch "$tree/complete"
}

# Adds to fragments those for the source's version and older ones: kunit-VERSION.config.
since_versions() {
	local file since

	for file in "$here"/kunit-[0-9]*.config; do
		since=${file##*/kunit-}
		! printf '%s\n' "${since%.config}" "$source_version" | sort -VC ||
			fragments+=("$file")
	done
}

# built NAME [MAKE ARGUMENTS...]
built() {
	local name=$1 suite='' key tree

	shift
	machine_of "$name"
	case $name in
	kunit-*) suite=${name#kunit-}; suite=${suite#"$foreign"}; suite=${suite#-} ;;
	uml-debug) ;;
	uml-*) suite=${name#uml-} ;;
	esac
	# All architectures have one source.
	if [ "$suite" ]; then foreign='' suite_source "$suite"; else unpack_source; fi
	case ${foreign:-$name} in
	"$foreign")
		fetch_foreign
		fragments=("$here"/kunit{,-other,-"$foreign"}.config)
		[ "$foreign" = arm64 ] || fragments+=("$here/kunit-device.config")
		set -- ARCH="$arch" CROSS_COMPILE="$KERNEL_CROSS" "$@" ;;
	oldhp) fragments=("$here/kunit.config"); patch_source "$name" ;;
	kunit|kunit-*) fragments=("$here/kunit.config") ;;
	uml-debug) fragments=("$here"/uml{,-debug}.config) ;;
	uml|uml-*) fragments=("$here/uml.config") ;;
	unreplaced) fragments=("$here/kunit.config" "$overlay/replaced.config") ;;
	unreplaced-debug)
		fragments=("$here"/{kunit,debug}.config "$overlay/replaced.config") ;;
	*) fragments=("$here/kunit.config" "$here/$name.config") ;;
	esac
	case $name in uml*) ;; *) since_versions ;; esac
	key=$({
		echo "$source_version"
		merge_fragments "${fragments[@]}"
		"${KERNEL_CROSS}gcc" --version
	} | digest)
	tree=$cache/$name-$key
	build_tree "$name" "$tree" "$bootable" "$@"
	KERNEL_RELEASE=$(cat "$tree/include/config/kernel.release")
	KERNEL_BUILD=$tree
	KERNEL_IMAGE=$tree/$bootable
}

# Makes source_dir a copy of itself, by links, in which timer_list is a callout: patched, and with
# the facility in callout/. It stays in place, and what has not changed is not written, so that a
# build compiles only what has.
overlay_source() {
	local copy=$build/source-$source_version patch=$overlay/replaced.patch new=$build/patched
	local file

	if [ ! -d "$copy" ]; then
		rm -rf "$copy.partial"
		cp -as "$source_dir" "$copy.partial"
		mv "$copy.partial" "$copy"
	fi
	rm -rf "$new"
	sed -n 's~^+++ b/~~p' "$patch" | while read -r file; do
		mkdir -p "$(dirname "$new/$file")"
		cp "$source_dir/$file" "$new/$file"
	done
	patch -s -d "$new" -p1 < "$patch" >&2 || die "replaced.patch does not apply"
	# Files that an earlier version of the patch has changed.
	find "$copy" -type f -printf '%P\n' | while read -r file; do
		[ -e "$new/$file" ] || ln -sf "$source_dir/$file" "$copy/$file"
	done
	for file in $(cd "$new" && find . -type f); do
		cmp -s "$new/$file" "$copy/$file" ||
			cp --remove-destination "$new/$file" "$copy/$file"
	done
	ln -sfn "$top" "$copy/callout"
	for file in "$overlay"/include/linux/*.h \
		    "$top"/module/include/linux/callout_{node,timer_types}.h; do
		ln -sf "$file" "$copy/include/linux/"
	done
	source_dir=$copy
}

# replaced NAME FRAGMENT...: in the build directory; with -b it is built.
replaced() {
	local name=$1 tree=$build/$1 log=$build/log/build-$1.make

	shift
	KERNEL_BUILD=$tree
	KERNEL_IMAGE=$tree/vmlinux
	if [ "$build_only" ]; then
		mkdir -p "$tree" "$build/log"
		exec 9> "$build/replaced.lock"
		flock 9
		unpack_source
		overlay_source
		merge_fragments "$@" > "$tree/wanted.partial"
		: > "$log"
		if ! cmp -s "$tree/wanted.partial" "$tree/wanted.config"; then
			checked "$log" "configuring the $name kernel failed" \
				make -s -C "$source_dir" O="$tree" \
				KCONFIG_ALLCONFIG="$tree/wanted.partial" allnoconfig
			check_config "$tree/wanted.partial" "$tree/.config"
			mv "$tree/wanted.partial" "$tree/wanted.config"
		fi
		say "building the $name kernel ($log)"
		checked "$log" "building the $name kernel failed" \
			make -s -C "$source_dir" O="$tree" -j"$(nproc)" vmlinux modules_prepare
		cp "$tree/vmlinux.symvers" "$tree/Module.symvers"
	fi
	[ -r "$KERNEL_IMAGE" ] || die "the $name kernel is not built: see kernel.sh -b"
	KERNEL_RELEASE=$(cat "$tree/include/config/kernel.release")
}

# Modules are linked to the exports of kunit's vmlinux, since clang's is never built.
prepared() {
	local key tree symvers

	built kunit
	symvers=$KERNEL_BUILD/Module.symvers
	key=$({ echo "$KERNEL_BUILD"; clang --version; ld.lld --version; } | digest)
	tree=$cache/clang-$key
	if [ ! -e "$tree/complete" ]; then
		lock clang
		if [ ! -e "$tree/complete" ]; then
			say "preparing the clang tree"
			configure clang "$tree" "$tree.log" LLVM=1
			checked "$tree.log" "preparing the clang tree failed" \
				make -s -C "$source_dir" O="$tree" LLVM=1 -j"$(nproc)" \
				modules_prepare
			cp "$symvers" "$tree/Module.symvers"
			touch "$tree/complete"
		fi
	fi
	KERNEL_BUILD=$tree
	KERNEL_RELEASE=$(cat "$tree/include/config/kernel.release")
	KERNEL_IMAGE=
}

# build_busybox COMPILER DIRECTORY OPTION...: out of the source of Debian's busybox-static and with
# its configuration, by an apt with these options that has its directories in DIRECTORY
build_busybox() {
	local cross=$1 dir=$2

	shift 2
	set -- "$@" -o "Dir::Etc::sourcelist=$dir/source.list" -o Dir::Etc::sourceparts=-
	echo "$(debian_archive deb-src) bookworm main" > "$dir/source.list"
	mkdir "$dir/busybox"
	apt-get "$@" update && cd "$dir" && apt-get "$@" --download-only source busybox &&
		tar -C busybox --strip-components=1 -xf busybox_*.orig.tar.* &&
		tar -C busybox -xf busybox_*.debian.tar.* && cd busybox &&
		cp debian/config/pkg/static .config &&
		{ yes '' || :; } | make -s oldconfig &&
		make -s -j"$(nproc)" CROSS_COMPILE="$cross" busybox
}

# unpack_foreign ARCHITECTURE GNU-NAME RELEASE VERSION DIRECTORY: busybox of another architecture,
# the compiler for it and, for arm64, image and headers, by an apt with its own directories,
# so that the host's has no other architecture. The compiler cannot be installed: its package
# conflicts with gcc-multilib. What it needs of the host's libraries gcc and binutils need, too.
unpack_foreign() {
	local apt=$5/apt program package
	local options=(
		-q -o APT::Architecture=amd64 -o APT::Sandbox::User=root -o "Dir::State=$apt"
		-o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status"
		-o "Dir::Cache=$apt/cache"
	)
	local packages=(
		"binutils-$2" {cpp,gcc}-{12-,}"$2" "libgcc-12-dev-$1-cross" "libgcc-s1-$1-cross"
		"libc6-$1-cross" "libc6-dev-$1-cross" "linux-libc-dev-$1-cross"
	)

	# Debian 12 has compilers for riscv64, and no packages of it.
	if [ "$1" != riscv64 ]; then
		options+=(-o "APT::Architectures=amd64,$1")
		packages+=("busybox-static:$1")
	fi
	# Of the others Debian 12 has this version not or no more.
	[ "$1" != arm64 ] || packages+=("linux-image-$3:$1=$4" "linux-headers-$3:$1=$4")
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$5/cross"
	: > "$apt/status"
	apt-get "${options[@]}" update &&
		(cd "$apt" && apt-get "${options[@]}" download "${packages[@]}") || return
	for package in "$apt"/*.deb; do
		dpkg-deb -x "$package" "$5" || return
	done
	cp "$here/cross.sh" "$5/cross/" || return
	for program in "$5/usr/bin/$2"-*; do
		ln -s cross.sh "$5/cross/${program##*/}" || return
	done
	# The programs that the headers refer to, modpost among them, are this machine's.
	ln -s "/usr/lib/linux-kbuild-${3%-*}" "$5/usr/lib/" || return
	if [ "$1" = riscv64 ]; then
		(build_busybox "$5/cross/$2-" "$apt" "${options[@]}") || return
		mkdir -p "$5/bin" && cp "$apt/busybox/busybox" "$5/bin/" || return
	fi
	# The modules, 100 MB, which no job uses.
	rm -rf "$apt" "${5:?}/lib"
}

# What $foreign needs: for arm64 the same version as debian-6.12, whose headers the two share.
fetch_foreign() {
	local native version dir log

	native=$(headers_release linux-headers-6.12-amd64)
	version=$(installed_version "linux-headers-$native")
	KERNEL_RELEASE=${native%-amd64}-$foreign
	dir=$cache/$foreign-$version
	log=$dir.log
	if [ ! -e "$dir/complete" ]; then
		lock "$foreign"
	fi
	if [ ! -e "$dir/complete" ]; then
		say "fetching Debian's packages for $foreign ($log)"
		rm -rf "$dir"
		mkdir -p "$dir"
		: > "$log"
		checked "$log" "fetching Debian's packages for $foreign failed" unpack_foreign \
			"$foreign" "$gnu" "$KERNEL_RELEASE" "$version" "$dir"
		touch "$dir/complete"
	fi
	KERNEL_BUSYBOX=$dir/bin/busybox
	KERNEL_CROSS=$dir/cross/$gnu-
	KERNEL_BUILD=$dir/usr/src/linux-headers-$KERNEL_RELEASE
	KERNEL_IMAGE=$dir/boot/vmlinuz-$KERNEL_RELEASE
	[ -e "$KERNEL_IMAGE" ] || KERNEL_RELEASE='' KERNEL_BUILD='' KERNEL_IMAGE=''
}

build_only=
with_modules=
case ${1:-} in
-b) build_only=yes; shift ;;
-m) with_modules=yes; shift ;;
esac
[ $# -eq 1 ] || usage
KERNEL_IMAGE=
KERNEL_MODULES=
KERNEL_ROOT=
KERNEL_BUSYBOX=/bin/busybox
KERNEL_CROSS=
case ${1%+lab} in
-s) unpack_source; echo "$source_dir"; exit ;;
debian-6.1|debian-6.12|debian-6.12-rt) debian "${1%+lab}" ;;
kunit|debug|kcsan|gdb|oldhp|unreplaced|unreplaced-debug) built "$1" ;;
kunit-trixie|kunit-trixie-backports|kunit-testing|kunit-unstable) built "$1" ;;
kunit-arm64|kunit-s390x|kunit-riscv64) built "$1" ;;
kunit-arm64-trixie|kunit-arm64-trixie-backports) built "$1" ;;
kunit-arm64-testing|kunit-arm64-unstable) built "$1" ;;
bench|interleave) built kunit ;;
bench-trixie|bench-trixie-backports|bench-testing|bench-unstable) built "kunit-${1#bench-}" ;;
fuzz) built debug ;;
uml|uml-debug|uml-trixie|uml-trixie-backports|uml-testing|uml-unstable) built "$1" ARCH=um ;;
clang) prepared ;;
replaced) replaced "$1" "$here/kunit.config" "$overlay/replaced.config" ;;
replaced-debug) replaced "$1" "$here"/{kunit,debug}.config "$overlay/replaced.config" ;;
trixie|trixie-backports|testing|unstable) machine_of "$1"; suite "$1" ;;
arm64-bookworm|arm64-trixie|arm64-trixie-backports|arm64-testing|arm64-unstable)
	machine_of "$1"
	fetch_foreign
	suite "$1" ;;
arm64|s390x|riscv64) machine_of "$1"; fetch_foreign ;;
running)
	KERNEL_RELEASE=$(uname -r)
	KERNEL_BUILD=/lib/modules/$KERNEL_RELEASE/build ;;
*) usage "$1" ;;
esac
printf "%s='%s'\n" KERNEL_RELEASE "$KERNEL_RELEASE" KERNEL_BUILD "$KERNEL_BUILD" \
	KERNEL_IMAGE "$KERNEL_IMAGE" KERNEL_ROOT "$KERNEL_ROOT" KERNEL_BUSYBOX "$KERNEL_BUSYBOX" \
	KERNEL_CROSS "$KERNEL_CROSS"
[ ! "$with_modules" ] || printf "KERNEL_MODULES='%s'\n" "$KERNEL_MODULES"
