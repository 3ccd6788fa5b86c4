# SPDX-License-Identifier: GPL-2.0
# assist.gp - interrupts of the host for a callout, with and without hardware assist
load lab."/style.inc"
set terminal svg size 480,520 font "sans,14" background "white"
set output "assist.svg"
set title "Interrupts of the host for one callout, M = 256"
set xlabel "mean interval T in ticks"
set ylabel "interrupts"
set logscale x 2
set logscale y
set xrange [50:20000]
set yrange [0.7:500000]
set xtics (64, 256, 1024, 4096, 16384)
set key tmargin left vertical maxrows 7
plot row("assist.csv", "hashed_wheel_paper:every_tick") using 3:4 title "Scheme 6, a tick at a time: T" linetype 1, \
     row("assist.csv", "hashed_wheel_paper") using 3:4 title "Scheme 6, at busy buckets" linetype 4, \
     row("assist.csv", "chip_busy") using 3:4 title "chip with a counter and busy bits" linetype 2, \
     x / 256 title "T / M" with lines linetype 8 dashtype 2, \
     row("assist.csv", "hierarchical_wheel") using 3:4 title "Scheme 7: m at most" linetype 3, \
     row("assist.csv", "hashed_wheel") using 3:4 title "Scheme 6 with bounds" linetype 5, \
     row("assist.csv", "chip_full") using 3:4 title "chip that holds everything" linetype 6 pointsize 1.3
