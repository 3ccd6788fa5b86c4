# SPDX-License-Identifier: GPL-2.0
# fig9.awk - judges figure 9 by instructions: awk -f fig9.awk fig9.csv fig9_native.csv
#
# Fails if a target is missed. The paper's figure is of time, in which each entry of the list also
# costs a cache line: the ratio of times is for information.

BEGIN {
	FS = ","
}

FNR == 1 {
	file++
	next
}

file == 1 && $1 == "hashed_wheel" {
	if (!($2 in low) || $4 < low[$2])
		low[$2] = $4
	if ($4 > high[$2])
		high[$2] = $4
	most[$2] = $3
}

$1 == "sorted_list" && $2 == "search" {
	old[file, $3] = $4
}

function judge(ratio, relation, limit, good) {
	printf "ratio %s, %s %s: %s\n", ratio, relation, limit, good ? "ok" : "MISSED"
	missed += !good
}

END {
	for (lookup in low) {
		ratio = high[lookup] / low[lookup]
		printf "hashed_wheel, %s: %d to %d instructions a pair from 0 to %d outstanding: ",
			lookup, low[lookup], high[lookup], most[lookup]
		judge(sprintf("%.2f", ratio), "at most", "1.10", ratio <= 1.1)
	}
	ratio = old[1, 1000] / old[1, 0]
	printf "sorted_list, search: %d instructions at 0, %d at 1000: ", old[1, 0], old[1, 1000]
	judge(sprintf("%.1f", ratio), "at least", "100", ratio >= 100)
	printf "sorted_list, search: %d ns at 0, %d ns at 1000: ratio %.0f\n",
		old[2, 0], old[2, 1000], old[2, 1000] / old[2, 0]
	exit missed > 0
}
