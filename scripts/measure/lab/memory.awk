# SPDX-License-Identifier: GPL-2.0
# memory.awk - adds to the bytes of each number of timers the bytes of one; 0 timers: the module's

BEGIN {
	FS = ","
	OFS = ","
}

NR == 1 { print $0, "bytes_each" }
NR > 1 { print $0, $2 ? sprintf("%.1f", $3 / $2) : "-" }
