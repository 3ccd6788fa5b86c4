# SPDX-License-Identifier: GPL-2.0
# native.awk - a table of native.csv, schemes down, operations across, for -v n=OUTSTANDING; or with
# -v targets=yes the facility's beside their goals, without a verdict: nanoseconds on a
# machine that others use too prove nothing

BEGIN {
	FS = ","
}

NR > 1 && !($2 in column) {
	column[$2] = 1
	columns[++nr_columns] = $2
}

NR > 1 { ns[$1, $2, $3] = $4 }

NR > 1 && $3 == n {
	if (!seen[$1]++)
		order[++rows] = $1
	cell[$1, $2] = $4
}

function compare(what, value, goal) {
	printf "  %-42s %8.2f  goal %8.2f  %s\n", what, value, goal,
		value <= goal ? "reached" : "not reached"
}

function ratio(operation, n, goal) {
	compare("native " operation ", (callout) / (timer_list), " n,
		ns["(callout)", operation, n] / ns["(timer_list)", operation, n], goal)
}

function compare_all() {
	ratio("pair_one", 10000, 0.75)
	ratio("pair_one", 1000000, 0.75)
	ratio("pair_random", 10000, 0.75)
	ratio("pair_random", 1000000, 0.75)
	ratio("dense", 10000, 1.1)
	ratio("dense", 1000000, 1.1)
	compare("native sparse, (callout), 1000000, ns", ns["(callout)", "sparse", 1000000], 300)
}

function table(	i, j, at) {
	printf "scheme"
	for (j = 1; j <= nr_columns; j++)
		printf ",%s", columns[j]
	print ""
	for (i = 1; i <= rows; i++) {
		printf "%s", order[i]
		for (j = 1; j <= nr_columns; j++) {
			at = order[i] SUBSEP columns[j]
			printf ",%s", at in cell ? cell[at] : "-"
		}
		print ""
	}
}

END {
	if (targets)
		compare_all()
	else
		table()
}
