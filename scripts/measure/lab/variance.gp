# SPDX-License-Identifier: GPL-2.0
# variance.gp - what each tick of a lap takes when callouts are spread, and when all are in one bucket
load lab."/style.inc"
set terminal svg size 480,440 font "sans,14" background "white"
set output "variance.svg"
set title "Scheme 6: a lap of 256 ticks, none of 1024 due"
set xlabel "tick"
set ylabel "instructions"
set logscale y
set xrange [0:256]
set yrange [10:200000]
set xtics 64
set key tmargin left vertical maxrows 3
set format y "10^{%L}"
at(scheme, hash) = rows("variance_ticks.csv", sprintf("$1 == \"%s\" && $2 == \"%s\"", scheme, hash))
plot at("hashed_wheel_paper:every_tick", "all buckets") using 3:4 with points title "rounds counted, spread over all buckets" linetype 2 pointsize 0.5, \
     at("hashed_wheel_paper:every_tick", "one bucket") using 3:4 with points title "rounds counted, all in one bucket" linetype 1 pointsize 0.7, \
     at("hashed_wheel", "one bucket") using 3:4 with lines title "with bounds, either way" linetype 3
