# SPDX-License-Identifier: GPL-2.0
# fig9_paper.gp - figure 9 as the paper draws it: three facilities, 0 to 1000 outstanding
load lab."/style.inc"
set terminal svg size 480,400 font "sans,14" background "white"
set output "fig9_paper.svg"
set title "Figure 9: one callout is set and cancelled"
set xlabel "other callouts outstanding (n)"
set ylabel "instructions, in thousands"
unset key
set xrange [0:1000]
set yrange [0:*]
set xtics 200
pick(scheme, lookup) = sprintf("$1 == \"%s\" && $2 == \"%s\" && $3 <= 1000", scheme, lookup)
at(scheme, lookup, n) = cell("fig9.csv", sprintf("%s && $3 == %d", pick(scheme, lookup), n), 4) + 0.0
ratio(scheme, lookup) = at(scheme, lookup, 1000) / at(scheme, lookup, 0)
set label sprintf("old: a sorted list,\nuntimeout() searches it:\n%.0f× at n = 1000", \
	ratio("sorted_list", "search")) at 60, 0.0009 * at("sorted_list", "search", 1000) textcolor linetype 1
set label sprintf("new: the hashed wheel, at n = 1000\n%.2f× by a hash, %.2f× by handle", \
	ratio("hashed_wheel", "hash"), ratio("hashed_wheel", "handle")) at 370, 6 textcolor linetype 2
plot rows("fig9.csv", pick("sorted_list", "search")) using 3:($4 / 1000) linetype 1, \
     rows("fig9.csv", pick("hashed_wheel", "hash")) using 3:($4 / 1000) linetype 3, \
     rows("fig9.csv", pick("hashed_wheel", "handle")) using 3:($4 / 1000) linetype 2
