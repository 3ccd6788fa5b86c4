# SPDX-License-Identifier: GPL-2.0
# Counts the leaf results of TAP or KTAP and prints "PASSED FAILED"; complaints go to the file in
# the variable `why`.
#
# In KTAP the result of a group follows the results of its members, which are indented deeper; so a
# result is a leaf exactly when the result before it is not deeper. A skipped test counts as
# failed, and so does each plan that was not kept, each group that failed with no failing member,
# and a "Bail out!".

function complain(text) {
	failed++
	print text > why
}

function close_plans(indent,	i) {
	for (i in plan)
		if (i + 0 >= indent + 0) {
			if (plan[i] != seen[i])
				complain("plan of " plan[i] " tests, " seen[i] + 0 " results")
			delete plan[i]
			delete seen[i]
		}
}

{ sub(/\r$/, "") }

/^ *1\.\.[0-9]+/ {
	match($0, /^ */)
	close_plans(RLENGTH)
	split($1, bounds, /\.\./)
	plan[RLENGTH] = bounds[2] + 0
	seen[RLENGTH] = 0
}

/^ *Bail out!/ { complain($0) }

/^ *(not )?ok / {
	match($0, /^ */)
	indent = RLENGTH
	close_plans(indent + 1)
	seen[indent]++
	good = $1 == "ok"
	skipped = toupper($0) ~ /# *SKIP/
	if (last > indent) {
		if (!good && failed == failed_before[indent] + 0)
			complain($0)
	} else if (good && !skipped) {
		passed++
	} else {
		complain($0)
	}
	failed_before[indent] = failed + 0
	last = indent
}

END {
	close_plans(0)
	print passed + 0, failed + 0
}
