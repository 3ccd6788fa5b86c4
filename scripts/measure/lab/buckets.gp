# SPDX-License-Identifier: GPL-2.0
# buckets.gp - the hashed wheel's operations over its number of buckets
load lab."/style.inc"
set terminal svg size 480,1180 font "sans,14" background "white"
set output "buckets.svg"
set tmargin 1.5
set bmargin 2
set lmargin 6
set multiplot layout 6,1 title "Nanoseconds over the number of buckets\n"
set logscale x 2
set logscale y
set xrange [200:1500000]
set xtics ("2^{8}" 256, "2^{10}" 1024, "2^{12}" 4096, "2^{14}" 16384, "2^{16}" 65536, "2^{18}" 262144, "2^{20}" 1048576)
set key outside right center
set rmargin 16
operations = "pair_one pair_random rearm_later idle_tick sparse dense"
titles = "'stop and start one' 'stop and start a random one' 'move a random one to later' 'a tick, none due' 'expiry, each alone' 'expiry, all together'"
tops = "2000 5000 1000 100 10000000 1000"
set format y "10^{%L}"
do for [i = 1:6] {
	set title word(titles, i)
	set yrange [1:real(word(tops, i))]
	plot for [j = 3:6] rows("buckets.csv", sprintf("$3 == 10^%d && $2 == \"%s\"", j, word(operations, i))) using 1:4 title sprintf("n = 10^{%d}", j) enhanced linetype j - 2
}
unset multiplot
