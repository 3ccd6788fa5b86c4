# SPDX-License-Identifier: GPL-2.0
# share.awk - throughput of two CPUs as a multiple of one CPU's, of share_points.csv: 2 if they do
# not disturb each other

BEGIN {
	FS = ","
}

NR == 1 {
	next
}

!seen[$1]++ {
	order[++rows] = $1
}

{
	ns[$1, $2, $3] = $4
}

END {
	printf "scheme,percpu_one_ns,percpu_two_ns,single_one_ns,single_two_ns,"
	print "percpu_throughput,single_throughput"
	for (i = 1; i <= rows; i++) {
		s = order[i]
		printf "%s,%d,%d,%d,%d,%.2f,%.2f\n", s,
			ns[s, "percpu", 1], ns[s, "percpu", 2],
			ns[s, "single", 1], ns[s, "single", 2],
			2 * ns[s, "percpu", 1] / ns[s, "percpu", 2],
			2 * ns[s, "single", 1] / ns[s, "single", 2]
	}
}
