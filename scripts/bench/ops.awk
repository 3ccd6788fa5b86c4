# SPDX-License-Identifier: GPL-2.0
# ops.awk - prints fig9.csv, facilities across, numbers outstanding down; then judges the targets
#
# -v names="FACILITY..." -v outstanding="N..."

BEGIN {
	FS = ","
}

function judge(what, value, most) {
	printf "  %-34s %5.2f  at most %.2f  %s\n", what, value, most,
		value <= most ? "ok" : "MISSED"
}

function ratios(one, other, most,	i) {
	for (i = 1; i <= rows; i++)
		judge(one " / " other ", " n[i], cell[one, n[i]] / cell[other, n[i]], most)
}

NR > 1 { cell[$1, $2] = $3 }

END {
	columns = split(names, name, " ")
	rows = split(outstanding, n, " ")
	printf "\nInstructions per operation\n\n%12s", "outstanding"
	for (j = 1; j <= columns; j++)
		printf " %12s", name[j]
	print ""
	for (i = 1; i <= rows; i++) {
		printf "%12d", n[i]
		for (j = 1; j <= columns; j++)
			printf " %12d", cell[name[j], n[i]]
		print ""
	}
	print "\n  the largest / the smallest of the numbers outstanding"
	for (j = 1; j <= 4; j++) {
		low = high = cell[name[j], n[1]]
		for (i = 2; i <= rows; i++) {
			low = cell[name[j], n[i]] < low ? cell[name[j], n[i]] : low
			high = cell[name[j], n[i]] > high ? cell[name[j], n[i]] : high
		}
		judge(name[j], high / low, 1.10)
	}
	print "\n  compared, at each number outstanding"
	ratios("callout", "timer_list", 0.70)
	ratios("callout_lazy", "mod_timer", 0.40)
	ratios("handle", "hrtimer", 0.85)
	print "\n  instructions that (func, arg) and its hash add to a handle"
	for (i = 1; i <= rows; i++)
		judge("compat - handle " n[i], cell["compat", n[i]] - cell["handle", n[i]], 90)
}
