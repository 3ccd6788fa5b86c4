# SPDX-License-Identifier: GPL-2.0
# share.gp - throughput of two CPUs against one, with a base each and with one base for both
load lab."/style.inc"
set terminal svg size 480,560 font "sans,14" background "white"
set output "share.svg"
# The scheme that suffers least first.
names = system("awk -F, -v OFS=, 'FNR > 1 && $1 !~ /:/ { print $7, $1 }' share.csv | ".\
	"LC_ALL=C sort -t, -k1,1rn | cut -d, -f2")
rows_shown = words(names)
name(i) = word(names, i)
load lab."/dots.inc"
set title "Appendix B: two CPUs at once,\nas a multiple of one alone"
set xlabel "throughput of two CPUs / of one"
set rmargin 3
set xrange [0:2.2]
set xtics 0.5
set style fill solid
set key outside top center vertical maxrows 2
pick(i) = rows("share.csv", sprintf("$1 == \"%s\"", name(i)))
plot for [i = 1:rows_shown] pick(i) using 6:(-i):(0):6:(-i):(-i + 0.38) \
	with boxxyerror linetype 2 linewidth 1 title (i == 1 ? "a base for each CPU (bases=percpu)" : ""), \
     for [i = 1:rows_shown] pick(i) using 7:(-i):(0):7:(-i - 0.38):(-i) \
	with boxxyerror linetype 1 linewidth 1 title (i == 1 ? "one base for both (bases=single)" : "")
