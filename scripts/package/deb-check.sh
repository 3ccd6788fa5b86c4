#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the packages of deb.sh on a Debian 12 with systemd and udev, in its own root file
# system: DKMS builds for its kernel and for a kernel that is installed later; the system boots in
# QEMU with the module, the device and its group in place, and once more with a kernel that wants
# signatures; newer packages replace these; removing the packages leaves nothing. Builds the tarball
# of dist.sh, too. The last line is "N passed, N failed".
#
#   scripts/package/deb-check.sh

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || die "usage: deb-check.sh"
"$top/scripts/setup.sh" system
base=$cache/system
root=$build/system
image=$build/system.ext4
ovmf=/usr/share/OVMF
variables=$build/system.variables
version=$(cat "$top/VERSION")
newer=$version+newer
exec 9> "$build/system.lock"
flock 9

# What a user has before the packages come, and what this test needs. What mmdebstrap mounts ends
# with it, as in in_root.
unpack_base() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg

	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format "deb [signed-by=$key] "'$(REPO_URI) $(CODENAME) main' \
		'Created-By: Packages' 'Origin: Debian' | sort -u |
		unshare -m --propagation private mmdebstrap --variant=apt --skip=cleanup/apt \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			--include=systemd-sysv,udev,kmod,linux-image-amd64,linux-headers-amd64 \
			--include=initramfs-tools,dkms,man-db,gcc,libc6-dev,libev-dev,pkgconf \
			bookworm "$base.partial" - &&
		cp /etc/resolv.conf "$base.partial/etc/" &&
		mv "$base.partial" "$base"
}

in_root() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private sh -ec '
		mount -t proc proc "$0/proc"
		mount -t sysfs sysfs "$0/sys"
		exec chroot "$0" env DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@"
}

# Without git, and without what this build directory has. The pages of functions are its own.
dist_builds() {
	local tarball kernel=$build/dist/kernel

	tarball=$("$top/scripts/package/dist.sh")
	rm -rf "$build/dist"
	mkdir -p "$build/dist"
	tar -C "$build/dist" --strip-components=1 -xf "$tarball" &&
		make -C "$build/dist/tools" O="$build/dist/out" all &&
		mkdir -p "$kernel/scripts" && ln -s /bin/false "$kernel/scripts/kernel-doc" &&
		"$build/dist/scripts/package/man.sh" "$build/dist/pages" "$kernel" &&
		grep -q 'B #include <linux/callout.h>' "$build/dist/pages/man9/callout_reset.9"
}

# The sources of a tarball, though they are below a clone, have nothing committed.
dist_of_dist() {
	! env -u CALLOUT_BUILD "$build/dist/scripts/package/deb.sh" > "$log/dist.said" 2>&1 &&
		grep -q 'is no clone.*dpkg-buildpackage' "$log/dist.said"
}

# install_packages DIRECTORY
install_packages() {
	rm -rf "$root/deb"
	mkdir -p "$root/deb"
	cp "$1"/*.deb "$root/deb/"
	# The lists are as old as the cache. openssl, so that DKMS signs.
	in_root apt-get update && in_root apt-get -y --no-install-recommends install openssl &&
		in_root sh -c 'apt-get -y --no-install-recommends install /deb/*.deb' |
		tee "$log/install.said"
}

# The first installation names the next steps.
says_next() { grep 'modprobe callout' "$log/install.said" && grep usermod "$log/install.said"; }

# As if the version were another one.
build_newer() {
	rm -rf "$build/deb-newer"
	mkdir -p "$build/deb-newer"
	cp -a "$build/deb/callout-$version" "$build/deb-newer/callout"
	cd "$build/deb-newer/callout" || return
	echo "$newer" > VERSION
	sed -i "1s/(.*)/($newer)/" debian/changelog
	dpkg-buildpackage -b -us -uc
}

# newer_only FLAVOUR: DKMS has this version, for the kernel, and no other.
newer_only() {
	local status=$log/dkms.status

	in_root dkms status | tee "$status"
	! grep -v "^callout/$newer," "$status" && grep -q "$1.* installed" "$status" &&
		[ ! -e "$root/usr/src/callout-$version" ]
}

# built FLAVOUR: for this kernel of the system's there is a module, and its symbols for clients.
built() {
	local release

	release=$(cd "$root/usr/src" && echo linux-headers-*-"$1")
	release=${release#linux-headers-}
	[ -e "$root/lib/modules/$release/updates/dkms/callout.ko" ] &&
		[ -e "$root/lib/modules/$release/updates/dkms/callout_bsd.ko" ] &&
		grep -q callout_reset "$root/usr/src/callout/$release/Module.symvers"
}

# finds PAGE...: manual pages, by their names and by what they are about
finds() {
	in_root sh -ec 'mandb -q; man -w "$@"; man -k callout | grep -q callout_reset' sh "$@"
}

# Until udev reads its rule again, a group is nobody that was not there yet.
group_before_rule() {
	awk '
		/systemd-sysusers/ { made = 1 }
		made && /udevadm control --reload/ { found = 1 }
		END { exit !found }' "$root/var/lib/dpkg/info/callout-dkms.postinst"
}

build_example() {
	# shellcheck disable=SC2016 # the inner shell's
	in_root sh -ec 'cd /usr/share/doc/libcallout-dev/examples
		cc -O2 -o /usr/local/bin/idle_ev idle_ev.c idle.c \
			$(pkg-config --cflags --libs libcallout) -lev -lm'
}

configure() {
	in_root useradd -G callout member
	echo "options callout device_hz=2000" > "$root/etc/modprobe.d/callout.conf"
	cp "$top/qemu/system-check.sh" "$root/usr/local/sbin/callout-check"
	cat > "$root/etc/systemd/system/callout-check.service" <<-'E2'
		[Unit]
		After=multi-user.target
		[Service]
		ExecStart=/usr/local/sbin/callout-check
		[Install]
		WantedBy=multi-user.target
	E2
	in_root systemctl enable callout-check.service
	rm -f "$image"
	truncate -s 3G "$image"
	mke2fs -q -t ext4 -d "$root" "$image" && cp "$ovmf/OVMF_VARS_4M.fd" "$variables"
}

# boot_system NAME [ARGUMENTS OF THE KERNEL]: from a disk, with all drivers for it in the system's
# initial RAM disk, and a firmware that keeps its variables; limits as in boot.sh. It passes if all
# tests have run, and the kernel has not said that something is wrong.
boot_system() {
	local console=$log/$1.console out=$log/$1.out status=0 said
	local more="oops=panic no_timer_check ${2:-}"

	rm -f "$console" "$out"
	timeout -k 5 1200 qemu-system-x86_64 -M q35 -cpu "Nehalem,+smep,+smap,+rdrand" \
		-accel tcg,thread=multi -smp 2 -m 2G -nodefaults -no-user-config -display none \
		-nic none -no-reboot -drive "file=$image,if=virtio,format=raw" \
		-drive "file=$ovmf/OVMF_CODE_4M.fd,if=pflash,unit=0,readonly=on,format=raw" \
		-drive "file=$variables,if=pflash,unit=1,format=raw" \
		-kernel "$root"/boot/vmlinuz-*-amd64 -initrd "$root"/boot/initrd.img-*-amd64 \
		-append "root=/dev/vda rw console=ttyS0 mitigations=off panic=-1 $more" \
		-chardev "file,id=console,path=$console" -serial chardev:console \
		-chardev "file,id=out,path=$out" -serial chardev:out < /dev/null || status=$?
	said=$(alarms "$console")
	[ $status -eq 0 ] && [ -z "$said" ] && tr -d '\r' < "$out" | grep -q '^1\.\.' && return
	tail -n 40 "$console" "$out"
	printf '%s\n' "$said"
	return 1
}

# count_system NAME: its tests are this script's.
count_system() {
	local line

	while read -r line; do
		case $line in
		"ok "*)
			passed=$((passed + 1))
			echo "ok $((passed + failed)) $1: ${line#ok * }" ;;
		"not ok "*)
			failed=$((failed + 1))
			echo "not ok $((passed + failed)) $1: ${line#not ok * }" ;;
		"#"*) echo "$line" ;;
		esac
	done < <(tr -d '\r' < "$log/$1.out")
}

# When DKMS cleans, it prints what failed and continues.
add_kernel() {
	in_root apt-get -y --no-install-recommends install linux-headers-rt-amd64 |
		tee "$log/apt.said" && ! grep -q 'bad exit status' "$log/apt.said"
}

purge() {
	in_root apt-get -y purge callout-dkms libcallout1 libcallout-dev callout-tools callout-doc \
		callout-criu python3-callout
}

# Except what the administrator has made, and the group, as Debian leaves groups.
nothing_left() {
	! find "$root" \( -path "$root/deb" -o -path "$root/proc" -o -path "$root/sys" -o \
		-path "$root/var/log" -o -path "$root/var/cache" -o -path "$root/var/lib/systemd" \
		\) -prune -o -name '*callout*' ! -path "$root/etc/systemd/*" \
		! -path "$root/etc/modprobe.d/callout.conf" ! -path "$root/usr/local/*" -print |
		grep .
}

if [ ! -d "$base" ]; then
	echo "deb-check.sh: unpacking a Debian 12, some minutes, once" >&2
	rm -rf "$base.partial"
	logged system-base unpack_base
fi
rm -rf "$root"
cp -a "$base" "$root"

item "the tarball builds" dist_builds
item "a tarball of the tarball is refused" dist_of_dist
item "the packages build, and lintian is content" "$top/scripts/package/deb.sh"
item "apt install" install_packages "$build/deb"
item "it says how to load the module and who may use it" says_next
item "DKMS has built for the kernel" built amd64
item "udev reads its rule when there is the group" group_before_rule
item "manual pages" finds 1 calloutctl 3 callout_arm 4 callout 7 callout_criu 9 callout_reset
item "the example of libev compiles" build_example
item "a disk of it" configure
item "boot" boot_system system
count_system system
item "boot a kernel that wants signatures" boot_system signed module.sig_enforce=1
count_system signed
item "newer packages" build_newer
item "they replace these" install_packages "$build/deb-newer"
item "DKMS has built them, and no others are left" newer_only amd64
item "another kernel's headers" add_kernel
item "DKMS has built for it" built rt-amd64
item "apt purge" purge
item "nothing is left" nothing_left
finish
