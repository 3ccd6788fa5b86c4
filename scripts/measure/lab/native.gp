# SPDX-License-Identifier: GPL-2.0
# native.gp - nanoseconds of each operation, of the facility and of Linux, for each n
load lab."/style.inc"
set terminal svg size 480,840 font "sans,14" background "white"
set output "native.svg"
names = "(callout) (timer_list) (hrtimer) tree"
rows_shown = words(names)
name(i) = word(names, i)
load lab."/dots.inc"
set lmargin 13
set rmargin 11
set logscale x
set xrange [2:10000]
set format x "10^{%L}"
operations = "pair_one pair_random rearm_later sparse dense"
titles = "'stop and start the farthest' 'stop and start a random one' ".\
	"'move a random one to later' 'expiry, each alone' 'expiry, all together'"
pick(i, j) = sprintf("$1 == \"%s\" && $2 == \"%s\"", name(i), word(operations, j))
dot(n) = 0.5 + 0.3 * (log10(n) - 3)
set tmargin 1.5
set bmargin 2.5
set multiplot layout 5,1 title "Nanoseconds, n = 1000 (small) to 10^{6}, and with 10^{6}\n"
do for [j = 1:5] {
	set title word(titles, j)
	do for [i = 1:rows_shown] {
		ns = cell("native.csv", pick(i, j)." && $3 == 1000000", 4)
		label = ns eq "" ? "-" : sprintf("%.0f ns", ns + 0)
		set label i label at graph 1.03, first -i
	}
	plot for [i = 1:rows_shown] rows("native.csv", pick(i, j)) \
		using 4:(-i):(dot($3)) with linespoints linetype (i == 1 ? 2 : 8) pointtype 7 pointsize variable
}
unset multiplot
