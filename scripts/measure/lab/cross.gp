# SPDX-License-Identifier: GPL-2.0
# cross.gp - cost of a tick of Schemes 6 and 7 over the mean interval, for three sizes
load lab."/style.inc"
set terminal svg size 480,940 font "sans,14" background "white"
set output "cross.svg"
# What cross_at.csv has in each row.
c6 = cell("cross_at.csv", "FNR == 2", 3) + 0
c7 = cell("cross_at.csv", "FNR == 2", 4) + 0
n = 1024
set multiplot
set logscale x 2
set logscale y
set xrange [60:70000]
set yrange [30:10000]
set xtics ("64" 64, "256" 256, "1024" 1024, "4096" 4096, "16 384" 16384, "65 536" 65536)
set lmargin at screen 0.14
set rmargin at screen 0.95
set format y "10^{%L}"
set ylabel "instructions a tick" offset 1
at(scheme, M, m) = rows("cross.csv", sprintf("$1 == \"%s\" && $2 == %s && $3 == %d", scheme, M, m))
do for [i = 1:3] {
	M = word("256 1024 4096", i)
	set tmargin at screen 1.17 - 0.295 * i
	set bmargin at screen 0.955 - 0.295 * i
	set title sprintf("M = %s list heads", M) offset 0, -0.7
	if (i == 1) {
		set key at screen 0.14, screen 0.99 top left samplen 2
	} else {
		unset key
	}
	if (i == 3) { set xlabel "mean interval T in ticks" }
	T = cell("cross_at.csv", sprintf("$1 == %s && $2 == 2", M), 6)
	unset label
	unset arrow
	if (T ne "-") {
		set arrow from T + 0, graph 0 to T + 0, graph 1 nohead linetype 8 linewidth 2 dashtype 3
		set label "T = ".T at T + 0, graph 0.93 right offset -0.5, 0
	} else {
		set label "no crossing" at graph 0.97, graph 0.93 right
	}
	plot at("hashed_wheel_paper:every_tick", M, 1) using 4:6 title "Scheme 6, rounds counted" linetype 1, \
	     for [m = 2:4:2] at("hierarchical_wheel", M, m) using 4:6 \
		title sprintf("Scheme 7, m = %d", m) linetype m / 2 + 2, \
	     at("hashed_wheel", M, 1) using 4:6 title "Scheme 6 with bounds" linetype 2, \
	     n * c6 / (M + 0) with lines notitle linetype 1 linewidth 1 dashtype 2, \
	     n * c7 * 2 / x with lines notitle linetype 3 linewidth 1 dashtype 2
}
unset multiplot
