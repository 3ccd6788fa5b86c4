// SPDX-License-Identifier: GPL-2.0
/*
 * fits.c - can the model predict the results of a program's calls?
 *
 * It cannot if the kernel got an operation that differs from the call's, if a result
 * may be lost, or if the time of an effect is unknown.
 */
#include "fuzz.h"

static bool op_fits(const struct call *c)
{
	return !c->poke && c->place != P_stall &&
	       !(c->flags & (F_PERIOD | F_REAL | F_ALARM | F_ON_SET));
}

/* Operations of a batch in readonly memory are done, but not reported. */
static bool batch_fits(const struct program *p, unsigned int i)
{
	const struct call *c = &p->call[i];
	unsigned int j;

	if (c->poke || c->place != P_good ||
	    (c->array != P_good &&
	     (c->array != P_readonly ||
	      c->flags & (B_EVENTS | B_WAIT | B_STOP))))
		return false;
	for (j = i + 1; c->array == P_readonly && j < p->n; j++)
		if (p->call[j].thread == c->thread &&
		    (p->call[j].kind == K_TIMEOUT ||
		     (p->call[j].kind == K_SET &&
		      !time_is_far(p->call[j].when))))
			return false;
	return true;
}

/* Does the kernel submit commands on its own, in a ring that a call of the program may open? */
static bool ring_is_polled(const struct program *p)
{
	unsigned int i;

	for (i = 0; i < p->n; i++)
		if (p->call[i].kind >= K_COMMAND && p->call[i].kind <= K_RING_REAP &&
		    p->call[i].value % 4 == 3)
			return true;
	return false;
}

/* The time when a command takes effect is known if its thread submits the command. */
static bool command_fits(const struct program *p, const struct call *c)
{
	return !c->poke && c->place != P_stall && !command_is_batch(c) &&
	       !(c->flags & F_SIZED) && !ring_is_polled(p);
}

/* MATCH compares cookies, unless it takes all callouts. */
static bool match_fits(const struct program *p, const struct call *c)
{
	unsigned int i;

	for (i = 0; i < p->n && c->n & 1; i++)
		if (kind_replaces(p->call[i].kind) && p->call[i].n % 4 == 0)
			return false;
	return !c->poke && c->place == P_good &&
	       (!c->thread || !program_is_concurrent(p));
}

/* Can the model judge a program? */
bool model_fits(const struct program *p)
{
	const struct call *c;
	unsigned int i;

	for (i = 0; i < p->n; i++) {
		c = &p->call[i];
		switch (c->kind) {
		case K_SET ... K_LAST_OP:
			if (!op_fits(c))
				return false;
			break;
		case K_BATCH:
			if (!batch_fits(p, i))
				return false;
			break;
		case K_ONE:
		case K_KONE:
			if (c->poke)
				return false;
			break;
		case K_READ:
			if (c->array != P_good)
				return false;
			break;
		case K_MATCH:
			if (!match_fits(p, c))
				return false;
			break;
		case K_COMMAND:
			if (!command_fits(p, c))
				return false;
			break;
		case K_INFO: case K_LIST: case K_FIONREAD: case K_POLL:
		case K_EPOLL: case K_FDINFO: case K_SLEEP: case K_SIGNAL:
		case K_PARAMETER: case K_DEBUGFS: case K_LIMIT:
			if (c->poke)
				return false;
			break;
		case K_PAGE: case K_RING_POLL: case K_RING_REAP:
			break;
		default:
			return false;
		}
		if ((c->place == P_changing || c->array == P_changing) &&
		    program_has(p, K_PAGE))
			return false;
	}
	return true;
}
