# SPDX-License-Identifier: GPL-2.0
# fig9_user.gp - figure 9 from a program, through the device: two facilities, 0 to 1000 outstanding
load lab."/style.inc"
set terminal svg size 480,400 font "sans,14" background "white"
set output "fig9_user.svg"
set title "Figure 9 from a program, through the device"
set xlabel "other callouts outstanding (n)"
set ylabel "instructions, in thousands"
set xrange [0:1000]
set xtics 200
set yrange [0:13]
plot row("fig9_user.csv", "sorted_list") using 2:($3 / 1000) \
	title "sorted_list, by handle" linetype 4, \
     row("fig9_user.csv", "hashed_wheel") using 2:($4 / 1000) \
	title "hashed_wheel, by function and argument" linetype 2, \
     row("fig9_user.csv", "hashed_wheel") using 2:($3 / 1000) \
	title "hashed_wheel, by handle" linetype 3
