// SPDX-License-Identifier: GPL-2.0
/*
 * moved.c - a process that CRIU dumps and restores, and that sees what has become of its
 * callouts
 *
 *	moved NAME COUNT [ahead]
 *
 * It sets COUNT callouts, of all clocks, some with a period, a key, slack or a function,
 * some unread, and writes its number to NAME.pid. With "ahead" it lives in a time
 * namespace. Then it may be dumped. At SIGUSR1 it compares, and reads events until
 * each callout that is due has come. Its results, as TAP, are then in NAME.
 *
 * Three children wait: in read(), in a BATCH, and for a word to cancel a callout in a file
 * that they share with it.
 */
#include <stdarg.h>
#include <sys/epoll.h>

#include "lib/common.h"
#include "lib/timens.h"

#define TESTS		15
/* Callouts that are soon due are due in up to this time. */
#define SOON		(40 * SEC)
#define AT_A_TIME	1024
#define KEY_OF(cookie)	(~(cookie))
/* Of files that have one callout, and of the callout that two processes share. */
#define KEY		77
#define LIMIT		50
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define AHEAD_MONOTONIC	5000
#define AHEAD_BOOTTIME	7000

/**
 * struct one - a callout; its cookie is its place in the array, and 1
 * @before: what LIST said before
 * @expected: the due of its next event
 * @events: how many have come
 */
struct one {
	struct callout_entry before;
	__u64 expected;
	unsigned int events;
};

enum who { READER, WAITER, SHARER, CHILDREN };

struct result {
	enum who who;
	int ret;
	struct callout_event event;
};

static struct one *ones;
static unsigned int count;	/* callouts of the first file; the second has the rest */
static unsigned int total;
static __u64 start, start_boot;	/* CLOCK_MONOTONIC and CLOCK_BOOTTIME, before they were listed */
static int many, few, dup_of_many, read_from, wait_at, poller;
static int go[2], results[2];
static __s64 up_monotonic, up_boottime;	/* the clocks when the system came up */
static FILE *report;
static unsigned int tests, complaints;

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void test(bool ok, const char *name)
{
	fprintf(report, "%sok %u %s\n", ok ? "" : "not ", ++tests, name);
}

/* Says why a test is to fail. */
static bool because(const char *format, ...)
{
	va_list args;

	if (complaints++ < 20) {
		va_start(args, format);
		fputs("# ", report);
		vfprintf(report, format, args);
		fputc('\n', report);
		va_end(args);
	}
	return false;
}

static clockid_t plain(clockid_t clock)
{
	if (clock == CLOCK_BOOTTIME_ALARM)
		return CLOCK_BOOTTIME;
	return clock == CLOCK_REALTIME_ALARM ? CLOCK_REALTIME : clock;
}

/* The callout of the first file with this cookie. */
static struct callout_op op_of(__u64 cookie, __u32 clocks)
{
	static const clockid_t all[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_BOOTTIME_ALARM,
		CLOCK_REALTIME_ALARM,
	};
	clockid_t clock = all[cookie % 5];
	unsigned int way = cookie / 5 % 6, when = cookie / 30 % 4;
	struct callout_op op;
	__u64 time;

	time = when == 0 ? 0 : when == 1 ? SEC + cookie * 7919 * MSEC % (SOON - SEC) :
	       when == 2 ? HOUR + cookie : 10000 * HOUR;
	op = callout_op_set(time, cookie);
	op.clockid = clocks & 1U << clock ? clock : plain(clock);
	if (way == 5) {
		op.op = CALLOUT_OP_TIMEOUT;
		op.func = cookie % 7;
		return op;
	}
	if (way == 0 || way == 1) {
		op.flags |= CALLOUT_OPF_ABSTIME;
		/* A time that has passed, or never. */
		op.time = when == 3 && way ? TIME_MAX : now_of(plain(op.clockid)) + time;
		if (plain(op.clockid) == CLOCK_REALTIME && when >= 2)
			op.flags |= CALLOUT_OPF_CANCEL_ON_SET;
	}
	if (way == 3 || way == 4)
		op.period = 1000 * SEC + cookie;
	if (way == 2)
		op.flags |= CALLOUT_OPF_EXACT;
	if (way >= 3)
		op.slack = MSEC;
	return way % 2 ? op : callout_op_key(op, KEY_OF(cookie));
}

static void set_many(void)
{
	static struct callout_op ops[AT_A_TIME];
	__u32 clocks = info_of(many).clocks;
	unsigned int i, n;

	for (i = 0; i < count; i += n) {
		for (n = 0; n < AT_A_TIME && i + n < count; n++)
			ops[n] = op_of(i + n + 1, clocks);
		if (do_ops(many, ops, n) != (int)n)
			die("set");
	}
}

/* Periods that have passed many times, an old event, and what two processes share. */
static void set_few(void)
{
	struct callout_op ops[] = {
		callout_op_key(callout_op_set(1, count + 1), 1),
		callout_op_set(1, count + 2),
		callout_op_key(callout_op_set(1, count + 3), 3),
		callout_op_key(callout_op_set(HOUR, count + 4), KEY),
	};
	unsigned int i;

	ops[0].period = 7 * MSEC;
	ops[1].period = 10 * MSEC;
	ops[1].clockid = CLOCK_BOOTTIME;
	for (i = 0; i < 3; i++)
		ops[i].flags |= CALLOUT_OPF_ABSTIME;
	total = count + ARRAY_SIZE(ops);
	if (do_ops(few, ops, ARRAY_SIZE(ops)) != ARRAY_SIZE(ops) || set_limit(few, LIMIT))
		die("set");
}

static int set_one(int fd)
{
	struct callout_op op = callout_op_key(callout_op_set(HOUR, KEY), KEY);

	return do_op(fd, &op);
}

/* Calls @fn for each entry; returns how many there were, or an error. */
static int each(int fd, void (*fn)(const struct callout_entry *entry))
{
	static struct callout_entry entries[AT_A_TIME];
	__u64 cursor = 0;
	int i, n, sum = 0;

	do {
		n = list_page(fd, &cursor, entries, AT_A_TIME);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++)
			fn(&entries[i]);
		sum += n;
	} while (cursor);
	return sum;
}

static void note(const struct callout_entry *entry)
{
	struct one *one = &ones[entry->cookie - 1];

	one->before = *entry;
	one->expected = entry->due;
}

static void send_result(enum who who, int ret, const struct callout_event *event)
{
	struct result result = { .who = who, .ret = ret };

	if (event)
		result.event = *event;
	if (write(results[1], &result, sizeof(result)) != sizeof(result))
		exit(EXIT_FAILURE);
}

static void child(enum who who)
{
	struct callout_op op = callout_op_key(callout_op_cancel(0), KEY);
	struct callout_event event;
	struct callout_batch b;
	int ret;
	char c;

	switch (who) {
	case READER:
		ret = dev_read(read_from, &event, 1);
		send_result(who, ret, &event);
		break;
	case WAITER:
		/* The dump ends the wait. */
		do {
			b = batch_wait(&event, TIME_MAX);
			ret = do_batch(wait_at, &b);
		} while (ret == -EINTR);
		send_result(who, ret ? ret : (int)b.got, &event);
		break;
	default:
		if (read(go[0], &c, 1) == 1)
			send_result(who, do_op(few, &op), NULL);
	}
	pause();
	exit(EXIT_SUCCESS);
}

/* A restore opens the same files again. */
static void leave_output(void)
{
	int fd, null = open("/dev/null", O_RDWR);

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			die("/dev/null");
	if (null > STDERR_FILENO)
		close(null);
}

static void set_up(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = KEY };
	enum who who;

	many = dev_open(0);
	few = dev_open(O_NONBLOCK);
	read_from = dev_open(0);
	wait_at = dev_open(0);
	dup_of_many = fcntl(many, F_DUPFD, 100);
	poller = epoll_create1(0);
	if (many < 0 || few < 0 || read_from < 0 || wait_at < 0 || dup_of_many < 0 ||
	    poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, few, &event) || pipe(go) ||
	    pipe(results))
		die("open");
	set_many();
	set_few();
	if (set_one(read_from) || set_one(wait_at))
		die("set");
	leave_output();
	for (who = 0; who < CHILDREN; who++)
		if (!fork())
			child(who);
	start = dev_now();
	start_boot = now_of(CLOCK_BOOTTIME);
	if (each(many, note) != (int)count || each(few, note) != (int)(total - count))
		die("list");
}

/* The time of the clock when the system came up; 0 for CLOCK_REALTIME, or if it did not run. */
static __u64 up(clockid_t clock)
{
	__s64 time = clock == CLOCK_MONOTONIC ? up_monotonic :
		     plain(clock) == CLOCK_BOOTTIME ? up_boottime : 0;

	return time > 0 ? time : 0;
}

static void find_up(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "r");
	long long sec[2] = { 0 }, nsec[2] = { 0 };

	if (!f || fscanf(f, "monotonic %lld %lld boottime %lld %lld", &sec[0], &nsec[0],
			 &sec[1], &nsec[1]) != 4)
		because("no offsets");
	if (f)
		fclose(f);
	up_monotonic = sec[0] * (__s64)SEC + nsec[0];
	up_boottime = sec[1] * (__s64)SEC + nsec[1];
	fprintf(report, "# the system came up at %lld ms, %lld ms\n",
		up_monotonic / (__s64)MSEC, up_boottime / (__s64)MSEC);
}

/*
 * Is @due what is expected? A time before a system came up counts as that: this system, or
 * another one in which the process was restored before, shortly after this time.
 */
static bool right_due(clockid_t clock, __u64 due, __u64 expected)
{
	__u64 first = up(clock), latest = first + 10 * SEC;

	if (due == expected)
		return expected >= first;
	if (plain(clock) == CLOCK_REALTIME)
		return false;
	if (clock == CLOCK_MONOTONIC && latest < start)
		latest = start;
	else if (clock != CLOCK_MONOTONIC && latest < start_boot)
		latest = start_boot;
	return due > expected && due >= first && due <= latest;
}

/* Was it relative, in CLOCK_REALTIME? Then its due is another one. */
static bool relative(const struct callout_entry *entry)
{
	return !(entry->op_flags & CALLOUT_OPF_ABSTIME);
}

static bool all_same;

static void compare(const struct callout_entry *entry)
{
	const struct callout_entry *before;
	bool ok;

	if (!entry->cookie || entry->cookie > total) {
		all_same = because("cookie %llu", entry->cookie);
		return;
	}
	before = &ones[entry->cookie - 1].before;
	ok = entry->op == before->op && entry->op_flags == before->op_flags &&
	     entry->flags == before->flags && entry->clockid == before->clockid &&
	     entry->period == before->period && entry->slack == before->slack &&
	     entry->func == before->func &&
	     (before->state != CALLOUT_STATE_UNREAD || entry->state == CALLOUT_STATE_UNREAD) &&
	     (!(entry->op_flags & CALLOUT_OPF_KEY) || entry->key == before->key);
	if (relative(entry))
		ok = ok && dev_now() + entry->left >= start + before->left;
	else
		ok = ok && right_due(entry->clockid, entry->due, before->due);
	if (!ok)
		all_same = because("%llu: clock %d, flags %#x, state %u, due %llu, period %llu",
				   entry->cookie, entry->clockid, entry->op_flags, entry->state,
				   entry->due, entry->period) ||
			   because("before: clock %d, flags %#x, state %u, due %llu",
				   before->clockid, before->op_flags, before->state, before->due);
}

/* An event was read. Is it right, and not early? */
static bool take(const struct callout_event *e)
{
	struct callout_entry *before;
	struct one *one;
	__u64 last, now;

	if (!e->cookie || e->cookie > total)
		return because("event of cookie %llu", e->cookie);
	one = &ones[e->cookie - 1];
	before = &one->before;
	now = now_of(plain(e->clockid));
	last = e->due + e->overrun * before->period;
	if (e->type != CALLOUT_EVENT_FIRED || e->clockid != before->clockid ||
	    e->func != before->func ||
	    !(e->flags & CALLOUT_EVENTF_PERIODIC) != !before->period ||
	    !(e->flags & CALLOUT_EVENTF_KEY) != !(before->op_flags & CALLOUT_OPF_KEY) ||
	    (e->flags & CALLOUT_EVENTF_KEY && e->key != before->key))
		return because("%llu: another event", e->cookie);
	if (last > now || (relative(before) && dev_now() < start + before->left))
		return because("%llu: early, due %llu, now %llu", e->cookie, e->due, now);
	if (one->events++ && !before->period)
		return because("%llu: twice", e->cookie);
	if (!(relative(before) && one->events == 1) &&
	    !right_due(e->clockid, e->due, one->expected))
		return because("%llu: due %llu, expected %llu", e->cookie, e->due,
			       one->expected);
	one->expected = last + before->period;
	return true;
}

/* Is it due by the time at which all that is soon due is? */
static bool soon(const struct callout_entry *entry)
{
	return entry->left <= SOON;
}

/* How many that are due have not come. */
static unsigned int missing(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < total; i++)
		n += soon(&ones[i].before) && !ones[i].events;
	return n;
}

/* Reads until all that is due has come, or WAIT_MS after it should have. */
static void read_all(void)
{
	static struct callout_event events[AT_A_TIME];
	__u64 last = dev_now(), end;
	struct callout_batch b;
	unsigned int read = 0;
	bool right = true;
	unsigned int i;
	int fd = many;

	do {
		b = with_events(batch_of(NULL, 0), events, AT_A_TIME, 0, 0);
		if (do_batch(fd, &b)) {
			right = because("batch: %d", errno);
			break;
		}
		for (i = 0; i < b.got; i++)
			right = take(&events[i]) && right;
		if (b.got && fd == many)
			last = dev_now();
		read += b.got;
		fd = fd == many ? few : many;
		if (!b.got)
			sleep_ns(MSEC);
		end = last > start + SOON ? last : start + SOON;
	} while (missing() && dev_now() < end + WAIT_MS * MSEC);
	fprintf(report, "# %u events\n", read);
	test(right, "no event is early, comes twice or is another one");
	for (i = 0; i < total && missing(); i++)
		if (soon(&ones[i].before) && !ones[i].events)
			because("%u: no event", i + 1);
	test(!missing(), "no event is lost");
}

/* Cancels what is far away, by the names that it had. */
static void cancel_all(void)
{
	unsigned int i, handles = 0, wrong = 0;
	const struct callout_entry *e;
	struct callout_op op;
	int ret;

	for (i = 0; i < count; i++) {
		e = &ones[i].before;
		if (soon(e))
			continue;
		if (e->op == CALLOUT_OP_TIMEOUT)
			op = callout_op_untimeout(e->func, e->cookie, 0);
		else if (e->op_flags & CALLOUT_OPF_KEY)
			op = callout_op_key(callout_op_cancel(0), e->key);
		else
			op = callout_op_cancel(e->handle);
		ret = do_op(many, &op);
		if (op.op == CALLOUT_OP_CANCEL && !(op.flags & CALLOUT_OPF_KEY)) {
			handles++;
			wrong += ret != -ENOENT;
		} else if (ret != CALLOUT_STATE_PENDING) {
			wrong++;
			because("%u: cancelled, %d", i + 1, ret);
		}
	}
	test(!wrong, "keys and functions name what they named, and handles nothing");
	test(handles, "there were handles");
}

static void see_files(void)
{
	struct epoll_event event;
	struct callout_op op;

	test(info_of(few).max_outstanding == LIMIT && info_of(many).max_outstanding != LIMIT,
	     "limits");
	test(fcntl(few, F_GETFL) & O_NONBLOCK && !(fcntl(many, F_GETFL) & O_NONBLOCK) &&
	     fcntl(many, F_GETFD) == FD_CLOEXEC && !fcntl(dup_of_many, F_GETFD),
	     "flags of files and descriptors");
	op = callout_op_key(callout_op_set(HOUR, total + 1), KEY);
	test(!do_op(dup_of_many, &op) && do_op(many, &op) == CALLOUT_STATE_PENDING,
	     "a duplicate is of the same file");
	op = callout_op_key(callout_op_cancel(0), KEY);
	do_op(many, &op);
	test(epoll_wait(poller, &event, 1, WAIT_MS) == 1 && event.data.u64 == KEY, "epoll");
}

static bool took(int fd, enum who who)
{
	struct callout_op op = callout_op_key(callout_op_move(0, 0), KEY);
	struct result result;

	if (do_op(fd, &op) != CALLOUT_STATE_PENDING || !readable_within(results[0], WAIT_MS) ||
	    read(results[0], &result, sizeof(result)) != sizeof(result))
		return because("no result");
	if (result.who != who || result.ret != 1 || result.event.cookie != KEY)
		return because("result of %d: %d, cookie %llu", result.who, result.ret,
			       result.event.cookie);
	return true;
}

static void see_children(void)
{
	struct result result;

	test(!readable(results[0]), "the children wait");
	test(took(read_from, READER), "a read() goes on");
	test(took(wait_at, WAITER), "a BATCH waits again");
	test(write(go[1], "", 1) == 1 && readable_within(results[0], WAIT_MS) &&
	     read(results[0], &result, sizeof(result)) == sizeof(result) &&
	     result.who == SHARER && result.ret == CALLOUT_STATE_PENDING,
	     "two processes share a file");
}

static void see_all(void)
{
	__u64 limit = dev_now() + WAIT_MS * MSEC, n;
	unsigned int i, unread = 0;

	fprintf(report, "1..%u\n", TESTS);
	find_up();
	for (i = 0; i < total; i++)
		unread += ones[i].before.state == CALLOUT_STATE_UNREAD;
	do {
		n = info_of(many).unread + info_of(few).unread;
	} while (n < unread && dev_now() < limit);
	fprintf(report, "# unread: %u before, %llu\n", unread, n);
	test(unread && n >= unread, "what was unread is");
	all_same = true;
	test(each(many, compare) == (int)count && each(few, compare) == (int)(total - count),
	     "no callout is lost, and none is new");
	test(all_same, "each is as it was");
	read_all();
	cancel_all();
	see_files();
	see_children();
}

static void write_pid(const char *name)
{
	char path[256], new[264];
	FILE *f;

	snprintf(path, sizeof(path), "%s.pid", name);
	snprintf(new, sizeof(new), "%s.new", path);
	f = fopen(new, "w");
	if (!f || fprintf(f, "%d\n", getpid()) < 0 || fclose(f) || rename(new, path))
		die(path);
}

int main(int argc, char **argv)
{
	char new[256];
	sigset_t usr1;

	if (argc < 3)
		return EXIT_FAILURE;
	count = atoi(argv[2]);
	ones = calloc(count + 16, sizeof(*ones));
	if (!ones || (argc > 3 && !shift_children(AHEAD_MONOTONIC, AHEAD_BOOTTIME)))
		die("moved");
	if (fork())
		return EXIT_SUCCESS;
	setsid();
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	set_up();
	write_pid(argv[1]);
	while (sigwaitinfo(&usr1, NULL) != SIGUSR1)
		;
	snprintf(new, sizeof(new), "%s.new", argv[1]);
	report = fopen(new, "w");
	if (!report)
		die(new);
	see_all();
	if (fclose(report) || rename(new, argv[1]))
		die(argv[1]);
	kill(0, SIGKILL);
	return EXIT_SUCCESS;
}
