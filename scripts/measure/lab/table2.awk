# SPDX-License-Identifier: GPL-2.0
# table2.awk - the order of growth of each routine: awk -f table2.awk paper.csv table2_points.csv
#
# The exponent is the slope of the least-squares line through the logarithms, for n from 100 on.
# Below a half it is "log n" if each tenfold n adds a twentieth or more of the value at 100.

BEGIN {
	FS = ","
}

FNR == 1 {
	file++
	next
}

file == 1 {
	paper[$1, "start"] = $2
	paper[$1, "stop"] = $3
	paper[$1, "tick"] = $4
	next
}

{
	row = $1 "," $2
	if (!seen[row]++)
		order[++rows] = row
}

$3 >= 100 {
	x = log($3)
	y = log($4 < 1 ? 1 : $4)
	k[row]++
	sx[row] += x
	sy[row] += y
	sxx[row] += x * x
	sxy[row] += x * y
	if (k[row] == 1) {
		first[row] = $4
		rises[row] = 1
	} else if ($4 - last[row] < first[row] / 20) {
		rises[row] = 0
	}
	last[row] = $4
	most[row] = $3
}

END {
	print "scheme,operation,exponent,measured,paper,insns_at_100,insns_at_most,most"
	for (i = 1; i <= rows; i++) {
		r = order[i]
		slope = (k[r] * sxy[r] - sx[r] * sy[r]) / (k[r] * sxx[r] - sx[r] * sx[r])
		measured = slope > 0.5 ? "n" : rises[r] ? "log n" : "1"
		split(r, part, ",")
		split(part[1], name, ":")
		expected = (name[1], part[2]) in paper ? paper[name[1], part[2]] : "-"
		printf "%s,%.2f,%s,%s,%s,%s,%s\n", r, slope, measured, expected,
			first[r], last[r], most[r]
	}
}
