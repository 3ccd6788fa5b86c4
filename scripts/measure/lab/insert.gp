# SPDX-License-Identifier: GPL-2.0
# insert.gp - cost of an insertion in the sorted list against the paper's formulas
load lab."/style.inc"
set terminal svg size 480,520 font "sans,14" background "white"
set output "insert.svg"
set title "Insertion in the sorted list, Poisson arrivals"
set xlabel "callouts outstanding (n)"
set ylabel "reads and writes of list entries"
set key tmargin left vertical maxrows 7
set xtics 200
set xrange [0:1100]
set yrange [0:900]
at(from, intervals) = rows("insert.csv", sprintf("$1 == \"%s\" && $2 == \"%s\"", from, intervals))
plot 2 + 2 * x / 3 title "2 + 2n/3" linetype 8 dashtype 2, \
     2 + x / 2 title "2 + n/2" linetype 8 dashtype 4, \
     2 + x / 3 title "2 + n/3" linetype 8 dashtype 3, \
     at("head", "uniform") using 3:4 with points title "uniform intervals, from the head" linetype 1 pointsize 1.2, \
     at("head", "exponential") using 3:4 with points title "exponential intervals, from the head" linetype 2 pointsize 1.2, \
     at("rear", "exponential") using 3:4 with points title "exponential intervals, from the rear" linetype 3 pointsize 1.2, \
     at("rear", "uniform") using 3:4 with points title "uniform intervals, from the rear" linetype 4 pointsize 1.2
