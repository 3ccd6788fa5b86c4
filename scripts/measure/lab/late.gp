# SPDX-License-Identifier: GPL-2.0
# late.gp - lateness of the inexact schemes over the interval
load lab."/style.inc"
set terminal svg size 480,520 font "sans,14" background "white"
set output "late.svg"
set title "How late a callout comes, by the scheme's design"
set xlabel "interval in ticks, at least"
set ylabel "ticks late, at most of 32 callouts"
set logscale x 2
set logscale y
set xrange [1:65536]
set yrange [0.7:100000]
set xtics ("1" 1, "16" 16, "256" 256, "4096" 4096, "65 536" 65536)
set key tmargin left vertical maxcols 1
set format y "10^{%L}"
inexact = system("awk -F, 'FNR > 1 && $4 > 0 && !seen[$1]++ { print $1 }' late.csv")
plot for [i = 1:words(inexact)] row("late.csv", word(inexact, i)) using 2:($3 > 0 ? $3 : 1/0) title word(inexact, i) linetype i, \
     for [i = 1:words(inexact)] row("late.csv", word(inexact, i)) using 2:($4 > 0 ? $4 : 1/0) with lines title word(inexact, i).", stated" linetype i dashtype 2 linewidth 1, \
     x title "the interval itself" with lines linetype 8 linewidth 1
