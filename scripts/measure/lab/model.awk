# SPDX-License-Identifier: GPL-2.0
# model.awk - what 10^8 callouts and 512 CPUs would take, from what has been measured with fewer
#
#   awk -v table=check -f model.awk line.csv remote.csv bytes.csv scale.csv growth.csv
#
# table=check: a model is fitted without the largest number of callouts that was measured, predicts
# it, and is compared with the measurement: is one more than BOUND times the other? Fails if that
# is so for memory. Nanoseconds on a machine that others use too prove nothing.
# table=large: the models are fitted to all points, and printed with what they say of 10^8.
#
# The models, for n callouts:
#
#	bytes = c + s * n + r * B(n)	for facilities with a wheel, which has B(n) buckets
#	ns = a + k * L(bytes of n)	L: how long a line at a random place in so many bytes takes,
#					of line.csv. So k is how many lines an operation waits for.
#	ns = a + k * e * L(bytes of n)	for lone expiry: e = n / B(n), the callouts of a bucket
#
# A fit has the least sum of squares of relative errors; no coefficient but c is below 0. L is a
# straight line between two points over the logarithm of the bytes, and beyond the last two.
#
# A wheel that shrinks has no model: it moves few callouts of many buckets, in order, and the
# predictions by L were wrong by more than half.
#
# remote.csv has the time for a line from another CPU, or nothing on a machine with one CPU.

function fail(text) {
	print "model.awk: " text > "/dev/stderr"
	failed = 1
	exit 2
}

# As buckets_for() of module/core/resize.c.
function buckets(n,	b) {
	b = FIRST
	while (2 * b <= n && b < MOST_BUCKETS)
		b *= 2
	return b
}

function line_ns(bytes,	i, part) {
	i = 2
	while (i < lines && bytes > line_bytes[i])
		i++
	if (bytes < line_bytes[1])
		return line_took[1]
	part = log(bytes / line_bytes[i - 1]) / log(line_bytes[i] / line_bytes[i - 1])
	return line_took[i - 1] + part * (line_took[i] - line_took[i - 1])
}

# Solve the normal equations m[i, j] * x[j] = m[i, 0] of @p unknowns.
function solve(m, p, x,	i, j, l, f) {
	for (i = 1; i <= p; i++) {
		if (m[i, i] == 0)
			fail("no fit: the points do not differ")
		for (j = 1; j <= p; j++) {
			if (i == j)
				continue
			f = m[j, i] / m[i, i]
			for (l = 0; l <= p; l++)
				m[j, l] -= f * m[i, l]
		}
	}
	for (i = 1; i <= p; i++)
		x[i] = m[i, 0] / m[i, i]
}

# Fit y[1..count] to x[i, 1..p]; coefficients to out[1..p]. The first @free may be negative.
function fit(x, y, count, p, free, out,	used, m, at, got, i, j, l, q, again) {
	for (j = 1; j <= p; j++)
		used[j] = 1
	do {
		again = q = 0
		for (j = 1; j <= p; j++)
			if (used[j])
				at[++q] = j
		split("", m)
		for (i = 1; i <= count; i++)
			for (j = 1; j <= q; j++) {
				m[j, 0] += x[i, at[j]] / y[i]
				for (l = 1; l <= q; l++)
					m[j, l] += x[i, at[j]] * x[i, at[l]] / (y[i] * y[i])
			}
		solve(m, q, got)
		for (j = 1; j <= p; j++)
			out[j] = 0
		for (j = 1; j <= q; j++)
			out[at[j]] = got[j]
		# Otherwise that has no meaning: leave out the last such term.
		for (j = q; j >= 1 && q > 1 && !again; j--)
			if (got[j] < 0 && at[j] > free) {
				delete used[at[j]]
				again = 1
			}
	} while (again)
}

# The model of the memory of a facility, without the largest number if @less, and without the
# smallest if there are enough: there, whole pages decide. To memory[name, i].
function fit_memory(name, less,	i, count, first, n, x, y, out, p) {
	count = points["memory", name] - less
	p = has_wheel(name) ? 3 : 2
	if (count < p)
		fail("memory of " name ": " count " points are too few")
	first = count > p ? 1 : 0
	count -= first
	for (i = 1; i <= count; i++) {
		n = size["memory", name, i + first]
		x[i, 1] = 1
		x[i, 2] = n
		x[i, 3] = buckets(n)
		y[i] = value["memory", name, i + first]
	}
	# Some slots, and pages with room, are there before.
	fit(x, y, count, p, 1, out)
	for (i = 1; i <= 3; i++)
		memory[name, i] = out[i]
}

function has_wheel(name) {
	return name == "callout" || name == "handle"
}

function memory_of(name, n) {
	return memory[name, 1] + memory[name, 2] * n + memory[name, 3] * buckets(n)
}

# The bytes among which an operation's lines are. The laboratory's timers are 64 bytes apart: a
# handle is in such a timer, and is 8 bytes of the memory of a handle.
function spread(name, n) {
	if (name ~ /handle|clock/)
		return memory_of("handle", n) + 56 * n
	if (name ~ /timer_list/)
		return 64 * n
	if (name ~ /table_grow/)
		return memory_of("handle", n)
	return memory_of("callout", n)
}

# How many callouts an operation looks at, in a wheel with a @share of its buckets.
function looks(name, n, share) {
	return name ~ /sparse/ ? n / buckets(n) * share : 1
}

function time_of(name, n, share) {
	return cost[name, 1] + cost[name, 2] * looks(name, n, share) * line_ns(spread(name, n))
}

# The model of the time of an operation, without the largest number if @less. To cost[name, i].
function fit_time(name, less,	i, count, n, x, y, out) {
	count = points["time", name] - less
	if (count < 3)
		fail(name ": " count " points are too few")
	for (i = 1; i <= count; i++) {
		n = size["time", name, i]
		x[i, 1] = 1
		x[i, 2] = looks(name, n, CROWDED) * line_ns(spread(name, n))
		y[i] = value["time", name, i]
	}
	fit(x, y, count, 2, 0, out)
	cost[name, 1] = out[1]
	cost[name, 2] = out[2]
}

function add(kind, name, n, v,	i) {
	i = ++points[kind, name]
	if (i == 1)
		names[kind, ++nr_names[kind]] = name
	else if (n <= size[kind, name, i - 1])
		fail(FILENAME ", line " FNR ": " name " with " n " is not in order")
	size[kind, name, i] = n
	value[kind, name, i] = v
}

function is_number(text) {
	return text ~ /^[0-9]+(\.[0-9]+)?$/ && text + 0 > 0
}

function need(number, what) {
	if (!is_number(number))
		fail(FILENAME ", line " FNR ": " what " is " (number == "" ? "missing" : number))
	return number + 0
}

BEGIN {
	FS = ","
	OFS = ","
	FIRST = 128
	MOST_BUCKETS = 1048576
	BOUND["memory"] = 1.05
	BOUND["time"] = 2
	# With fewer callouts a fit has no point that is beyond the caches.
	JUDGED = 10000000
	# LAB_CROWDED of selftests/modules/lab/native.h
	CROWDED = 16
	CPUS = 512
	# Of module/base/base.h: the classes of bases that each CPU has, and may have.
	KERNEL_CLASSES = 3
	ALL_CLASSES = 11
	MANY = 100000000
	kinds = "^(bytes,ns|ns_from_another_cpu,|facility,outstanding|scheme,operation|" \
		"change,callouts)$"
	modelled = "^(pair_random|rearm_later|dense|sparse)$"
	if (table !~ /^(check|large)$/)
		fail("table=check or table=large")
}

FNR == 1 {
	kind = $1 "," $2
	if (kind !~ kinds)
		fail(FILENAME ": unknown columns: " $0)
	seen[kind] = 1
	next
}

kind == "bytes,ns" {
	line_bytes[++lines] = need($1, "bytes")
	line_took[lines] = need($2, "ns")
	if (lines > 1 && line_bytes[lines] <= line_bytes[lines - 1])
		fail(FILENAME ", line " FNR ": " $1 " is not in order")
}

kind == "ns_from_another_cpu," {
	remote = need($1, "ns")
}

kind == "facility,outstanding" && $2 != "0" {
	add("memory", $1, need($2, "outstanding"), need($3, "bytes"))
}

# Lone expiry of a whole facility depends on the kernel's HZ; the wheel's does not.
kind == "scheme,operation" && $2 ~ modelled &&
($2 == "sparse") == ($1 == "hashed_wheel:crowded") {
	add("time", $1 " " $2, need($3, "outstanding"), need($4, "ns"))
}

kind == "change,callouts" && $1 != "wheel_shrink" {
	add("time", $1, need($2, "callouts"), need($3, "ns"))
	most[$1] = $2
	total[$1] = need($4, "total_us")
}

function check(kind, name, unit,	i, n, predicted, measured, error, bound, bad, verdict) {
	i = points[kind, name]
	n = size[kind, name, i]
	measured = value[kind, name, i]
	if (kind == "memory") {
		fit_memory(name, 1)
		predicted = memory_of(name, n)
	} else {
		fit_time(name, 1)
		predicted = time_of(name, n, CROWDED)
	}
	error = 100 * (predicted / measured - 1)
	bound = BOUND[kind]
	bad = predicted > bound * measured || measured > bound * predicted
	verdict = bad ? "MISSED" : "ok"
	if (n < JUDGED)
		verdict = "not judged"
	missed += verdict == "MISSED" && kind == "memory"
	printf "%s,%s,%d,%.4g,%.4g,%.1f,%g,%s\n", kind == "memory" ? "memory of " name : name,
		unit, n, predicted, measured, error, bound, verdict
}

function check_all(	i) {
	print "what,unit,callouts,predicted,measured,error_percent,bound_factor,verdict"
	for (i = 1; i <= nr_names["memory"]; i++)
		check("memory", names["memory", i], "bytes")
	# The bytes of the models of time are those without the largest number, too.
	for (i = 1; i <= nr_names["time"]; i++)
		check("time", names["time", i], "ns")
}

# Lines from other CPUs, one after the other; with 1 CPU there are none.
function large_remote() {
	print "a line from another CPU,ns,-,-,-," remote ",-,-"
	printf "callout_barrier() without the device,us,-,-,-,-,-,%.4g\n",
		CPUS * KERNEL_CLASSES * remote / 1000
	printf "callout_barrier() with all classes,us,-,-,-,-,-,%.4g\n",
		CPUS * ALL_CLASSES * remote / 1000
	printf "search of an exhausted table,us,-,-,-,-,-,%.4g\n", (CPUS - 1) * remote / 1000
}

function large_all(	i, name, last, n, share) {
	print "what,unit,a,k,measured_with,measured,with_10^8_on_1_CPU,with_10^8_on_" CPUS "_CPUs"
	for (i = 1; i <= nr_names["memory"]; i++) {
		name = names["memory", i]
		fit_memory(name, 0)
		last = points["memory", name]
		printf "memory of %s,bytes,%.1f,%.1f,%d,%.4g,%.4g,%.4g\n", name, memory[name, 2],
			memory[name, 3], size["memory", name, last], value["memory", name, last],
			memory_of(name, MANY), CPUS * memory_of(name, MANY / CPUS)
	}
	for (i = 1; i <= nr_names["time"]; i++) {
		name = names["time", i]
		fit_time(name, 0)
		last = points["time", name]
		n = size["time", name, last]
		printf "%s,ns,%.1f,%.2f,%d,%.4g,%.4g,%.4g\n", name, cost[name, 1], cost[name, 2],
			n, value["time", name, last], time_of(name, MANY, 1),
			time_of(name, MANY / CPUS, 1)
	}
	if (remote)
		large_remote()
	# Changes of all callouts: of one CPU, or of the one table, or by the one worker for clocks.
	for (i = 1; i <= nr_names["time"]; i++) {
		name = names["time", i]
		if (!(name in total))
			continue
		share = name ~ /table|clock/ ? MANY : MANY / CPUS
		printf "%s of all,ms,-,-,%d,%.4g,%.4g,%.4g\n", name, most[name], total[name] / 1000,
			time_of(name, MANY, 1) * MANY / 1e6, time_of(name, share, 1) * share / 1e6
	}
}

END {
	if (failed)
		exit 2
	if (!seen["bytes,ns"] || !seen["facility,outstanding"] || !seen["scheme,operation"] ||
	    !seen["change,callouts"] || lines < 2)
		fail("line.csv, bytes.csv, scale.csv and growth.csv are needed")
	if (table == "check")
		check_all()
	else
		large_all()
	exit missed > 0
}
