# SPDX-License-Identifier: GPL-2.0
# tick.awk - prints tick.csv, metrics down, facilities across

BEGIN {
	FS = ","
}

NR > 1 {
	row = $2 "," $3
	if (!(row in seen)) {
		seen[row] = 1
		order[++rows] = row
	}
	cell[$1, row] = $4
}

END {
	columns = split("none callout timer_list hrtimer", name, " ")
	printf "\nInstructions per tick, jump or expiry; except idle_tick, less those of"
	printf " a tick without timers\n\n"
	printf "%-18s %12s", "", "outstanding"
	for (j = 1; j <= columns; j++)
		printf " %12s", name[j]
	print ""
	for (i = 1; i <= rows; i++) {
		split(order[i], part, ",")
		printf "%-18s %12d", part[1], part[2]
		for (j = 1; j <= columns; j++)
			printf " %12s", (name[j], order[i]) in cell ? cell[name[j], order[i]] : "-"
		print ""
	}
}
