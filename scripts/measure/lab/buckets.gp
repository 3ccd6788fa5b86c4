# SPDX-License-Identifier: GPL-2.0
# buckets.gp - the hashed wheel's operations over its number of buckets
load lab."/style.inc"
set terminal svg size 1300,760 font "sans,12" background "white"
set output "buckets.svg"
set multiplot layout 2,3 title "The hashed wheel in User Mode Linux: nanoseconds over the number of buckets\n" font "sans,16"
set logscale x 2
set logscale y
set xrange [200:1500000]
set xtics ("2^{8}" 256, "2^{10}" 1024, "2^{12}" 4096, "2^{14}" 16384, "2^{16}" 65536, "2^{18}" 262144, "2^{20}" 1048576)
set xlabel "buckets"
set ylabel "ns"
set key top left reverse Left
operations = "pair_one pair_random rearm_later idle_tick sparse dense"
titles = "'stop and start one' 'stop and start a random one' 'move a random one to later' 'a tick, none due' 'expiry, each alone' 'expiry, all together'"
tops = "2000 5000 1000 100 10000000 1000"
set format y "10^{%L}"
do for [i = 1:6] {
	# Its curve falls.
	if (word(operations, i) eq "sparse") { set key top right noreverse Right } else { set key top left reverse Left }
	set title word(titles, i)
	set yrange [1:real(word(tops, i))]
	plot for [j = 3:6] rows("buckets.csv", sprintf("$3 == 10^%d && $2 == \"%s\"", j, word(operations, i))) using 1:4 title sprintf("n = 10^{%d}", j) enhanced linetype j - 2
}
unset multiplot
