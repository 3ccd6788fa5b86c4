# SPDX-License-Identifier: GPL-2.0
# judge.awk - for the other scripts here: verdicts, and the columns of tables

# Rows that do not reach their goal: the limit that is held instead, some 5 % above the value of
# today, so that a regression is MISSED.
BEGIN {
	# The tick that the kernel calls is a timer_list too, which fires and is set again.
	held["jump_hour, callout / timer_list, 0"] = 1.94
	held["jump_hour, callout / timer_list, 1000"] = 2.75
	held["jump_hour, callout / timer_list, 10000"] = 2.82
	held["jump_hour, callout / timer_list, 100000"] = 2.88
	held["jump_hour, callout / timer_list, 1000000"] = 2.97
}

# Prints a value, what it may be at most, and the verdict.
function judge(what, value, goal,	most) {
	most = what in held ? held[what] : goal
	printf "  %-42s %8.2f  at most %8.2f  ", what, value, most
	if (most > goal && value > goal)
		printf "goal %.2f not reached  ", goal
	print value <= most ? "ok" : "MISSED"
}

# The width of the column with this head.
function width(head) {
	return length(head) < 7 ? 7 : length(head)
}
