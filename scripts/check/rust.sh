#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The Rust crate on this machine, without the module: on a timerfd, or on the device where there is
# one.
#
#   scripts/check/rust.sh
#
# By Debian's cargo and packaged crates, without a network: style, clippy, documents and their
# examples, tests, handlers that drop, forget and panic under valgrind too, 100 000 idle timeouts
# in tokio. One TAP line each; the last line is "N passed, N failed".

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$top"
scripts/setup.sh rust
out=$build/rust
rm -rf "$out"
mkdir -p "$out/home"
# cargo leaves a Cargo.lock beside Cargo.toml.
cp -r tools/rust "$out/crate"
rm -rf "$out/crate/target" "$out/crate/Cargo.lock"
cat > "$out/home/config.toml" <<-'EOF'
	[source.crates-io]
	replace-with = "debian"
	[source.debian]
	directory = "/usr/share/cargo/registry"
	[net]
	offline = true
EOF

# Debian's, whatever toolchain the user has.
in_crate() {
	(cd "$out/crate" && env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 HOME="$out/home" \
		CARGO_HOME="$out/home" CARGO_TARGET_DIR="$out/target" RUSTDOCFLAGS="-D warnings" \
		LIBRARY_PATH="$out/user/lib" LD_LIBRARY_PATH="$out/user/lib" "$@")
}

# The program of rust.rst, in a directory with nothing else.
written() {
	local dir=$out/alone

	mkdir -p "$dir/src"
	# shellcheck disable=SC2016 # it is RST that has the backquotes
	sed -n '/``src\/main.rs``::$/,/^``/s/^	//p' Documentation/rust.rst > "$dir/src/main.rs"
	cat > "$dir/Cargo.toml" <<-'EOF'
		[package]
		name = "alone"
		version = "0.1.0"
		edition = "2021"
		[dependencies]
		callout = { path = "../crate" }
	EOF
	in_crate cargo run -q --manifest-path "$dir/Cargo.toml"
}

# The newest program of this name that cargo has built.
under_valgrind() {
	local program

	program=$(find "$out/target/debug/deps" -name "$1-*" -type f -executable) &&
		in_crate valgrind -q --error-exitcode=9 --leak-check=full \
			--errors-for-leak-kinds=definite "$program" --test-threads=1 "${@:2}"
}

item "the library" make -s -C tools O="$out/user" library
item "style" in_crate cargo fmt --check
item "clippy" in_crate cargo clippy --all-targets --features mio -- -D warnings
item "clippy, without mio" in_crate cargo clippy -- -D warnings
item "examples" in_crate cargo build --features mio --examples
item "documents" in_crate cargo doc --no-deps --features mio
for name in timers soundness mio; do
	item "$name" in_crate cargo test --features mio --test $name
done
item "examples in the documents, and what must not compile" \
	in_crate cargo test --features mio --doc
item "the program of rust.rst" written
# What is forgotten leaks.
item "soundness, valgrind" under_valgrind soundness --skip forgotten
item "idle_tokio" in_crate cargo run -q --features mio --example idle_tokio 100000 2
finish
