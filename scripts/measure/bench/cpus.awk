# SPDX-License-Identifier: GPL-2.0
# cpus.awk - prints cpus.csv, a row for each metric of names, a column for each of numbers, and what
# each CPU adds; judges that

BEGIN {
	FS = ","
}

NR > 1 { value[$2, $1] = $3 }

# What a CPU adds, between the least and the largest number of them.
function added(name) {
	return (value[name, cpus[n]] - value[name, cpus[1]]) / (cpus[n] - cpus[1])
}

# Goals: what does not depend on CPUs may differ by a few instructions in all.
function same(name,	more, most) {
	more = value[name, cpus[n]] - value[name, cpus[1]]
	most = value[name, cpus[1]] * 0.02
	judge(name " with " cpus[n] " CPUs, less that with " cpus[1], more, most < 5 ? 5 : most)
}

END {
	n = split(numbers, cpus, " ")
	count = split(names, name, " ")
	printf "\nInstructions, and bytes, by the number of CPUs\n\n%-18s", "metric"
	for (i = 1; i <= n; i++)
		printf " %12d", cpus[i]
	printf " %12s\n", "each adds"
	for (k = 1; k <= count; k++) {
		printf "%-18s", name[k]
		for (i = 1; i <= n; i++)
			printf " %12d", value[name[k], cpus[i]]
		printf " %12.1f\n", added(name[k])
	}
	print ""
	same("set_cancel")
	same("stale")
	same("device_set_cancel")
	same("device_stale")
	same("info")
	judge("KB of memory that each CPU adds", added("memory") / 1024, 16)
}
