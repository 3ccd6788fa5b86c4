#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# A corpus is a file with an input a line, in hexadecimal; lines with # are comments.
#
#   corpus.pl unpack DIRECTORY FILE...   a file for each input
#   corpus.pl pack DIRECTORY             prints the lines, sorted

use strict;
use warnings;

my $mode = shift;
my @args = @ARGV;
if (($mode // '') eq 'unpack' && @args > 1) {
	my $dir = shift @ARGV;
	my $n = 0;

	while (<>) {
		next if /^#/;
		chomp;
		my $name = sprintf '%s/%04d', $dir, $n++;
		open my $out, '>', $name or die "$name: $!\n";
		binmode $out;
		print $out pack 'H*', $_;
		close $out or die "$name: $!\n";
	}
} elsif (($mode // '') eq 'pack' && @args == 1) {
	my @lines;

	for my $name (glob "$args[0]/*") {
		open my $in, '<', $name or die "$name: $!\n";
		binmode $in;
		local $/;
		push @lines, unpack('H*', scalar <$in> // '') . "\n";
	}
	print sort @lines;
} else {
	die "usage: corpus.pl unpack DIRECTORY FILE... | pack DIRECTORY\n";
}
