// SPDX-License-Identifier: GPL-2.0
/*
 * lib_fuzz.c - a fuzzer of libcallout against a mock of the device and of timerfds
 *
 * There are two contexts and a few timers, whose memory is freed as soon as
 * they are disarmed. A model records the arming of each timer. These properties
 * hold:
 *
 *  - a timer that fires is armed, fires once for each expiry, neither early nor,
 *    in a wait, later than its slack and a tick, and its event has its times;
 *  - no timer comes, or is accessed, after it was disarmed;
 *  - a timer does not come before another timer of its clock in the same turns that
 *    was armed for an earlier time, or earlier for the same time;
 *  - arming fails only for a bad argument, and a turn only if an error was
 *    injected; then nothing is lost, and after a wait no timer is due;
 *  - a turn hands out no more timers than it may and, without a wait, reads each
 *    clock once and makes one system call, or one for each timerfd;
 *  - callout_ctx_next_due() is not after the first timer that is due, is 0 only
 *    if timers wait to be handed out, and a turn before that time makes no
 *    system call if the kernel's callout has not come and need not be moved;
 *  - callout_ctx_more() is false only if no timer is due;
 *  - the kernel has at most one callout for each clock, and wakes the loop when a
 *    timer is due unless callout_ctx_pending(); if the callout of one clock cannot
 *    be made, it does so for the other clock's timers; a readable descriptor stays
 *    readable as long as timers are due, and is not readable after some turns
 *    without due timers, also when a clock was set back;
 *  - at the end every timer has fired, also while periodic timers are due in
 *    each turn, and the kernel has no callout.
 */
#include <errno.h>
#include "lib_fuzz.h"
#include "lib_model.h"

#define REACH		(1ULL << 40)

static struct callout_ctx *context[CONTEXTS];
/* Bit N: a timer of clock N was armed. */
static unsigned int clocks_of[CONTEXTS];
/* Maximum number of timers that a turn hands out. */
static unsigned int room[CONTEXTS];
static bool faults;
/* System calls of the last turn. */
static unsigned int turn_calls;

static bool on_timerfd(unsigned int i)
{
	return callout_ctx_on_timerfd(context[i]);
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
		/* Choose a time that is just past, or long past. */
		now = mock_clock(timer->clockid);
		time = model_after(how & 4 ? now - MOCK_TICK : now / 2, time);
	}
	valid = time <= TIME_LAST;
	if (how == 239) {
		timer->clockid = CLOCK_PROCESS_CPUTIME_ID;
		valid = false;
	}
	ret = rel ? callout_arm(context[i], timer, time) :
		    callout_arm_at(context[i], timer, time);
	first = valid && !(clocks_of[i] & 1U << model_clock(timer, rel));
	/* A clock that is not in use yet may not be possible. */
	if (first && ret && faults)
		valid = false;
	else
		fuzz_assert(ret == (valid ? 0 : -EINVAL), "%d", ret);
	fuzz_assert(mock.calls == calls ||
		    (first && !on_timerfd(i) && mock.calls == calls + 1),
		    "a call");
	if (valid) {
		if (first)
			model_turn_end[i][model_clock(timer, rel)] =
				mock_clock(model_clock(timer, rel));
		clocks_of[i] |= 1U << model_clock(timer, rel);
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
		model_new(m);
		return;
	}
	m->armed = false;
	m->waits = false;
}

/* Hand out one timer. Return false if there is none. */
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
	model_order(m);
	model_fired(m, &e, turn);
	return true;
}

/* Relative times count from here, if no timers are left. */
static uint64_t next_due(unsigned int i)
{
	struct turn turn = { mock.now, mock.drift };
	unsigned int calls = mock.calls;
	bool begins = !model_any_left(i);
	uint64_t due = callout_ctx_next_due(context[i]);

	fuzz_assert(mock.calls == calls, "a call");
	if (begins)
		model_turn(i, &turn);
	return due;
}

/* No timer is due before callout_ctx_next_due(). */
static void check_next_due(unsigned int i)
{
	bool left = model_any_left(i);
	uint64_t due = next_due(i);
	struct model_timer *m;

	fuzz_assert(left == !due, "%llu", (unsigned long long)due);
	if (left)
		return;
	for (m = model; m < model + TIMERS; m++)
		fuzz_assert(!m->armed || m->ctx != i ||
			    m->clockid != CLOCK_MONOTONIC ||
			    due <= model_after(m->hi, m->slack), "%llu, but a timer is due at %llu",
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

/* No callout of the kernel has come, or comes in the time that a turn takes. */
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
 * The descriptor is or will be readable when a timer is due. After @error this
 * holds only for clocks that have a callout in the kernel.
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
		fuzz_assert(due <= model_after(m->hi, m->slack) ||
			    due <= mock_clock(m->clockid), "at %llu, due at %llu",
			    (unsigned long long)due, (unsigned long long)m->hi);
	}
}

/* Whether an operation, rather than the call, has failed. */
static bool op_failed(int ret)
{
	return ret == -ENOMEM || ret == -ENOSPC || ret == -EDQUOT;
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
	bool begins = !model_any_left(i), all_tried = !mock.short_at && !mock.fail_batch;
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
		fuzz_assert(!model_any_due(i, 2 * mock.jitter), "not looked for");
	if (stays && n < most && model_any_due(i, mock.now - turn.start))
		fuzz_assert(mock_unread(f), "not readable any more");
	if (begins && !callout_ctx_more(ctx))
		fuzz_assert(!model_any_due(i, mock.now - turn.start), "more are due");
	fuzz_assert(outstanding(i) <= nr_clocks(i), "too many callouts");
}

/* A loop without timers to hand out sleeps after some turns. */
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

	/* Use the time that the clock showed before. */
	mock_fire();
	mock.real += back ? -by : by;
	model_settings++;
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

/* A file that no context can use, and lack of memory. */
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
	mock.fail_set = EDQUOT;
	mock.fail_sets = 1;
	fuzz_assert(!callout_ctx_create(&ctx, 1), "not created");
	fuzz_assert(callout_ctx_on_timerfd(ctx) == -EDQUOT, "on the device");
	callout_ctx_destroy(ctx);
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
 * Whether a time for which a timer was armed is in the future: the callout of a disarmed
 * timer waits for it, however far its clock was set back.
 */
static bool any_to_come(void)
{
	clockid_t clockid;

	for (clockid = 0; clockid < CLOCKS; clockid++)
		if (model_last[clockid] > mock_clock(clockid))
			return true;
	return false;
}

/*
 * Each timer that is armed for a time that comes fires, even if periodic timers
 * are due in each turn.
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
	for (rounds = 0; rounds < 4 || any_to_come(); rounds++) {
		for (i = 0; i < CONTEXTS; i++)
			take_turn(i, 0, false, ~0U);
		mock.now += REACH;
	}
	for (i = 0; i < CONTEXTS; i++) {
		take_turn(i, 0, false, ~0U);
		take_turn(i, 0, false, ~0U);
		fuzz_assert(!turn_calls, "a call, and no timer is armed");
		/* The times of disarmed timers have passed, too. */
		if (model_far[i])
			continue;
		fuzz_assert(callout_ctx_next_due(context[i]) == CALLOUT_FOREVER,
			    "no timer is armed");
		fuzz_assert(!outstanding(i), "a callout is left");
	}
}

static void fuzz_contexts(struct input *in)
{
	unsigned int i, how;

	create_fails();
	faults = false;
	model_init();
	for (i = 0; i < CONTEXTS; i++) {
		how = input_byte(in);
		room[i] = 1 + how % 6;
		clocks_of[i] = 1U << CLOCK_MONOTONIC;
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
