#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Reads lists of mutants, selftests/mutants/*.list, and makes them.
#
#   mutate.pl list LIST...              a line each: NAME FILE CHECKS, by tabs; CHECKS of an
#                                       equivalent mutant: "equivalent: REASON"
#   mutate.pl apply NAME TREE LIST...   changes the file in TREE; prints its name
#
# A mutant is a stanza:
#
#   mutant: NAME
#   file: module/core/arm.c
#   after: text                 optional: what follows is looked for behind this text
#   -	old line                lines as they are in the file, without gaps
#   +	new line
#   check: kunit callout_core; device device_basic
#   equivalent: reason          optional: why no check can tell
#
# Or a pattern, which makes NAME-1, NAME-2, ... of the lines of the file that match:
#
#   pattern: NAME
#   file: module/device/ioctl.c
#   each: regular expression
#   to: replacement
#   count: 7                    how many lines match
#   check: device device_errors
#   equivalent: 3: reason       optional, each of one
#
# A text that is not there, or is there twice, or a number that is wrong is an error.

use strict;
use warnings;

my ($mode, $wanted, $tree);
$mode = shift // '';
die "usage: mutate.pl list LIST... | apply NAME TREE LIST...\n" if $mode !~ /^(list|apply)$/;
($wanted, $tree) = (shift, shift) if $mode eq 'apply';

my (%seen, $found);

sub text_of {
	my ($name) = @_;

	open my $in, '<', $name or die "$name: $!\n";
	local $/;
	return scalar <$in>;
}

# The text of a mutant's file with the change.
sub changed {
	my ($m, $text) = @_;
	my $from = 0;

	if (defined $m->{after}) {
		$from = index $text, $m->{after};
		die "$m->{name}: $m->{file} has no \"$m->{after}\"\n" if $from < 0;
	}
	my $at = index $text, $m->{old}, $from;
	die "$m->{name}: $m->{file} does not have what it changes\n" if $at < 0;
	die "$m->{name}: $m->{file} has it twice\n"
		if !defined $m->{after} && index($text, $m->{old}, $at + 1) >= 0;
	die "$m->{name}: changes nothing\n" if $m->{old} eq $m->{new};
	substr($text, $at, length $m->{old}) = $m->{new};
	return $text;
}

sub put {
	my ($m, $text) = @_;

	die "$m->{name}: twice\n" if $seen{$m->{name}}++;
	die "$m->{name}: no check\n" unless $m->{check};
	if ($mode eq 'list') {
		my $what = $m->{equivalent} ? "equivalent: $m->{equivalent}" : $m->{check};
		print "$m->{name}\t$m->{file}\t$what\n";
		changed($m, $m->{source}) unless defined $text;
		return;
	}
	return if $m->{name} ne $wanted;
	$text //= changed($m, $m->{source});
	my $file = "$tree/$m->{file}";
	unlink $file or die "$file: $!\n";
	open my $out, '>', $file or die "$file: $!\n";
	print $out $text;
	close $out or die "$file: $!\n";
	print "$m->{file}\n";
	$found = 1;
}

sub pattern {
	my ($m) = @_;
	my @lines = split /^/, $m->{source};
	my $n = 0;

	for my $i (0 .. $#lines) {
		my @new = @lines;
		(my $line = $lines[$i]) =~ s/$m->{each}/qq{qq{$m->{to}}}/ee or next;
		$n++;
		die "$m->{name}-$n: changes nothing\n" if $line eq $lines[$i];
		$new[$i] = $line;
		put({ %$m, name => "$m->{name}-$n", equivalent => $m->{reasons}{$n} },
		    join '', @new);
	}
	die "$m->{name}: $n lines match, not $m->{count}\n" if $n != $m->{count};
}

sub stanza {
	my ($m) = @_;

	return unless %$m;
	die "$m->{name}: no file\n" unless defined $m->{file};
	# Both are links to the tree itself, until one is changed.
	$m->{source} = text_of(($tree // '.') . "/$m->{file}");
	return pattern($m) if $m->{pattern};
	put($m);
}

for my $list (@ARGV) {
	my %m;

	open my $in, '<', $list or die "$list: $!\n";
	while (<$in>) {
		chomp;
		next if /^#/;
		if ($_ eq '') {
			stanza({ %m });
			%m = ();
		} elsif (/^([-+])(.*)/) {
			$m{$1 eq '-' ? 'old' : 'new'} .= "$2\n";
		} elsif (/^(mutant|pattern): (\S+)$/) {
			%m = (name => $2, old => '', new => '', pattern => $1 eq 'pattern');
		} elsif ($m{pattern} && /^equivalent: (\d+): (.+)/) {
			$m{reasons}{$1} = $2;
		} elsif (/^(file|after|check|equivalent|each|to|count): (.+)/) {
			$m{$1} = $2;
		} else {
			die "$list:$.: $_\n";
		}
	}
	stanza(\%m);
}
die "there is no mutant $wanted\n" if $mode eq 'apply' && !$found;
