# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # for kernel.sh, and set there
# The kernels of the suites of Debian's archive, for kernel.sh, which sources this.

# debian_archive TYPE: TYPE and place of where the host gets its own packages, for a list of apt's
debian_archive() {
	local archive key=/usr/share/keyrings/debian-archive-keyring.gpg

	# shellcheck disable=SC2016 # apt's own variable
	archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		"Codename: bookworm" | LC_ALL=C sort | tail -n 1)
	echo "$1 [signed-by=$key] $archive"
}

# unpack_suite SUITE DIRECTORY: a root file system of this suite, for this machine, in root/, the
# image of its newest kernel in image/. If $foreign is set the image is for that, and root/ has the
# headers and the compiler for it, too. What mmdebstrap mounts there ends with it, also if it is
# killed: the next one removes root/.
unpack_suite() {
	local archive suite sources=

	archive=$(debian_archive deb)
	for suite in "${1%-backports}" "$1"; do
		sources="$sources$archive $suite main"$'\n'
	done
	sort -u <<< "$sources" |
		unshare -m --propagation private mmdebstrap --variant=apt --skip=cleanup/apt \
			--aptopt="APT::Default-Release \"$1\"" \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			--architectures="amd64${foreign:+,$foreign}" \
			--include=make,gcc,linux-headers-amd64 "$1" "$2/root" - &&
		cp /etc/resolv.conf "$2/root/etc/" || return
	[ ! "$foreign" ] || unpack_headers "$2/root" "linux-headers-$(suite_release "$2")" || return
	# Newer suites have it in its own package.
	suite_download "$2/root" {linux-binary,linux-image}-"$(suite_release "$2")" || return
	dpkg-deb -x "$2"/root/var/tmp/linux-*.deb "$2/image"
}

# unpack_headers ROOT PACKAGE: apt would want a compiler that runs there. Debian 12's have a /lib,
# which is a link there.
unpack_headers() {
	local version

	suite_download "$1" "$2" || return
	dpkg-deb --fsys-tarfile "$1/var/tmp/$2"_*.deb |
		tar -x --keep-directory-symlink -C "$1" || return
	rm "$1/var/tmp/$2"_*.deb
	version=$(sed -n 's/^CC = .*gcc\(-[0-9]*\)$/\1/p' "$1/usr/src/$2/.kernelvariables")
	chroot "$1" apt-get -y --no-install-recommends install "gcc$version-$gnu"
}

# suite_download ROOT PACKAGE...: the first of them that there is
suite_download() {
	# shellcheck disable=SC2016 # the inner shell's
	chroot "$1" sh -c '
		cd /var/tmp
		for package in $2; do
			apt-get -o APT::Sandbox::User=root download "$package$1" && exit
		done' sh "${foreign:+:$foreign}" "${*:2}"
}

# The release of the newest kernel in it.
suite_release() {
	(cd "$1/root/usr/src" && printf '%s\n' linux-headers-*-amd64) |
		sed "s/^linux-headers-//; s/amd64$/${foreign:-amd64}/" | sort -V | tail -n 1
}

# suite NAME: SUITE or, with machine_of, ARCHITECTURE-SUITE
suite() {
	local dir=$cache/suite-$1

	if [ ! -e "$dir/complete" ]; then
		lock "suite-$1"
	fi
	if [ ! -e "$dir/complete" ]; then
		say "unpacking a Debian $1, some minutes, once ($dir.log)"
		rm -rf "$dir"
		mkdir -p "$dir"
		: > "$dir.log"
		checked "$dir.log" "unpacking a Debian $1 failed" \
			unpack_suite "${1#"$foreign"-}" "$dir"
		touch "$dir/complete"
	fi
	KERNEL_ROOT=$dir/root
	KERNEL_RELEASE=$(suite_release "$dir")
	KERNEL_BUILD=/usr/src/linux-headers-$KERNEL_RELEASE
	KERNEL_IMAGE=$(find "$dir/image" -name 'vmlinuz*' | head -n 1)
	[ "$KERNEL_IMAGE" ] || die "there is no image in $dir/image"
}

# Sets source_version and source_dir for the suite's newest kernel.
suite_source() {
	local dir=$cache/suite-$1 package release file

	suite "$1"
	release=${KERNEL_RELEASE%%[+-]*}
	package=linux-source-${release%.*}
	source_dir=$dir/source-$release
	source_version=$release
	KERNEL_ROOT=
	[ ! -d "$source_dir" ] || return 0
	lock "suite-$1"
	[ ! -d "$source_dir" ] || return 0
	say "fetching $package of Debian $1"
	rm -rf "$source_dir.partial" "$dir/root/var/tmp/$package"_*
	mkdir -p "$source_dir.partial"
	# shellcheck disable=SC2016 # the inner shell's
	checked "$dir.log" "$package cannot be downloaded" chroot "$dir/root" sh -c '
		cd /var/tmp && apt-get -o APT::Sandbox::User=root download "$1"' sh "$package"
	file=$(find "$dir/root/var/tmp" -name "${package}_*.deb")
	dpkg-deb --fsys-tarfile "$file" | tar -xO "./usr/src/$package.tar.xz" |
		tar -C "$source_dir.partial" --strip-components=1 -xJ
	rm "$file"
	mv "$source_dir.partial" "$source_dir"
}
