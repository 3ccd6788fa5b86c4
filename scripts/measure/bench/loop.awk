# SPDX-License-Identifier: GPL-2.0
# loop.awk - prints loop.csv, loops across, metrics down; then judges the targets. With judge.awk.

BEGIN { FS = "," }

NR > 1 { cell[$1, $2] = $3 }

function ratio(metric, most) {
	judge("callout / libev, " metric, cell["callout", metric] / cell["libev", metric], most)
}

END {
	columns = split("libev libuv timerfd wheel callout", name, " ")
	rows = split("insns_activity syscalls_activity insns_expiry syscalls_expiry", metric, " ")
	printf "\n%-18s", ""
	for (j = 1; j <= columns; j++)
		printf " %10s", name[j]
	print ""
	for (i = 1; i <= rows; i++) {
		printf "%-18s", metric[i]
		for (j = 1; j <= columns; j++)
			printf metric[i] ~ /insns/ ? " %10.0f" : " %10.4f", cell[name[j], metric[i]]
		print ""
	}
	print "\n  targets"
	ratio("insns_activity", 0.5)
	judge("callout, syscalls_activity", cell["callout", "syscalls_activity"], 0.01)
	ratio("insns_expiry", 1.5)
}
