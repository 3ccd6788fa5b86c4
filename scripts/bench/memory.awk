# SPDX-License-Identifier: GPL-2.0
# memory.awk - prints memory.csv, and judges what a CPU adds

BEGIN {
	FS = ","
	printf "\nBytes of the loaded module with nothing set, by the number of CPUs\n\n"
}

NR > 1 {
	printf "%12d %12d\n", $1, $2
	added = ($2 - bytes) / ($1 - cpus)
	cpus = $1
	bytes = $2
}

END {
	print ""
	judge("KB of memory that each CPU adds", added / 1024, 16)
}
