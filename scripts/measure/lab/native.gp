# SPDX-License-Identifier: GPL-2.0
# native.gp - nanoseconds of each operation over the number outstanding, schemes and facilities
load lab."/style.inc"
set terminal svg size 1400,900 font "sans,12" background "white"
set output "native.svg"
set multiplot layout 3,3 title "User Mode Linux: nanoseconds of each operation, as the number outstanding grows\n" font "sans,16"
set logscale xy
set xrange [1000:1000000]
set yrange [1:1000000000]
set format x "10^{%L}"
set format y "10^{%L}"
set xlabel "outstanding (n)"
set ylabel "ns"
unset key
schemes = "hashed_wheel hashed_wheel_paper sorted_list tree dary_heap pairing_heap hierarchical_wheel calendar_queue (callout) (timer_list) (hrtimer)"
operations = "pair_one pair_random rearm_later idle_tick jump sparse start_dense dense"
titles = "'stop and start one' 'stop and start a random one' 'move a random one to later' 'a tick, none due' 'a jump over 3000 ticks' 'expiry, each alone' 'start, all due together' 'expiry, all together'"
do for [i = 1:8] {
	set title word(titles, i)
	plot for [j = 1:11] rows("native.csv", sprintf("$1 == \"%s\" && $2 == \"%s\"", word(schemes, j), word(operations, i))) using 3:4 notitle linetype j
}
load lab."/key.inc"
plot for [j = 1:11] NaN with linespoints linetype j title word(schemes, j)
unset multiplot
