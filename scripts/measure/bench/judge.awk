# SPDX-License-Identifier: GPL-2.0
# judge.awk - for the other scripts here: verdicts, and the columns of tables

# Prints a value, what it may be at most, and the verdict. held[WHAT], which the script sets for a
# row that does not reach its goal, is the limit that is held instead: some 5 % above the value of
# today, so that a regression is MISSED.
function judge(what, value, goal,	most) {
	most = what in held ? held[what] : goal
	printf "  %-58s %8.3f  at most %8.3f  ", what, value, most
	if (most > goal && value > goal)
		printf "goal %.2f not reached  ", goal
	print value <= most ? "ok" : "MISSED"
}

# The width of the column with this head.
function width(head) {
	return length(head) < 7 ? 7 : length(head)
}
