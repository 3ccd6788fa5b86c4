# SPDX-License-Identifier: GPL-2.0
# fig9.gp - the load of figure 9 up to 100 000 outstanding, every scheme, by handle
load lab."/style.inc"
set terminal svg size 1500,820 font "sans,13" background "white"
set output "fig9.svg"
set multiplot layout 2,2 title "Figure 9 for every scheme: setcallout() and unsetcallout() of one, n others outstanding\n" font "sans,16"
set logscale xy
set xrange [5:100000]
set yrange [200:1000000]
set xtics ("0" 5, "10^{2}" 100, "10^{3}" 1000, "10^{4}" 10000, "10^{5}" 100000)
set ytics ("200" 200, "500" 500, "10^{3}" 1000, "10^{4}" 10000, "10^{5}" 100000, "10^{6}" 1000000)
set xlabel "other callouts outstanding (n)"
set ylabel "instructions"
set key outside right top reverse Left
names(pattern) = system("awk -F, 'FNR > 1 && !seen[$1]++ { print $1 }' fig9.csv | grep -E '".pattern."'")
wheels = "^(timing_wheel|logic_wheel|sorted_wheel|hashed_wheel)"
trees = "^(tree|pairing_heap|dary_heap|skip_list)"
lists = "^(unsorted_list|sorted_list)"
others = system("awk -F, 'FNR > 1 && !seen[$1]++ { print $1 }' fig9.csv | grep -vE '".wheels."|".trees."|".lists."'")
pick(name, how) = rows("fig9.csv", sprintf("$1 == \"%s\" && $2 == \"%s\"", name, how))
x(n) = n == 0 ? 5 : n
set title "lists"
plot for [name in names(lists)] pick(name, "handle") using (x($3)):4 title name, \
     for [name in "sorted_list"] pick(name, "search") using (x($3)):4 title name.", search" linetype 5
set title "trees and heaps"
plot for [name in names(trees)] pick(name, "handle") using (x($3)):4 title name
set title "wheels"
plot for [name in names(wheels)] pick(name, "handle") using (x($3)):4 title name
set title "hierarchies and others"
plot for [name in others] pick(name, "handle") using (x($3)):4 title name
unset multiplot
