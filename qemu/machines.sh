# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # for the scripts that source this
# The machines that QEMU emulates, one for each architecture.

# virtual_port DEVICE: the job's output goes to this device.
virtual_port() {
	out=hvc0
	ports+=(-device "$1" -device "virtconsole,chardev=out")
}

# machine_of KERNEL: sets
#
#   foreign   the architecture, as Debian calls it; empty if it is this machine's
#   gnu       what GNU calls it
#   arch      what the kernel's make calls it
#   bootable  what to make of the kernel for QEMU
#   machine   QEMU, and the machine
#   console   the kernel's console
#   out       the device of the other channel, the job's output, in /dev
#   ports     QEMU's options for both
machine_of() {
	out=ttyS1
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
		out=ttyS0
		ports+=(-device "pci-serial,chardev=out") ;;
	s390x)
		gnu=s390x-linux-gnu arch=s390 bootable=arch/s390/boot/bzImage
		machine=(qemu-system-s390x -M s390-ccw-virtio -cpu max)
		console=ttysclp0
		virtual_port virtio-serial-ccw ;;
	riscv64)
		gnu=riscv64-linux-gnu arch=riscv bootable=arch/riscv/boot/Image
		machine=(qemu-system-riscv64 -M virt)
		console=ttyS0
		virtual_port virtio-serial-device ;;
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
		ports+=(-serial chardev:out) ;;
	esac
}
