# SPDX-License-Identifier: GPL-2.0
# share.gp - throughput of two CPUs against one, with a base each and with one base for both
load lab."/style.inc"
set terminal svg size 1100,620 font "sans,13" background "white"
set output "share.svg"
set title "Appendix B: pairs of set and cancel by two CPUs at once, as a multiple of what one does alone"
set ylabel "throughput of two CPUs / of one"
set style data histograms
set style histogram clustered gap 1
set style fill solid
set yrange [0:*]
set ytics 0.5
set xtics rotate by -40 left noenhanced scale 0
set bmargin 9
set rmargin 10
set key outside top center horizontal
plot "share.csv" skip 1 using 6:xtic(1) title "a base for each CPU (bases=percpu)" linetype 2, \
     "share.csv" skip 1 using 7 title "one base for both (bases=single)" linetype 1
