#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The Rust crate on this machine, without the module: on a timerfd, or on the device where there is
# one. Then the same programs on the device, in QEMU.
#
#   scripts/check/rust.sh
#
# By Debian's cargo and packaged crates, without a network: style, clippy, documents and their
# examples, tests, handlers that drop, forget and panic under valgrind too, 100 000 idle timeouts
# in tokio. One TAP line each, and one for each test on the device; the last line is "N passed, N
# failed". The boot needs what "make modules tools" builds.

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
scripts/setup.sh rust
kernel=debian-6.12
out=$build/rust
root=$build/user/root-rust
rm -rf "$out" "$root"
# As rust.rst has it: the program is in alone/, the clone in callout/, the library in home/callout/.
crate=$out/callout/tools/rust
mkdir -p "$out/home" "${crate%/*}" "$out/alone/src"
# cargo leaves a Cargo.lock beside Cargo.toml.
cp -r tools/rust "$crate"
rm -rf "$crate/target" "$crate/Cargo.lock"

# block FILE: what rust.rst says is in it
block() {
	awk -v name="\`\`$1\`\`::" '
		/^[^\t]/ { inside = 0 }
		inside { sub(/^\t/, ""); print }
		index($0, name) { inside = 1 }' Documentation/rust.rst
}

block .cargo/config.toml > "$out/home/config.toml"
block src/main.rs > "$out/alone/src/main.rs"
{
	printf '[package]\nname = "alone"\nversion = "0.1.0"\nedition = "2021"\n'
	block Cargo.toml
} > "$out/alone/Cargo.toml"

# in_directory DIRECTORY COMMAND...: by Debian's cargo, whatever toolchain the user has
in_directory() {
	(cd "$1" && env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 HOME="$out/home" \
		CARGO_HOME="$out/home" CARGO_TARGET_DIR="$out/target" RUSTDOCFLAGS="-D warnings" \
		LIBRARY_PATH="$out/home/callout/lib" LD_LIBRARY_PATH="$out/home/callout/lib" \
		"${@:2}")
}

in_crate() { in_directory "$crate" "$@"; }

# By the command of rust.rst.
linked_statically() {
	local flags target=x86_64-unknown-linux-gnu

	flags=$(sed -n 's/^\texport RUSTFLAGS=/RUSTFLAGS=/p' Documentation/rust.rst)
	in_directory "$out/alone" sh -c "$flags cargo run -q --target $target" &&
		! readelf -lW "$out/target/$target/debug/alone" | grep INTERP
}

# built NAME: where cargo has put these tests
built() { find "$out/target/debug/deps" -name "$1-*" -type f -executable; }

under_valgrind() {
	local program

	program=$(built "$1") &&
		in_crate valgrind -q --error-exitcode=9 --leak-check=full \
			--errors-for-leak-kinds=definite "$program" --test-threads=1 "${@:2}"
}

# Fills the root for the job: the programs that have run here, and their libraries.
fill_root() {
	local deps=$root/rust/deps examples=$root/rust/examples name

	mkdir -p "$deps" "$examples" "$root/lib" "$root/lib64"
	for name in "${tests[@]}"; do
		strip -o "$deps/$name" "$(built "$name")" || return
	done
	for name in idle_mio idle_tokio; do
		strip -o "$examples/$name" "$out/target/debug/examples/$name" || return
	done
	in_crate ldd "$deps"/* "$examples"/* | grep -oE '/[^ ]+\.so[^ ]*' | sort -u |
		xargs cp -L -t "$root/lib" && mv "$root"/lib/ld-linux-* "$root/lib64/"
}

on_device() { fill_root && qemu/boot.sh -t 300 $kernel rust; }

item "the library" make -s -C tools O="$out/user" PREFIX="$out/home/callout" install
item "style" in_crate cargo fmt --check
item "clippy" in_crate cargo clippy --all-targets --features mio -- -D warnings
item "clippy, without mio" in_crate cargo clippy -- -D warnings
item "examples" in_crate cargo build --features mio --examples
item "documents" in_crate cargo doc --no-deps --features mio
tests=(timers soundness mio)
for name in "${tests[@]}"; do
	item "$name" in_crate cargo test --features mio --test "$name"
done
item "examples in the documents, and what must not compile" \
	in_crate cargo test --features mio --doc
item "the program of rust.rst" in_directory "$out/alone" cargo run -q
item "the program of rust.rst, linked statically" linked_statically
# What is forgotten leaks.
item "soundness, valgrind" under_valgrind soundness --skip forgotten
item "idle_tokio" in_crate cargo run -q --features mio --example idle_tokio 100000 2
item "a boot with the device" on_device
while read -r passes name; do
	item "on the device: $name" "$passes"
done < <(sed -nE 's/^ok [0-9]+ /true /p; s/^not ok [0-9]+ /false /p' "$log/$kernel-rust.out")
finish
