# SPDX-License-Identifier: GPL-2.0
# tick.awk - prints tick.csv, metrics down, facilities across; then judges the targets
#
# After judge.awk.

BEGIN {
	FS = ","
	held["expiry_together, callout / timer_list, 10000"] = 1.60
	# The tick that the kernel calls is a timer_list too, which fires and is set again.
	held["jump_hour, callout / timer_list, 0"] = 1.99
	held["jump_hour, callout / timer_list, 1000"] = 2.72
	held["jump_hour, callout / timer_list, 10000"] = 2.84
	held["jump_hour, callout / timer_list, 100000"] = 2.87
	held["jump_hour, callout / timer_list, 1000000"] = 2.97
}

NR > 1 {
	row = $2 "," $3
	if (!(row in seen)) {
		seen[row] = 1
		order[++rows] = row
	}
	cell[$1, row] = $4
}

function ratio(metric, one, other, most,	i, part) {
	for (i = 1; i <= rows; i++) {
		split(order[i], part, ",")
		if (part[1] == metric)
			judge(metric ", " one " / " other ", " part[2],
			      cell[one, order[i]] / cell[other, order[i]], most)
	}
}

END {
	names = "none callout callout_hrtimer handle compat timer_list hrtimer hrtimer_soft"
	columns = split(names, name, " ")
	printf "\nInstructions per tick, jump or expiry; except idle_tick, less those of"
	printf " a tick without timers\n\n"
	printf "%-17s %11s", "", "outstanding"
	for (j = 1; j <= columns; j++)
		printf " %*s", width(name[j]), name[j]
	print ""
	for (i = 1; i <= rows; i++) {
		split(order[i], part, ",")
		printf "%-17s %11d", part[1], part[2]
		for (j = 1; j <= columns; j++)
			printf " %*s", width(name[j]),
				(name[j], order[i]) in cell ? cell[name[j], order[i]] : "-"
		print ""
	}
	print ""
	ratio("expiry_together", "callout", "timer_list", 1.5)
	ratio("expiry_one_by_one", "callout", "hrtimer", 1.0)
	ratio("jump_hour", "callout", "timer_list", 1.5)
}
