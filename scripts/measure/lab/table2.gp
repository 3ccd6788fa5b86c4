# SPDX-License-Identifier: GPL-2.0
# table2.gp - growth of start, stop and a tick for the paper's seven schemes and the facility's own
load lab."/style.inc"
set terminal svg size 1200,860 font "sans,13" background "white"
set output "table2.svg"
set multiplot layout 2,2 title "Table II: instructions of each routine, as the number outstanding grows\n" font "sans,16"
set logscale xy
set xrange [10:100000]
set yrange [10:300000]
set format x "10^{%L}"
set format y "10^{%L}"
set xlabel "callouts outstanding (n)"
set ylabel "instructions"
unset key
schemes = "unsorted_list sorted_list tree timing_wheel sorted_wheel hashed_wheel_paper hierarchical_wheel hashed_wheel"
label(i) = i <= 7 ? sprintf("Scheme %d: %s", i, word(schemes, i)) : "the facility's: ".word(schemes, i)
titles = "start stop 'a tick, none due'"
do for [j = 1:3] {
	set title word(titles, j)
	plot for [i = 1:8] rows("table2_points.csv", sprintf("$1 == \"%s\" && $2 == \"%s\"", word(schemes, i), word("start stop tick", j))) using 3:4 notitle linetype i
}
load lab."/key.inc"
plot for [i = 1:8] NaN with linespoints linetype i title label(i)
unset multiplot
