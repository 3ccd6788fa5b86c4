# SPDX-License-Identifier: GPL-2.0
# insert.awk - cost of an insertion in the sorted list, with the paper's formulas
#
# Of insert_points.csv. The cost is 2 for the writes and 1 for each entry that was read.

BEGIN {
	FS = ","
}

NR == 1 {
	print "from,intervals,outstanding,cost,cost_less_2_by_n,paper,residual_life"
	next
}

{
	n = $3
	paper = "-"
	if ($1 == "head" && $2 == "exponential")
		paper = sprintf("%.1f", 2 + 2 * n / 3)
	else if ($1 == "head")
		paper = sprintf("%.1f", 2 + n / 2)
	else if ($2 == "exponential")
		paper = sprintf("%.1f", 2 + n / 3)
	# The share of entries passed, by the distribution of the residual life.
	life = $2 == "exponential" ? 1 / 2 : $1 == "head" ? 2 / 3 : 1 / 3
	printf "%s,%s,%s,%.1f,%.3f,%s,%.1f\n", $1, $2, n, $4 + 2, $4 / n, paper, 2 + life * n
}
