# SPDX-License-Identifier: GPL-2.0
# cross.awk - from which mean interval T on a tick of Scheme 7 costs less than one of Scheme 6, for
# each number of list heads M and of levels m, of cross.csv
#
# c6 is the cost of a visit in Scheme 6, c7 the cost of a migration in Scheme 7, as in the paper.

BEGIN {
	FS = ","
	six = "hashed_wheel_paper:every_tick"
	seven = "hierarchical_wheel"
}

NR > 1 {
	cost[$1, $2, $3, $4] = $6
	requeues[$1, $2, $3, $4] = $8 / 1000
	n = $5
}

# The T at which the two costs are equal, between two that were measured.
function crossing(M, m,	t, a, b) {
	for (t = 64; t < 65536; t *= 2) {
		if (!((seven, M, m, 2 * t) in cost))
			break
		a = cost[seven, M, m, t] - cost[six, M, 1, t]
		b = cost[seven, M, m, 2 * t] - cost[six, M, 1, 2 * t]
		if (a > 0 && b <= 0)
			return sprintf("%.0f", t * 2 ^ (a / (a - b)))
	}
	return "-"
}

END {
	# At a large T visits are nearly all of the difference between two sizes.
	t = 65536
	c6 = (cost[six, 256, 1, t] - cost[six, 4096, 1, t]) / (n / 256 - n / 4096)
	# At a small T the difference between two numbers of levels is largest.
	t = 64
	c7 = (cost[seven, 4096, 4, t] - cost[seven, 4096, 2, t]) / \
	     (requeues[seven, 4096, 4, t] - requeues[seven, 4096, 2, t])
	print "M,m,c6,c7,T_formula,T_measured"
	for (M = 256; M <= 4096; M *= 4)
		for (m = 2; m <= 4; m++)
			printf "%d,%d,%.1f,%.1f,%.0f,%s\n", M, m, c6, c7,
				M * m * c7 / c6, crossing(M, m)
}
