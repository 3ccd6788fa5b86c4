# SPDX-License-Identifier: GPL-2.0
# table2.gp - growth of start, stop and a tick for the paper's seven schemes and the facility's own
load lab."/style.inc"
set terminal svg size 480,700 font "sans,14" background "white"
set output "table2.svg"
schemes = "unsorted_list sorted_list tree timing_wheel sorted_wheel hashed_wheel_paper hierarchical_wheel hashed_wheel"
rows_shown = words(schemes)
name(i) = i < 8 ? sprintf("%d %s", i, word(schemes, i)) : word(schemes, i)
load lab."/dots.inc"
set lmargin 21
set logscale x
set xrange [8:300000]
set format x "10^{%L}"
titles = "start stop 'a tick, none due'"
set tmargin 1.5
set bmargin 2.5
pick(i, j) = sprintf("$1 == \"%s\" && $2 == \"%s\"", word(schemes, i), word("start stop tick", j))
set multiplot layout 3,1 title "Table II: instructions, n = 10 (small) to 100 000\n"
do for [j = 1:3] {
	set title word(titles, j)
	do for [i = 1:rows_shown] {
		set label i cell("table2.csv", pick(i, j), 4) at graph 1.03, first -i
	}
	plot for [i = 1:rows_shown] rows("table2_points.csv", pick(i, j)) \
		using 4:(-i):(dot($3)) with linespoints linetype (i == 8 ? 2 : 8) pointtype 7 pointsize variable
}
unset multiplot
