# SPDX-License-Identifier: GPL-2.0
# fig9_paper.gp - figure 9 as the paper draws it: three facilities, 0 to 1000 outstanding
load lab."/style.inc"
set terminal svg size 860,540 font "sans,14" background "white"
set output "fig9_paper.svg"
set title "Figure 9: one callout is set and cancelled, n others outstanding"
set xlabel "other callouts outstanding (n)"
set ylabel "instructions for a set and a cancel"
set key top left reverse Left
set xrange [0:1000]
set yrange [0:*]
plot rows("fig9.csv", "$1 == \"sorted_list\" && $2 == \"search\" && $3 <= 1000") using 3:4 title "old: sorted list, untimeout() searches it" linetype 1, \
     rows("fig9.csv", "$1 == \"hashed_wheel\" && $2 == \"hash\" && $3 <= 1000") using 3:4 title "new: hashed wheel, untimeout() by a hash" linetype 2, \
     rows("fig9.csv", "$1 == \"hashed_wheel\" && $2 == \"handle\" && $3 <= 1000") using 3:4 title "new: hashed wheel, unsetcallout() by handle" linetype 3
