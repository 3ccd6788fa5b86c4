# SPDX-License-Identifier: GPL-2.0
# judge.awk - for the other scripts here: verdicts, and the columns of tables

# Prints a value, what it may be at most, and the verdict.
function judge(what, value, most) {
	printf "  %-42s %8.2f  at most %8.2f  %s\n", what, value, most,
		value <= most ? "ok" : "MISSED"
}

# The width of the column with this head.
function width(head) {
	return length(head) < 7 ? 7 : length(head)
}
