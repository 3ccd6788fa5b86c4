# SPDX-License-Identifier: GPL-2.0
# ops.awk - prints fig9.csv, facilities across, numbers outstanding down; then judges the targets
#
# After judge.awk. -v names="FACILITY..." -v outstanding="N..."

BEGIN {
	FS = ","
	split("1000 10000 100000 1000000", others, " ")
	held["handle / hrtimer, 0"] = 0.53
	# A bucket of the hash that has a callout already takes a tree.
	held["compat"] = 1.40
	for (i in others)
		held["compat / handle, " others[i]] = 1.75
}

function ratios(one, other, most,	i) {
	for (i = 1; i <= rows; i++)
		judge(one " / " other ", " n[i], cell[one, n[i]] / cell[other, n[i]], most)
}

function flatness(name,	i, low, high, value) {
	low = high = cell[name, n[1]]
	for (i = 2; i <= rows; i++) {
		value = cell[name, n[i]]
		low = value < low ? value : low
		high = value > high ? value : high
	}
	judge(name, high / low, 1.10)
}

NR > 1 { cell[$1, $2] = $3 }

END {
	columns = split(names, name, " ")
	rows = split(outstanding, n, " ")
	printf "\nInstructions per operation\n\n%12s", "outstanding"
	for (j = 1; j <= columns; j++)
		printf " %*s", width(name[j]), name[j]
	print ""
	for (i = 1; i <= rows; i++) {
		printf "%12d", n[i]
		for (j = 1; j <= columns; j++)
			printf " %*d", width(name[j]), cell[name[j], n[i]]
		print ""
	}
	print "\n  the largest / the smallest, from 0 to 10^6 outstanding"
	for (j = 1; j <= 5; j++)
		flatness(name[j])
	print "\n  compared, at each number outstanding"
	ratios("callout", "timer_list", 0.48)
	ratios("callout_lazy", "mod_timer", 0.40)
	ratios("handle", "hrtimer", 0.50)
	ratios("compat", "handle", 1.25)
}
