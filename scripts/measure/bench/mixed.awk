# SPDX-License-Identifier: GPL-2.0
# mixed.awk - prints mixed.csv, loops across; then judges the targets. With judge.awk.

BEGIN { FS = "," }

NR > 1 { cell[$1, $2, $3, $4] = $5 }

function table(unit,	i, j, k) {
	printf "\n%-18s", unit
	for (j = 1; j <= columns; j++)
		printf " %10s", name[j]
	print ""
	for (i = 1; i <= sizes; i++)
		for (k = 1; k <= rows; k++) {
			printf "%-8d%-10s", size[i], metric[k]
			for (j = 1; j <= columns; j++)
				printf " %10.0f", cell[unit, name[j], size[i], metric[k]]
			print ""
		}
}

function ratio(timers, metric, most) {
	judge("ns, " timers ", callout / heap, " metric,
	      cell["ns", "callout", timers, metric] / cell["ns", "heap", timers, metric], most)
}

END {
	columns = split("libev libuv heap callout", name, " ")
	sizes = split("4096 65536 1048576", size, " ")
	rows = split("arm pair expiry", metric, " ")
	table("insns")
	table("ns")
	print "\n  targets"
	ratio(65536, "expiry", 0.6)
	ratio(1048576, "expiry", 0.6)
	ratio(65536, "pair", 0.7)
	ratio(1048576, "pair", 0.7)
}
