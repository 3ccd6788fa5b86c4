// SPDX-License-Identifier: GPL-2.0
/*
 * lib_model.c - a model of timers: the arming of each, and whether it comes as it must
 */
#include "lib_model.h"

struct model_timer model[TIMERS];
bool model_far[CONTEXTS];
uint64_t model_last[CLOCKS];
uint64_t model_turn_end[CONTEXTS][CLOCKS];
unsigned int model_settings;

/*
 * Turns that have begun, the times before the last turn, by clock, and the
 * settings at that time.
 */
static unsigned int turns[CONTEXTS];
static uint64_t turn_begin[CONTEXTS][CLOCKS];
static unsigned int turn_settings[CONTEXTS];
static unsigned int nr_armed;

struct model_timer *model_of(const struct callout_timer *timer)
{
	unsigned int i;

	for (i = 0; i < TIMERS; i++)
		if (model[i].timer == timer)
			return &model[i];
	fuzz_assert(false, "a timer that was freed");
	return NULL;
}

void model_new(struct model_timer *m)
{
	memset(m, 0, sizeof(*m));
	m->timer = calloc(1, sizeof(*m->timer));
}

/* Reset the model: the contexts are new, and nothing is armed. */
void model_init(void)
{
	unsigned int i;
	clockid_t clockid;

	model_settings = 0;
	nr_armed = 0;
	memset(model_far, 0, sizeof(model_far));
	memset(model_last, 0, sizeof(model_last));
	memset(turns, 0, sizeof(turns));
	memset(turn_settings, 0, sizeof(turn_settings));
	for (i = 0; i < TIMERS; i++)
		model_new(&model[i]);
	for (i = 0; i < CONTEXTS; i++)
		for (clockid = 0; clockid < CLOCKS; clockid++)
			model_turn_end[i][clockid] = mock_clock(clockid);
}

uint64_t model_after(uint64_t now, uint64_t time)
{
	return time < TIME_LAST - now ? now + time : TIME_LAST;
}

static void model_due(struct model_timer *m, uint64_t lo, uint64_t hi)
{
	uint64_t last = model_after(hi, m->slack);

	m->waits = false;
	m->lo = lo;
	m->hi = hi;
	if (last > TIME_LAST / 2)
		model_far[m->ctx] = true;
	else if (last > model_last[m->clockid])
		model_last[m->clockid] = last;
}

/* The clock in which the timer's time counts. */
clockid_t model_clock(const struct callout_timer *timer, bool rel)
{
	if (rel && timer->clockid == CLOCK_REALTIME)
		return CLOCK_MONOTONIC;
	if (rel && timer->clockid == CLOCK_REALTIME_ALARM)
		return CLOCK_BOOTTIME_ALARM;
	return timer->clockid;
}

/* Was the clock of the timer set since it was armed, or the context's last turn? */
static bool was_set(const struct model_timer *m)
{
	return (m->clockid == CLOCK_REALTIME || m->clockid == CLOCK_REALTIME_ALARM) &&
	       (m->settings != model_settings || turn_settings[m->ctx] != model_settings);
}

/* Record the timer as armed: for a relative time if @rel. */
void model_arm(struct model_timer *m, unsigned int i, uint64_t time, bool rel)
{
	m->moved = m->armed;
	m->armed = true;
	m->ctx = i;
	m->clockid = model_clock(m->timer, rel);
	m->settings = model_settings;
	m->turn = turns[i];
	m->base = rel ? 0 : model_turn_end[i][m->clockid];
	m->seq = nr_armed++;
	m->rel = rel;
	m->period = m->timer->period;
	m->slack = m->timer->slack;
	m->time = time;
	m->waits = rel;
	if (!rel)
		model_due(m, time, time);
}

static uint64_t tick_from(uint64_t t)
{
	return t < TIME_LAST - MOCK_TICK ?
	       (t + MOCK_TICK - 1) / MOCK_TICK * MOCK_TICK : TIME_LAST;
}

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
	last = model_after(last, m->period);
	fuzz_assert(last > turn_begin[m->ctx][m->clockid], "%llu is not all",
		    e->overrun);
	model_due(m, last, last);
	fuzz_assert(callout_armed(m->timer), "not armed");
}

void model_fired(struct model_timer *m, const struct callout_event *e,
		 const struct turn *turn)
{
	uint64_t limit = model_after(m->hi, m->slack), ahead = ahead_of(m->clockid);

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
	limit = model_after(limit, mock.drift - turn->drift + MOCK_TICK);
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

/* Whether @k must come before @m, which comes in the turn that began last. */
static bool is_before(const struct model_timer *k, const struct model_timer *m)
{
	uint64_t hi = model_after(k->hi, k->slack);

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

void model_order(const struct model_timer *m)
{
	const struct model_timer *k;

	for (k = model; k < model + TIMERS; k++)
		fuzz_assert(k == m || !is_before(k, m),
			    "due at %llu, before one due at %llu",
			    (unsigned long long)m->lo, (unsigned long long)k->hi);
}

/* Start counting the times that were given since the last turn. */
void model_turn(unsigned int i, const struct turn *turn)
{
	uint64_t drift = mock.drift - turn->drift, ahead;
	struct model_timer *m;

	clockid_t clockid;

	turns[i]++;
	turn_settings[i] = model_settings;
	for (clockid = 0; clockid < CLOCKS; clockid++) {
		turn_begin[i][clockid] = turn->start + ahead_of(clockid);
		model_turn_end[i][clockid] = mock_clock(clockid);
	}
	for (m = model; m < model + TIMERS; m++) {
		if (!m->armed || m->ctx != i || !m->waits)
			continue;
		ahead = ahead_of(m->clockid);
		model_due(m, model_after(turn->start + ahead, m->time),
			  model_after(turn->start + drift + ahead, m->time));
	}
}

/* If timers of the last turn are left, a turn does nothing. */
bool model_any_left(unsigned int i)
{
	struct model_timer *m;

	for (m = model; m < model + TIMERS; m++)
		if (m->armed && m->ctx == i && !m->waits &&
		    m->timer->_queued)
			return true;
	return false;
}

/* Whether a timer that was due @ago was not handed out yet. */
bool model_any_due(unsigned int i, uint64_t ago)
{
	struct model_timer *m;

	for (m = model; m < model + TIMERS; m++)
		if (m->armed && m->ctx == i && !m->waits &&
		    model_after(m->hi, m->slack) <= mock_clock(m->clockid) - ago)
			return true;
	return false;
}
