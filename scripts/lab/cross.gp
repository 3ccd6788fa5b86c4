# SPDX-License-Identifier: GPL-2.0
# cross.gp - cost of a tick of Schemes 6 and 7 over the mean interval, for three sizes
load lab."/style.inc"
set terminal svg size 1300,560 font "sans,13" background "white"
set output "cross.svg"
set multiplot layout 1,3 title "A tick of Schemes 6 and 7 with M list heads and 1024 callouts of mean interval T\n" font "sans,16"
set logscale x 2
set logscale y
set xrange [64:65536]
set yrange [30:10000]
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
	     at("hierarchical_wheel", M, 4) using 4:6 title "Scheme 7, m = 4" linetype 5
}
unset multiplot
