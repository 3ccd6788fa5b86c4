// SPDX-License-Identifier: GPL-2.0
/*
 * lib_fuzz.c - a fuzzer of libcallout against a mock of the device and of timerfds
 *
 * Two contexts and a few timers, whose memory is freed as soon as they are
 * disarmed. A model has what each timer was armed for. What holds:
 *
 *  - a timer that fires is armed, fires once for each expiry, neither early nor,
 *    in a wait, later than its slack and a tick, and its event has its times;
 *  - no timer comes after it was disarmed, and none is accessed;
 *  - of one clock no timer comes before another of the same turns that was armed for
 *    an earlier time, or earlier for the same time;
 *  - arming fails only for what is asked, and a turn only if an error was
 *    injected; then nothing is lost, and after a wait no timer is due;
 *  - a turn hands out no more timers than it may and, without a wait, reads each
 *    clock once and makes one system call, or one for each timerfd;
 *  - callout_ctx_next_due() is not after the first timer that is due, 0 only if
 *    timers are to be handed out, and a turn before that makes no system call if
 *    the kernel's callout has not come and need not be moved;
 *  - the kernel has at most one callout for each clock, and wakes the loop when a
 *    timer is due unless callout_ctx_pending(); if the callout of one clock cannot
 *    be made, it does so for the other's timers; a descriptor that is readable
 *    stays so as long as timers are due, and after some turns no longer, also when a
 *    clock was set back;
 *  - at the end every timer has fired, also while periodic ones are due in each
 *    turn, and the kernel has no callout.
 */
#include <errno.h>
#include <limits.h>
#include "lib_fuzz.h"
#include "mock_device.h"

#define TIMERS		10U
#define CONTEXTS	2U
#define TIME_LAST	(~0ULL >> 1)
#define REACH		(1ULL << 40)

/**
 * struct model_timer - a timer and what it was armed for
 * @timer: it
 * @armed: callout_ctx_next() is to return it
 * @waits: its time, @time, counts from the next turn
 * @lo: it is not due before this, in its clock
 * @hi: nor after this
 * @ctx: index of its context
 * @clockid: its clock
 * @period: its period
 * @slack: its slack
 * @turn: the last turn of its context when it was armed
 * @base: an absolute time before this may count as this
 * @seq: it was armed after all with lower numbers
 * @moved: it was armed already when it was armed
 * @rel: it was armed for a relative time
 * @settings: how often CLOCK_REALTIME had been set when it was armed
 */
struct model_timer {
	struct callout_timer *timer;
	bool armed;
	bool waits;
	uint64_t time;
	uint64_t lo, hi;
	unsigned int ctx;
	clockid_t clockid;
	uint64_t period, slack;
	unsigned int turn;
	uint64_t base;
	unsigned int seq;
	bool moved, rel;
	unsigned int settings;
};

static struct model_timer model[TIMERS];
static struct callout_ctx *context[CONTEXTS];
/* Bit N: a timer of clock N was armed. */
static unsigned int clocks_of[CONTEXTS];
/* A timer was armed for a time that never comes. */
static bool far[CONTEXTS];
/* How many timers a turn hands out. */
static unsigned int room[CONTEXTS];
/*
 * Turns that have begun; the times before and after the last, or when the clock was first
 * used, by clock; settings then.
 */
#define CLOCKS		10
static unsigned int turns[CONTEXTS];
static uint64_t turn_begin[CONTEXTS][CLOCKS], turn_end[CONTEXTS][CLOCKS];
static unsigned int turn_settings[CONTEXTS];
/* How often CLOCK_REALTIME was set. */
static unsigned int settings;
static unsigned int nr_armed;
static bool faults;
/* System calls of the last turn. */
static unsigned int turn_calls;

static struct model_timer *model_of(const struct callout_timer *timer)
{
	unsigned int i;

	for (i = 0; i < TIMERS; i++)
		if (model[i].timer == timer)
			return &model[i];
	fuzz_assert(false, "a timer that was freed");
	return NULL;
}

static void new_timer(struct model_timer *m)
{
	memset(m, 0, sizeof(*m));
	m->timer = calloc(1, sizeof(*m->timer));
}

static uint64_t after(uint64_t now, uint64_t time)
{
	return time < TIME_LAST - now ? now + time : TIME_LAST;
}

static void model_due(struct model_timer *m, uint64_t lo, uint64_t hi)
{
	m->waits = false;
	m->lo = lo;
	m->hi = hi;
	if (after(hi, m->slack) > TIME_LAST / 2)
		far[m->ctx] = true;
}

/* The clock that its time is to count in. */
static clockid_t clock_of(const struct callout_timer *timer, bool rel)
{
	if (rel && timer->clockid == CLOCK_REALTIME)
		return CLOCK_MONOTONIC;
	if (rel && timer->clockid == CLOCK_REALTIME_ALARM)
		return CLOCK_BOOTTIME_ALARM;
	return timer->clockid;
}

static bool is_alarm(clockid_t clockid)
{
	return clockid == CLOCK_BOOTTIME_ALARM || clockid == CLOCK_REALTIME_ALARM;
}

/* Was the clock of the timer set since it was armed, or the context's last turn? */
static bool was_set(const struct model_timer *m)
{
	return (m->clockid == CLOCK_REALTIME || m->clockid == CLOCK_REALTIME_ALARM) &&
	       (m->settings != settings || turn_settings[m->ctx] != settings);
}

static bool on_timerfd(unsigned int i)
{
	return callout_ctx_on_timerfd(context[i]);
}

/* Has the timer armed for what was asked: relative if @rel. */
static void model_arm(struct model_timer *m, unsigned int i, uint64_t time,
		      bool rel)
{
	m->moved = m->armed;
	m->armed = true;
	m->ctx = i;
	m->clockid = clock_of(m->timer, rel);
	m->settings = settings;
	m->turn = turns[i];
	m->base = rel ? 0 : turn_end[i][m->clockid];
	m->seq = nr_armed++;
	m->rel = rel;
	m->period = m->timer->period;
	m->slack = m->timer->slack;
	m->time = time;
	m->waits = rel;
	if (!rel)
		model_due(m, time, time);
}

static void arm(struct input *in)
{
	struct model_timer *m = &model[input_below(in, TIMERS)];
	struct callout_timer *timer = m->timer;
	unsigned int how = input_byte(in), i = how & 1, calls = mock.calls;
	static const clockid_t clocks[] = {
		0, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_BOOTTIME,
		CLOCK_BOOTTIME_ALARM, CLOCK_REALTIME_ALARM,
	};
	bool rel = how & 2, valid, was = m->armed, first;
	uint64_t time = input_distance(in, MOCK_TICK, REACH), now;
	int ret;

	if (how >= 240)
		time = TIME_LAST + (how & 4);
	timer->clockid = clocks[how / 32 & 3];
	if ((how / 32 & 3) == 3)
		timer->clockid = clocks[2 + time % 4];
	timer->period = how & 8 ? 0 : (how & 16 ? MOCK_TICK : 0) *
				      input_below(in, 8);
	timer->slack = (how & 128) ? input_byte(in) * 64ULL : 0;
	if (!rel && time <= TIME_LAST) {
		/* Just past, at least, or long past. */
		now = mock_clock(timer->clockid);
		time = after(how & 4 ? now - MOCK_TICK : now / 2, time);
	}
	valid = time <= TIME_LAST;
	if (how == 239) {
		timer->clockid = CLOCK_PROCESS_CPUTIME_ID;
		valid = false;
	}
	ret = rel ? callout_arm(context[i], timer, time) :
		    callout_arm_at(context[i], timer, time);
	first = valid && !(clocks_of[i] & 1U << clock_of(timer, rel));
	/* A clock that is not in use yet may not be possible. */
	if (first && ret && faults)
		valid = false;
	else
		fuzz_assert(ret == (valid ? 0 : -EINVAL), "%d", ret);
	fuzz_assert(mock.calls == calls ||
		    (first && is_alarm(timer->clockid) && mock.calls == calls + 1),
		    "a call");
	if (valid) {
		if (first)
			turn_end[i][clock_of(timer, rel)] =
				mock_clock(clock_of(timer, rel));
		clocks_of[i] |= 1U << clock_of(timer, rel);
		model_arm(m, i, time, rel);
	}
	fuzz_assert(m->armed == (valid || was), "%d", ret);
	fuzz_assert(callout_armed(timer) == m->armed, "not as the model");
}

static void disarm(struct model_timer *m, bool free_it)
{
	bool was = callout_disarm(context[m->ctx], m->timer);

	fuzz_assert(was == m->armed, "%d", was);
	fuzz_assert(!callout_armed(m->timer), "armed");
	if (free_it) {
		free(m->timer);
		new_timer(m);
		return;
	}
	m->armed = false;
	m->waits = false;
}

static uint64_t tick_from(uint64_t t)
{
	return t < TIME_LAST - MOCK_TICK ?
	       (t + MOCK_TICK - 1) / MOCK_TICK * MOCK_TICK : TIME_LAST;
}

/* A turn: when it began, and @mock.drift then. */
struct turn {
	uint64_t start;
	uint64_t drift;
};

static uint64_t ahead_of(clockid_t clockid)
{
	return mock_clock(clockid) - mock.now;
}

static void periodic_fired(struct model_timer *m, const struct callout_event *e)
{
	uint64_t last = e->due + e->overrun * m->period;

	fuzz_assert(e->flags == CALLOUT_EVENTF_PERIODIC, "%x", e->flags);
	fuzz_assert(last <= mock_clock(m->clockid) || was_set(m), "%llu is early",
		    e->overrun);
	last = after(last, m->period);
	fuzz_assert(last > turn_begin[m->ctx][m->clockid], "%llu is not all",
		    e->overrun);
	model_due(m, last, last);
	fuzz_assert(callout_armed(m->timer), "not armed");
}

static void fired(struct model_timer *m, const struct callout_event *e,
		  const struct turn *turn)
{
	uint64_t limit = after(m->hi, m->slack), ahead = ahead_of(m->clockid);

	fuzz_assert(e->type == CALLOUT_EVENT_FIRED && !e->handle && !e->func &&
		    e->clockid == m->clockid, "another event");
	fuzz_assert(e->cookie == (uintptr_t)m->timer, "%llx", e->cookie);
	fuzz_assert(e->fired >= turn_begin[m->ctx][CLOCK_MONOTONIC] && e->fired <= mock.now,
		    "not in the turn, at %llu", e->fired);
	fuzz_assert(e->due >= m->lo && e->due <= m->hi, "due at %llu, not %llu",
		    e->due, (unsigned long long)m->lo);
	fuzz_assert(mock_clock(m->clockid) >= m->lo || was_set(m), "early");
	limit = tick_from(limit > ahead ? limit - ahead : 0);
	if (limit < turn->start + MOCK_TICK)
		limit = turn->start + MOCK_TICK;
	limit = after(limit, mock.drift - turn->drift + MOCK_TICK);
	if (m->clockid == CLOCK_MONOTONIC)
		fuzz_assert(e->fired >= m->lo, "early");
	fuzz_assert(e->fired <= limit || m->period || was_set(m), "at %llu, due at %llu",
		    e->fired, e->due);
	if (m->period) {
		periodic_fired(m, e);
		return;
	}
	m->armed = false;
	fuzz_assert(!e->flags && !e->overrun, "periodic");
	fuzz_assert(!callout_armed(m->timer), "still armed");
}

/* Whether @k is to come before @m, which comes in the turn that began last. */
static bool is_before(const struct model_timer *k, const struct model_timer *m)
{
	uint64_t hi = after(k->hi, k->slack);

	if (!k->armed || k->waits || k->ctx != m->ctx ||
	    k->clockid != m->clockid || k->turn == turns[m->ctx])
		return false;
	if (hi < k->base)
		hi = k->base;
	if (hi < m->lo)
		return true;
	return k->rel == m->rel && !k->moved && !m->moved && !k->slack &&
	       !m->slack && !k->period && !m->period && k->lo == k->hi &&
	       m->lo == m->hi && k->lo == m->lo && m->lo >= k->base &&
	       m->lo >= m->base && k->seq < m->seq;
}

static void check_order(const struct model_timer *m)
{
	const struct model_timer *k;

	for (k = model; k < model + TIMERS; k++)
		fuzz_assert(k == m || !is_before(k, m),
			    "due at %llu, before one due at %llu",
			    (unsigned long long)m->lo, (unsigned long long)k->hi);
}

/* Hands out one timer; false if there is none. */
static bool hand_out(unsigned int i, const struct turn *turn)
{
	struct callout_timer *timer;
	struct callout_event e;
	struct model_timer *m;

	timer = callout_ctx_next(context[i], &e);
	if (!timer)
		return false;
	m = model_of(timer);
	fuzz_assert(m->armed && m->ctx == i, "disarmed");
	check_order(m);
	fired(m, &e, turn);
	return true;
}

/* From now on the times count that were given since the last turn. */
static void model_turn(unsigned int i, const struct turn *turn)
{
	uint64_t drift = mock.drift - turn->drift, ahead;
	struct model_timer *m;

	clockid_t clockid;

	turns[i]++;
	turn_settings[i] = settings;
	for (clockid = 0; clockid < CLOCKS; clockid++) {
		turn_begin[i][clockid] = turn->start + ahead_of(clockid);
		turn_end[i][clockid] = mock_clock(clockid);
	}
	for (m = model; m < model + TIMERS; m++) {
		if (!m->armed || m->ctx != i || !m->waits)
			continue;
		ahead = ahead_of(m->clockid);
		model_due(m, after(turn->start + ahead, m->time),
			  after(turn->start + drift + ahead, m->time));
	}
}

/* Timers of the last turn are left: then a turn does nothing. */
static bool any_left(unsigned int i)
{
	struct model_timer *m;

	for (m = model; m < model + TIMERS; m++)
		if (m->armed && m->ctx == i && !m->waits &&
		    m->timer->_queued)
			return true;
	return false;
}

/* Relative times count from here, if no timers are left. */
static uint64_t next_due(unsigned int i)
{
	struct turn turn = { mock.now, mock.drift };
	unsigned int calls = mock.calls;
	bool begins = !any_left(i);
	uint64_t due = callout_ctx_next_due(context[i]);

	fuzz_assert(mock.calls == calls, "a call");
	if (begins)
		model_turn(i, &turn);
	return due;
}

/* No timer is due before callout_ctx_next_due(). */
static void check_next_due(unsigned int i)
{
	bool left = any_left(i);
	uint64_t due = next_due(i);
	struct model_timer *m;

	fuzz_assert(left == !due, "%llu", (unsigned long long)due);
	if (left)
		return;
	for (m = model; m < model + TIMERS; m++)
		fuzz_assert(!m->armed || m->ctx != i ||
			    m->clockid != CLOCK_MONOTONIC ||
			    due <= after(m->hi, m->slack), "%llu, but a timer is due at %llu",
			    (unsigned long long)due, (unsigned long long)m->hi);
}

static unsigned int nr_clocks(unsigned int i)
{
	return __builtin_popcount(clocks_of[i]);
}

/* Were timers of another clock than CLOCK_MONOTONIC armed? */
static bool other_clocks(unsigned int i)
{
	return clocks_of[i] & ~(1U << CLOCK_MONOTONIC);
}

/* No callout of the kernel has come, nor does in the time that a turn takes. */
static bool kernel_is_silent(unsigned int i)
{
	struct mock_file *f = mock_file(callout_ctx_fd(context[i]));

	return !mock_unread(f) && !other_clocks(i) && !mock.fail_batch &&
	       mock_next_due(f, CLOCK_MONOTONIC) > mock.now + 8 * mock.jitter;
}

static uint64_t outstanding(unsigned int i)
{
	struct callout_info info;

	fuzz_assert(!callout_dev_info(callout_ctx_fd(context[i]), &info), "info");
	return info.outstanding;
}

/*
 * The descriptor is or will be readable when a timer is due. After @error that
 * holds only for clocks of which the kernel has a callout.
 */
static void check_wakes(unsigned int i, bool error)
{
	struct mock_file *f = mock_file(callout_ctx_fd(context[i]));
	struct model_timer *m;
	uint64_t due;

	for (m = model; m < model + TIMERS && !mock_unread(f); m++) {
		if (!m->armed || m->ctx != i || m->waits)
			continue;
		due = mock_next_due(f, m->clockid);
		if (error && due == CALLOUT_FOREVER)
			continue;
		fuzz_assert(due <= after(m->hi, m->slack) ||
			    due <= mock_clock(m->clockid), "at %llu, due at %llu",
			    (unsigned long long)due, (unsigned long long)m->hi);
	}
}

/* Whether an operation has failed, and not the call. */
static bool op_failed(int ret)
{
	return ret == -ENOMEM || ret == -ENOSPC || ret == -EDQUOT;
}

/* Whether a timer is still to be handed out that was due @ago. */
static bool any_due(unsigned int i, uint64_t ago)
{
	struct model_timer *m;

	for (m = model; m < model + TIMERS; m++)
		if (m->armed && m->ctx == i && !m->waits &&
		    after(m->hi, m->slack) <= mock_clock(m->clockid) - ago)
			return true;
	return false;
}

static const unsigned int can_be_set = 1U << CLOCK_REALTIME |
				       1U << CLOCK_REALTIME_ALARM;

static void take_turn(unsigned int i, uint64_t timeout, bool flush,
		      unsigned int most)
{
	struct callout_ctx *ctx = context[i];
	struct turn turn = { mock.now, mock.drift };
	bool idle = !timeout && kernel_is_silent(i) &&
		    next_due(i) > mock.now + 8 * mock.jitter &&
		    !callout_ctx_pending(ctx);
	struct mock_file *f = mock_file(callout_ctx_fd(ctx));
	bool begins = !any_left(i), all_tried = !mock.short_at && !mock.fail_batch;
	bool stays = !timeout && begins && !other_clocks(i) && mock_unread(f);
	unsigned int calls = mock.calls, looks = mock.looks, n = 0;
	unsigned int polls = mock.polls;
	int ret;

	ret = flush ? callout_ctx_flush(ctx) : callout_ctx_turn(ctx, timeout);
	if (ret < 0)
		fuzz_assert(faults || timeout == CALLOUT_FOREVER, "%d", ret);
	turn_calls = mock.calls - calls;
	looks = mock.looks - looks;
	fuzz_assert(timeout || turn_calls <= (on_timerfd(i) ? nr_clocks(i) : 1),
		    "%u calls", turn_calls);
	fuzz_assert(mock.polls - polls <= !!(clocks_of[i] & can_be_set), "a poll");
	fuzz_assert(timeout || looks <= nr_clocks(i), "%u looks", looks);
	fuzz_assert(ret <= (int)room[i], "%d of %u", ret, room[i]);
	fuzz_assert(ret || timeout != CALLOUT_FOREVER, "no wait");
	fuzz_assert(!idle || !turn_calls, "a call before one is due");
	if (!ret && !flush && timeout && timeout < REACH)
		fuzz_assert(mock.now >= turn.start + timeout, "too short a wait");
	if (timeout < REACH)
		fuzz_assert(mock.now <= turn.start + timeout + MOCK_TICK +
					mock.drift - turn.drift, "too long a wait");
	if (begins)
		model_turn(i, &turn);
	while (n < most && hand_out(i, &turn))
		n++;
	if (n < most)
		fuzz_assert(n == (ret < 0 ? 0 : ret), "%u, not %d", n, ret);
	check_next_due(i);
	if (begins && !faults && !timeout && n < most)
		fuzz_assert(!callout_ctx_pending(ctx), "all is done");
	if (!callout_ctx_pending(ctx))
		check_wakes(i, false);
	else if (op_failed(ret) && all_tried)
		check_wakes(i, true);
	if (ret < 0 && timeout)
		fuzz_assert(!any_due(i, 2 * mock.jitter), "not looked for");
	if (stays && n < most && any_due(i, mock.now - turn.start))
		fuzz_assert(mock_unread(f), "not readable any more");
	fuzz_assert(outstanding(i) <= nr_clocks(i), "too many callouts");
}

/* A loop that has no timers to hand out sleeps in the end. */
static void sleeps(unsigned int i)
{
	struct mock_file *f = mock_file(callout_ctx_fd(context[i]));
	unsigned int n;

	mock_no_faults();
	mock.jitter = 0;
	for (n = 0; mock_unread(f); n++) {
		fuzz_assert(n < 4 * TIMERS, "it turns for ever");
		take_turn(i, 0, false, ~0U);
	}
}

static void set_clock(struct input *in, bool back)
{
	uint64_t by = input_distance(in, MOCK_TICK, REACH);

	/* By what it showed before. */
	mock_fire();
	mock.real += back ? -by : by;
	settings++;
}

static void check_remaining(struct model_timer *m)
{
	uint64_t now, left;

	if (!m->armed) {
		fuzz_assert(callout_remaining(m->timer) == CALLOUT_FOREVER,
			    "not armed");
		return;
	}
	now = mock_clock(m->clockid);
	left = callout_remaining(m->timer);
	if (m->waits) {
		fuzz_assert(left == m->time, "%llu, not %llu",
			    (unsigned long long)left,
			    (unsigned long long)m->time);
		return;
	}
	if (m->timer->_queued) {
		fuzz_assert(!left, "it has fired");
		return;
	}
	fuzz_assert(left <= (m->hi > now ? m->hi - now : 0), "too long");
	now += mock.jitter;
	fuzz_assert(left >= (m->lo > now ? m->lo - now : 0), "too short");
}

static void inject(struct input *in)
{
	static const int set_errors[] = { ENOMEM, ENOSPC, EDQUOT };
	unsigned int v = input_byte(in);

	faults = true;
	switch (v % 8) {
	case 0 ... 2:
		mock.fail_set = set_errors[v / 8 % 3];
		mock.fail_sets = 1 + v / 64;
		break;
	case 3:
		mock.short_at = 1 + v / 8 % 4;
		break;
	case 4:
		mock.fail_batch = v & 8 ? EBADF : ENOTTY;
		break;
	case 5:
		mock.interrupt = true;
		break;
	default:
		callout_dev_limit(callout_ctx_fd(context[v / 8 & 1]),
				  1 + v / 16);
	}
}

/* A file that cannot be a context's, and memory that is not there. */
static void create_fails(void)
{
	struct callout_ctx *ctx;
	callout_handle_t handle;
	unsigned int i;
	int fd;

	fuzz_assert(callout_ctx_create(&ctx, 0) == -EINVAL, "created");
	fuzz_assert(callout_ctx_create_fd(&ctx, CALLOUT_BATCH_MAX + 1, MOCK_FD)
		    == -EINVAL, "created");
	fuzz_assert(callout_ctx_create_fd(&ctx, 1, -1) == -EBADF, "created");
	for (i = 0; i < 2; i++) {
		mock.allocations = i;
		fuzz_assert(callout_ctx_create_timerfd(&ctx, 1) == -ENOMEM, "created");
		mock.allocations = 0;
		fuzz_assert(callout_ctx_create(&ctx, 1) == -ENOMEM, "created");
	}
	mock.allocations = ~0U;
	fd = callout_dev_open(0);
	fuzz_assert(!callout_dev_set(fd, MOCK_TICK, 1, &handle), "not set");
	fuzz_assert(callout_ctx_create_fd(&ctx, 1, fd) == -EBUSY, "created");
	fuzz_assert(callout_dev_cancel(fd, handle) == CALLOUT_STATE_PENDING, "not set");
	callout_ctx_destroy(NULL);
	for (i = 0; i < 32; i++)
		fuzz_assert(*callout_open_strerror(-(int)i), "no text");
	fuzz_assert(callout_timer_size() == sizeof(struct callout_timer), "size");
	/* Too many open files. */
	for (i = 1; callout_dev_open(0) >= 0; i++)
		fuzz_assert(i < MOCK_FILES, "opened");
	fuzz_assert(i == MOCK_FILES, "a file was left open");
	fuzz_assert(callout_ctx_create(&ctx, 1) == -EMFILE, "created");
	for (i = 0; i < MOCK_FILES; i++)
		mock.file[i].open = false;
}

static void one_op(struct input *in)
{
	unsigned int v = input_byte(in), i = v & 1;

	switch (v / 2 % 16) {
	case 0 ... 4:
		arm(in);
		break;
	case 5:
		disarm(&model[input_below(in, TIMERS)], v & 128);
		break;
	case 6:
	case 7:
		take_turn(i, 0, false, v & 128 ? 1 + input_below(in, 4) : ~0U);
		break;
	case 8:
		take_turn(i, v & 128 ? CALLOUT_FOREVER :
			  input_distance(in, MOCK_TICK, REACH - 1), false, ~0U);
		break;
	case 9:
		take_turn(i, 0, true, ~0U);
		break;
	case 10:
	case 11:
		mock.now += input_distance(in, MOCK_TICK, REACH);
		break;
	case 12:
		mock.jitter = v & 128 ? 0 : input_byte(in) * 8;
		mock.use_slack = v & 64;
		break;
	case 13:
		inject(in);
		break;
	case 14:
		check_remaining(&model[input_below(in, TIMERS)]);
		break;
	default:
		if (v & 128)
			set_clock(in, v & 64);
		else
			mock.asleep += input_distance(in, MOCK_TICK, REACH);
		if (v & 32)
			sleeps(i);
	}
}

static bool any_one_shot(void)
{
	unsigned int k;

	for (k = 0; k < TIMERS; k++)
		if (model[k].armed && !model[k].period)
			return true;
	return false;
}

static void disarm_all(bool (*which)(const struct model_timer *m))
{
	unsigned int k;

	for (k = 0; k < TIMERS; k++)
		if (model[k].armed && which(&model[k]))
			disarm(&model[k], false);
}

static bool never_comes(const struct model_timer *m)
{
	return m->period > TIME_LAST / 2 || m->hi > TIME_LAST / 2 ||
	       (m->waits && m->time > TIME_LAST / 2);
}

static bool is_periodic(const struct model_timer *m)
{
	return m->period;
}

/*
 * Each timer fires that is armed for a time that comes, whatever the periodic
 * ones do, which are due in each turn.
 */
static void settle(void)
{
	unsigned int i, rounds = 0;

	mock_no_faults();
	mock.jitter = 0;
	disarm_all(never_comes);
	while (any_one_shot() || rounds < 4) {
		fuzz_assert(rounds++ < 40 * TIMERS, "a timer is lost");
		for (i = 0; i < CONTEXTS; i++)
			take_turn(i, 0, false, ~0U);
		mock.now += REACH;
	}
	disarm_all(is_periodic);
	for (rounds = 0; rounds < 4; rounds++) {
		for (i = 0; i < CONTEXTS; i++)
			take_turn(i, 0, false, ~0U);
		mock.now += REACH;
	}
	for (i = 0; i < CONTEXTS; i++) {
		take_turn(i, 0, false, ~0U);
		take_turn(i, 0, false, ~0U);
		fuzz_assert(!turn_calls, "a call, and no timer is armed");
		/* The times of timers that were disarmed have passed, too. */
		if (far[i])
			continue;
		fuzz_assert(callout_ctx_next_due(context[i]) == CALLOUT_FOREVER,
			    "no timer is armed");
		fuzz_assert(!outstanding(i), "a callout is left");
	}
}

static void fuzz_contexts(struct input *in)
{
	unsigned int i, k, how;

	create_fails();
	faults = false;
	settings = 0;
	memset(far, 0, sizeof(far));
	memset(turns, 0, sizeof(turns));
	nr_armed = 0;
	for (i = 0; i < TIMERS; i++)
		new_timer(&model[i]);
	for (i = 0; i < CONTEXTS; i++) {
		how = input_byte(in);
		room[i] = 1 + how % 6;
		clocks_of[i] = 1U << CLOCK_MONOTONIC;
		turn_settings[i] = 0;
		if (how < 128) {
			fuzz_assert(!callout_ctx_create(&context[i], room[i]),
				    "not created");
			fuzz_assert(!on_timerfd(i), "on timerfds");
			continue;
		}
		fuzz_assert(!callout_ctx_create_timerfd(&context[i], room[i]),
			    "not created");
		fuzz_assert(on_timerfd(i) == 1, "not on timerfds");
	}
	for (i = 0; i < CONTEXTS; i++)
		for (k = 0; k < CLOCKS; k++)
			turn_end[i][k] = mock_clock(k);
	while (input_left(in))
		one_op(in);
	settle();
	for (i = 0; i < CONTEXTS; i++)
		callout_ctx_destroy(context[i]);
	for (i = 0; i < TIMERS; i++)
		free(model[i].timer);
	for (i = 0; i < MOCK_FILES; i++)
		fuzz_assert(!mock.file[i].open, "file %u is open", i);
	for (i = 0; i < MOCK_TIMERFDS; i++)
		fuzz_assert(!mock.timerfd[i].open, "timerfd %u is open", i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };

	mock_init();
	if (input_below(&in, 4))
		fuzz_contexts(&in);
	else
		fuzz_calls(&in);
	return 0;
}
