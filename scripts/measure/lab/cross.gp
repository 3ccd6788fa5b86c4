# SPDX-License-Identifier: GPL-2.0
# cross.gp - cost of a tick of Schemes 6 and 7 over the mean interval, for three sizes
load lab."/style.inc"
set terminal svg size 1300,560 font "sans,13" background "white"
set output "cross.svg"
# What cross_at.csv has in each row.
c6 = system("awk -F, 'NR == 2 { print $3 }' cross_at.csv") + 0
c7 = system("awk -F, 'NR == 2 { print $4 }' cross_at.csv") + 0
n = 1024
set multiplot layout 1,3 title "A tick of Schemes 6 and 7 with M list heads and 1024 callouts of mean interval T\n" font "sans,16"
set logscale x 2
set logscale y
set xrange [60:70000]
set yrange [10:10000]
set xtics ("64" 64, "256" 256, "1024" 1024, "4096" 4096, "16 384" 16384, "65 536" 65536) rotate by -30
set xlabel "mean interval T in ticks"
set ylabel "instructions a tick"
set key top right
at(scheme, M, m) = rows("cross.csv", sprintf("$1 == \"%s\" && $2 == %s && $3 == %d", scheme, M, m))
do for [M in "256 1024 4096"] {
	set title "M = ".M
	plot at("hashed_wheel_paper:every_tick", M, 1) using 4:6 title "Scheme 6, rounds counted" linetype 1, \
	     at("hashed_wheel", M, 1) using 4:6 title "Scheme 6 with bounds" linetype 2, \
	     at("hierarchical_wheel", M, 2) using 4:6 title "Scheme 7, m = 2" linetype 3, \
	     at("hierarchical_wheel", M, 3) using 4:6 title "Scheme 7, m = 3" linetype 4, \
	     at("hierarchical_wheel", M, 4) using 4:6 title "Scheme 7, m = 4" linetype 5, \
	     n * c6 / (M + 0) with lines title "n c6 / M" linetype 1 linewidth 1 dashtype 2, \
	     n * c7 * 2 / x with lines title "n c7 m / T, m = 2" linetype 3 linewidth 1 dashtype 2
}
unset multiplot
