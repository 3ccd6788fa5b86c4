# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # for those that source this
# The machines that QEMU emulates, one for each architecture.

# virtual_ports DEVICE: the two other channels are of this device.
virtual_ports() {
	local port

	verdict=hvc0
	out=hvc1
	ports+=(-device "$1")
	for port in verdict out; do
		ports+=(-device "virtconsole,chardev=$port")
	done
}

# machine_of KERNEL: sets
#
#   foreign   the architecture, as Debian calls it; empty if it is this machine's
#   gnu       what GNU calls it
#   arch      what the kernel's make calls it
#   bootable  what to make of the kernel for QEMU
#   machine   QEMU, and the machine
#   console   the kernel's console
#   verdict, out    the devices of the two other channels, in /dev
#   ports     QEMU's options for all three
machine_of() {
	local port

	verdict=ttyS1
	out=ttyS2
	ports=(-serial chardev:console)
	foreign=${1#kunit-}
	# ARCHITECTURE-SUITE is one of a suite of Debian's.
	foreign=${foreign%%-*}
	case $foreign in
	arm64)
		gnu=aarch64-linux-gnu arch=arm64 bootable=arch/arm64/boot/Image
		# It has LSE atomics and PAN.
		machine=(qemu-system-aarch64 -M "virt,gic-version=3" -cpu neoverse-n1)
		console=ttyAMA0
		# ttyS0 is there so that the others have their names.
		ports+=(-chardev "null,id=unused")
		for port in unused verdict out; do
			ports+=(-device "pci-serial,chardev=$port")
		done ;;
	s390x)
		gnu=s390x-linux-gnu arch=s390 bootable=arch/s390/boot/bzImage
		machine=(qemu-system-s390x -M s390-ccw-virtio -cpu max)
		console=ttysclp0
		virtual_ports virtio-serial-ccw ;;
	riscv64)
		gnu=riscv64-linux-gnu arch=riscv bootable=arch/riscv/boot/Image
		machine=(qemu-system-riscv64 -M virt)
		console=ttyS0
		virtual_ports virtio-serial-device ;;
	*)
		foreign='' gnu='' arch='' bootable=vmlinux
		# Nehalem has a constant TSC, so no CPU measures its own delay loop, which is
		# unreliable on a busy host; SMAP and SMEP catch stray user pointers.
		#
		# -cx16: under QEMU 7.2 a kernel once died of a double fault in SLUB, right behind
		# a cmpxchg16b, and the saved EFLAGS were the low half of a register that held a
		# pointer, with VM and TF set: what emulates this instruction computes the flags
		# from state that can be old. Without the feature kernels do not use it.
		machine=(qemu-system-x86_64 -M q35 -cpu "Nehalem,+smep,+smap,+rdrand,-cx16")
		console=ttyS0
		ports+=(-serial chardev:verdict -serial chardev:out) ;;
	esac
}
