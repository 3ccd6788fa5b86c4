# SPDX-License-Identifier: GPL-2.0
# fig9.gp - the load of figure 9 with 10 to 100 000 outstanding, every scheme, by handle
load lab."/style.inc"
set terminal svg size 480,480 font "sans,14" background "white"
set output "fig9.svg"
# The facility's own first, and then from the cheapest to the dearest.
names = system("awk -F, -v OFS=, '$2 == \"handle\" && $3 == 10000 && $1 !~ /:/ { " . \
	"print $1 != \"hashed_wheel\", $4, $1 }' fig9.csv | LC_ALL=C sort -t, -k1,1n -k2,2n | cut -d, -f3")
rows_shown = words(names) + 1
name(i) = i < rows_shown ? word(names, i) : "sorted_list, search"
pick(i) = sprintf("$1 == \"%s\" && $2 == \"%s\" && $3 >= 10", \
	i < rows_shown ? word(names, i) : "sorted_list", i < rows_shown ? "handle" : "search")
at(i, n) = cell("fig9.csv", sprintf("%s && $3 == %d", pick(i), n), 4) + 0.0
load lab."/dots.inc"
set title "Figure 9, every scheme: n = 10 (small) to 100 000\n".\
	"and how many times as much at n = 10 000"
set xlabel "instructions for a set and a cancel"
set logscale x
set xrange [150:1000000]
set format x "10^{%L}"
do for [i = 1:rows_shown] {
	times = at(i, 10000) / at(i, 10)
	set label i sprintf(times < 20 ? "%.1f×" : "%.0f×", times) at graph 1.03, first -i
}
colour(i) = i == 1 ? 2 : name(i)[1:11] eq "sorted_list" ? 1 : 8
plot for [i = 1:rows_shown] rows("fig9.csv", pick(i)) using 4:(-i):(dot($3)) \
	with linespoints linetype colour(i) pointtype 7 pointsize variable
