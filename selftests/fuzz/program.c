// SPDX-License-Identifier: GPL-2.0
/*
 * program.c - programs: generation at random, changes, and their text form
 *
 * A generated program depends on the seed alone. Unrelated calls find little,
 * so a program has a theme: a table with the frequency of each kind.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const char * const kind_names[] = {
#define FUZZ_NAME(name)	#name,
	FUZZ_KINDS(FUZZ_NAME)
};

static const char * const time_names[] = { FUZZ_TIMES(FUZZ_NAME) };
static const char * const place_names[] = { FUZZ_PLACES(FUZZ_NAME) };

const char *kind_name(unsigned int kind)
{
	return kind_names[kind];
}

/**
 * struct theme - the frequencies in a program
 * @weight: the weight of each kind
 * @readonly: one call in this many has a result that cannot be written
 * @odd: one call in this many has a bad address, another size, or the like
 * @soon: one callout in this many fires soon
 * @periodic: one operation in this many has a period
 * @unread: the program begins with an unread event
 */
struct theme {
	__u8 weight[K_KINDS];
	unsigned int readonly;
	unsigned int odd;
	unsigned int soon;
	unsigned int periodic;
	bool unread;
};

static const struct theme themes[] = {
	/* Keys that move: programs that the model can judge */
	{ .weight = {
		[K_KSET] = 8, [K_KCANCEL] = 4, [K_KMOVE] = 6, [K_KOLD] = 2,
		[K_KNEW] = 4, [K_KONE] = 4, [K_BATCH] = 1, [K_READ] = 1,
	  }, .odd = 0, .soon = 6 },
	/* Handles, and (func, arg) */
	{ .weight = {
		[K_SET] = 6, [K_CANCEL] = 4, [K_MOVE] = 5, [K_OLD] = 3,
		[K_TIMEOUT] = 6, [K_UNTIMEOUT] = 5, [K_ONE] = 3, [K_READ] = 4,
		[K_BATCH] = 2, [K_LIST] = 1, [K_INFO] = 1, [K_SLEEP] = 1,
	  }, .odd = 0, .soon = 2 },
	/* Keys, and results that cannot be written */
	{ .weight = {
		[K_SET] = 1, [K_CANCEL] = 1, [K_KSET] = 8, [K_KCANCEL] = 4,
		[K_KMOVE] = 2, [K_KOLD] = 2, [K_KNEW] = 3, [K_KONE] = 3,
		[K_BATCH] = 6, [K_READ] = 1,
	  }, .readonly = 3, .soon = 8 },
	/* Readers, some of which fault, and threads that wait for events */
	{ .weight = {
		[K_SET] = 6, [K_KSET] = 2, [K_READ] = 10, [K_POLL] = 6,
		[K_EPOLL] = 3, [K_SLEEP] = 2, [K_BATCH] = 2, [K_CANCEL] = 2,
		[K_PAGE] = 1, [K_FIONREAD] = 1, [K_SIGNAL] = 1,
	  }, .odd = 2, .soon = 1, .unread = true },
	/* Periodic callouts that are cancelled, or set again, while they are read */
	{ .weight = {
		[K_SET] = 6, [K_KSET] = 6, [K_CANCEL] = 5, [K_KCANCEL] = 4,
		[K_MOVE] = 3, [K_OLD] = 3, [K_KMOVE] = 3, [K_KOLD] = 3,
		[K_KNEW] = 1, [K_READ] = 14, [K_BATCH] = 1, [K_MATCH] = 1,
		[K_KONE] = 1, [K_ONE] = 1,
	  }, .odd = 0, .soon = 1, .periodic = 2 },
	/*
	 * Commands of io_uring, and the ioctls of the same names: programs that
	 * the model can judge
	 */
	{ .weight = {
		[K_COMMAND] = 12, [K_SET] = 1, [K_CANCEL] = 3, [K_MOVE] = 3, [K_OLD] = 4,
		[K_KSET] = 4, [K_KCANCEL] = 2, [K_KMOVE] = 2, [K_KOLD] = 2, [K_KNEW] = 1,
		[K_ONE] = 3, [K_KONE] = 2, [K_RING_REAP] = 1, [K_MATCH] = 1,
		[K_UNTIMEOUT] = 1, [K_READ] = 1, [K_SLEEP] = 1, [K_BATCH] = 1,
	  }, .odd = 0, .soon = 4 },
	/* Everything else that can happen to commands, and to their ring */
	{ .weight = {
		[K_COMMAND] = 14, [K_KSET] = 3, [K_KCANCEL] = 4, [K_KMOVE] = 2,
		[K_KOLD] = 1, [K_KNEW] = 1, [K_KONE] = 1, [K_RING_REAP] = 4,
		[K_RING_CLOSE] = 1, [K_RING_READ] = 2, [K_RING_POLL] = 2,
		[K_MATCH] = 2, [K_SLEEP] = 2, [K_SET] = 1, [K_LIST] = 1,
		[K_CLOSE] = 1, [K_BATCH] = 2, [K_CANCEL] = 2, [K_MOVE] = 1, [K_ONE] = 1,
	  }, .odd = 12, .soon = 2 },
	/* All kinds of calls */
	{ .weight = {
		[K_SET] = 8, [K_CANCEL] = 4, [K_MOVE] = 4, [K_OLD] = 2,
		[K_TIMEOUT] = 4, [K_UNTIMEOUT] = 3, [K_KSET] = 5,
		[K_KCANCEL] = 3, [K_KMOVE] = 2, [K_KOLD] = 2, [K_KNEW] = 2,
		[K_BATCH] = 6, [K_INFO] = 2, [K_LIMIT] = 2, [K_ONE] = 2,
		[K_KONE] = 2, [K_LIST] = 3, [K_MATCH] = 3, [K_FIONREAD] = 1,
		[K_NUMBER] = 2, [K_FILL] = 2, [K_READ] = 6, [K_POLL] = 2,
		[K_EPOLL] = 2, [K_FDINFO] = 1, [K_OPEN] = 3, [K_CLOSE] = 2,
		[K_DUP] = 2, [K_PASS] = 1, [K_OTHER] = 1, [K_COMMAND] = 3,
		[K_RING_READ] = 1, [K_RING_POLL] = 1, [K_RING_REAP] = 2,
		[K_RING_CLOSE] = 1, [K_PAGE] = 3, [K_SLEEP] = 3, [K_FORK] = 1,
		[K_SIGNAL] = 2, [K_SETTIME] = 1, [K_PARAMETER] = 1,
		[K_DEBUGFS] = 1,
	  }, .odd = 3, .soon = 2 },
};

/* Do several threads make calls at once? */
bool program_is_concurrent(const struct program *p)
{
	unsigned int i, thread = 0;

	for (i = 0; i < p->n; i++) {
		if (thread && p->call[i].thread && p->call[i].thread != thread)
			return true;
		if (p->call[i].thread)
			thread = p->call[i].thread;
	}
	return false;
}

bool program_has(const struct program *p, unsigned int kind)
{
	unsigned int i;

	for (i = 0; i < p->n; i++)
		if (p->call[i].kind == kind)
			return true;
	return false;
}

/* Do the numbers still mean the same files as at the start? */
bool program_keeps_files(const struct program *p)
{
	return !program_has(p, K_OPEN) && !program_has(p, K_CLOSE) &&
	       !program_has(p, K_DUP) && !program_has(p, K_PASS);
}

static unsigned int draw_kind(const struct theme *theme, __u64 *seed)
{
	unsigned int sum = 0, at, i;

	for (i = 0; i < K_KINDS; i++)
		sum += theme->weight[i];
	at = below(seed, sum);
	for (i = 0; at >= theme->weight[i]; i++)
		at -= theme->weight[i];
	return i;
}

/* Make a call odd. */
static void make_odd(struct call *c, __u64 *seed)
{
	if (c->kind == K_READ) {
		c->array = 1 + below(seed, P_PLACES - 1);
		return;
	}
	switch (below(seed, 6)) {
	case 0:
	case 1:
		c->place = below(seed, P_PLACES);
		break;
	case 2:
	case 3:
		c->array = below(seed, P_PLACES);
		break;
	case 4:
		c->flags = draw(seed);
		break;
	default:
		c->poke = 1 + below(seed, 16);
		c->value = below(seed, 16);
		break;
	}
}

static unsigned int draw_when(const struct theme *theme, __u64 *seed)
{
	if (chance(seed, theme->soon))
		return chance(seed, 4) ? T_tick + below(seed, 4) : T_now;
	return theme->odd && chance(seed, 50) ? T_bad :
						below(seed, T_LAST_FAR + 1);
}

/* A random call, preferably a call that makes a callout with a handle. */
static unsigned int draw_target(const struct program *p, __u64 *seed)
{
	unsigned int target = below(seed, p->n), kind = p->call[target].kind;

	return kind == K_SET || kind == K_TIMEOUT ? target : below(seed, p->n);
}

static struct call draw_call(const struct program *p, const struct theme *theme,
			     unsigned int threads, __u64 *seed)
{
	struct call c = {
		.kind = draw_kind(theme, seed),
		.thread = threads ? 1 + below(seed, threads) : 0,
		.file = chance(seed, 3) ? below(seed, FILES) : 0,
		.key = chance(seed, 2) ? below(seed, KEYS) : 0,
		.target = NO_TARGET,
		.when = draw_when(theme, seed),
		.n = chance(seed, 8) ? below(seed, 256) : 1 + below(seed, 8),
	};

	if (p->n && !chance(seed, 16))
		c.target = draw_target(p, seed);
	if (c.kind == K_BATCH) {
		c.flags = draw(seed) & (B_WAIT | B_EVENTS | B_ABSTIME | B_MASK);
		if (chance(seed, 2))
			c.flags = 0;
	}
	if (c.kind == K_COMMAND) {
		/* Choose rarely a ring in which the kernel submits, or a batch. */
		c.value = chance(seed, theme->odd ? 8 : 40) ? 3 : below(seed, 3);
		if (!theme->odd)
			c.n = 1;
	}
	if (theme->readonly && chance(seed, theme->readonly)) {
		if (c.kind == K_BATCH)
			c.array = P_readonly;
		else if (kind_is_op(c.kind))
			c.place = chance(seed, 2) ? P_readonly : P_null;
	}
	if (theme->periodic && kind_is_op(c.kind) &&
	    chance(seed, theme->periodic)) {
		c.flags = F_PERIOD;
		c.value = below(seed, 2);
	}
	if (theme->odd) {
		if (chance(seed, 4) && kind_is_op(c.kind))
			c.flags = chance(seed, 3) ? F_PERIOD :
						    1U << below(seed, 8);
		if (chance(seed, 4))
			c.flags |= F_SIZED | F_COMPAT;
		if (chance(seed, theme->odd))
			make_odd(&c, seed);
	}
	return c;
}

/* Let an operation follow a COMMAND of its thread. */
static void follow_command(const struct call *command, struct call *c, __u64 *seed)
{
	static const __u8 kinds[] = {
		K_SET, K_SET, K_SET, K_CANCEL, K_MOVE, K_OLD, K_KNEW, K_KNEW, K_KCANCEL,
		K_KMOVE, K_KOLD,
	};

	if (command->kind != K_COMMAND)
		return;
	c->thread = command->thread;
	if (!kind_is_op(c->kind) || !chance(seed, 4))
		c->kind = kinds[below(seed, ARRAY_SIZE(kinds))];
}

/* Make a program. */
void program_random(struct program *p, __u64 *seed)
{
	const struct theme *theme = &themes[below(seed, ARRAY_SIZE(themes))];
	unsigned int threads = below(seed, THREADS), first, n, i;

	memset(p, 0, sizeof(*p));
	if (theme->unread && chance(seed, 2)) {
		p->call[p->n++] = (struct call){ .kind = K_SET, .when = T_now,
						 .target = NO_TARGET };
		p->call[p->n++] = (struct call){ .kind = K_SLEEP, .n = 50,
						 .target = NO_TARGET };
	}
	first = p->n + (threads ? below(seed, 4) : 0);
	n = first + 3 + below(seed, CALLS_MAX / 2);
	for (i = p->n; i < n; i++, p->n++) {
		p->call[i] = draw_call(p, theme, i < first ? 0 : threads, seed);
		if (i)
			follow_command(&p->call[i - 1], &p->call[i], seed);
	}
}

static void remove_call(struct program *p, unsigned int at)
{
	unsigned int i;

	memmove(&p->call[at], &p->call[at + 1],
		(p->n - at - 1) * sizeof(p->call[0]));
	p->n--;
	for (i = 0; i < p->n; i++)
		if (p->call[i].target != NO_TARGET && p->call[i].target >= at)
			p->call[i].target = p->call[i].target > at ?
					    p->call[i].target - 1 : NO_TARGET;
}

static void insert_call(struct program *p, unsigned int at, struct call c)
{
	unsigned int i;

	if (p->n == CALLS_MAX)
		return;
	memmove(&p->call[at + 1], &p->call[at],
		(p->n - at) * sizeof(p->call[0]));
	p->call[at] = c;
	p->n++;
	for (i = 0; i < p->n; i++)
		if (i != at && p->call[i].target != NO_TARGET &&
		    p->call[i].target >= at)
			p->call[i].target++;
}

/* Replace the end of @p by the end of another program. */
static void splice(struct program *p, const struct program *other, __u64 *seed)
{
	unsigned int at = below(seed, p->n), from = below(seed, other->n);

	while (p->n > at)
		remove_call(p, p->n - 1);
	for (; from < other->n && p->n < CALLS_MAX; from++)
		p->call[p->n++] = other->call[from];
}

/* Change a program a little, or mix it with another program. */
void program_mutate(struct program *p, const struct program *other, __u64 *seed)
{
	const struct theme *theme = &themes[below(seed, ARRAY_SIZE(themes))];
	unsigned int rounds = 1 + below(seed, 4), i;
	struct call *c;

	while (rounds--) {
		c = &p->call[below(seed, p->n)];
		switch (below(seed, 8)) {
		case 0:
			if (p->n > 2)
				remove_call(p, c - p->call);
			break;
		case 1:
		case 2:
			insert_call(p, below(seed, p->n + 1),
				    draw_call(p, theme, THREADS - 1, seed));
			break;
		case 3:
			splice(p, other, seed);
			break;
		case 4:
			c->thread = below(seed, THREADS);
			break;
		case 5:
			make_odd(c, seed);
			break;
		case 6:
			c->when = draw_when(theme, seed);
			c->file = below(seed, FILES);
			break;
		default:
			c->key = below(seed, KEYS);
			c->n = draw(seed);
			break;
		}
	}
	/* Put the calls of thread 0 first, without gaps. */
	for (i = 1; i < p->n; i++)
		if (!p->call[i].thread && p->call[i - 1].thread)
			p->call[i].thread = 1;
	for (i = 0; i < p->n; i++)
		if (p->call[i].target >= p->n)
			p->call[i].target = NO_TARGET;
}

/* Text: a line for each call, "THREAD KIND name=value..."; a dot ends it. */

static const char blanks[] = { ' ', '\n', 0 };

struct member {
	const char *name;
	size_t offset;
	const char * const *values;
	unsigned int n;
	__u8 usual;
};

#define MEMBER(member, values, n, usual) \
	{ #member, offsetof(struct call, member), values, n, usual }

static const struct member members[] = {
	MEMBER(file, NULL, FILES, 0),
	MEMBER(key, NULL, KEYS, 0),
	MEMBER(target, NULL, 256, NO_TARGET),
	MEMBER(when, time_names, T_TIMES, 0),
	MEMBER(place, place_names, P_PLACES, 0),
	MEMBER(array, place_names, P_PLACES, 0),
	MEMBER(flags, NULL, 256, 0),
	MEMBER(n, NULL, 256, 1),
	MEMBER(poke, NULL, 256, 0),
	MEMBER(value, NULL, 256, 0),
};

static __u8 *member_of(struct call *c, const struct member *m)
{
	return (__u8 *)c + m->offset;
}

size_t program_print(const struct program *p, char *text, size_t size)
{
	const struct member *m;
	size_t at = 0;
	unsigned int i;
	struct call c;
	__u8 value;

	for (i = 0; i < p->n; i++) {
		c = p->call[i];
		at += snprintf(text + at, size - at, "%u %s", c.thread,
			       kind_names[c.kind]);
		for (m = members; m < members + ARRAY_SIZE(members); m++) {
			value = *member_of(&c, m);
			if (value == m->usual)
				continue;
			if (m->values)
				at += snprintf(text + at, size - at, " %s=%s",
					       m->name, m->values[value]);
			else
				at += snprintf(text + at, size - at, " %s=%u",
					       m->name, value);
		}
		at += snprintf(text + at, size - at, "\n");
	}
	return at + snprintf(text + at, size - at, ".\n");
}

static int find_name(const char * const *names, unsigned int n,
		     const char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static bool parse_member(struct call *c, char *word)
{
	char *value = strchr(word, '=');
	const struct member *m;
	int number;

	if (!value)
		return false;
	*value++ = 0;
	for (m = members; m < members + ARRAY_SIZE(members); m++) {
		if (strcmp(m->name, word))
			continue;
		number = m->values ? find_name(m->values, m->n, value) :
				     atoi(value);
		if (number < 0 || number >= (int)m->n)
			return false;
		*member_of(c, m) = number;
		return true;
	}
	return false;
}

static bool parse_call(struct call *c, char *line)
{
	char *word = strtok(line, blanks);
	const struct member *m;
	int kind;

	memset(c, 0, sizeof(*c));
	for (m = members; m < members + ARRAY_SIZE(members); m++)
		*member_of(c, m) = m->usual;
	c->thread = atoi(word) % THREADS;
	word = strtok(NULL, blanks);
	kind = word ? find_name(kind_names, K_KINDS, word) : -1;
	if (kind < 0)
		return false;
	c->kind = kind;
	while ((word = strtok(NULL, blanks)))
		if (!parse_member(c, word))
			return false;
	return true;
}

/* Read the next program. Return false at the end. Exit if a line is wrong. */
bool program_parse(struct program *p, FILE *f)
{
	char line[256], *copy;

	p->n = 0;
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (line[0] == '.') {
			if (p->n)
				return true;
			continue;
		}
		copy = strdup(line);
		if (p->n == CALLS_MAX || !parse_call(&p->call[p->n], line)) {
			fprintf(stderr, "fuzz: not a call: %s", copy);
			exit(2);
		}
		free(copy);
		p->n++;
	}
	return p->n;
}
