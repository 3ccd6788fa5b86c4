# SPDX-License-Identifier: GPL-2.0
# native.awk - a table of native.csv, schemes down, operations across, for -v n=OUTSTANDING

BEGIN {
	FS = ","
}

NR > 1 && !($2 in column) {
	column[$2] = 1
	columns[++width] = $2
}

NR > 1 && $3 == n {
	if (!seen[$1]++)
		order[++rows] = $1
	cell[$1, $2] = $4
}

END {
	printf "scheme"
	for (j = 1; j <= width; j++)
		printf ",%s", columns[j]
	print ""
	for (i = 1; i <= rows; i++) {
		printf "%s", order[i]
		for (j = 1; j <= width; j++) {
			at = order[i] SUBSEP columns[j]
			printf ",%s", at in cell ? cell[at] : "-"
		}
		print ""
	}
}
