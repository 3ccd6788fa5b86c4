// SPDX-License-Identifier: GPL-2.0
/*
 * user.c - limits of users
 *
 * A user's files share a limit on outstanding callouts. A file is charged for
 * QUOTA_STEP callouts at a time, and uncharged when it has been closed and freed.
 * So setting a callout rarely writes memory that files share, and a program gains
 * nothing by opening many files.
 *
 * The creator of a user namespace can act as many users in it. So an account is for
 * one user in one namespace. The creator of the namespace is charged as well, and
 * so on up to the initial namespace, as with ucounts:
 *
 *	(initial, uid)
 *	(namespace, uid) -> (its parent, its owner) -> ... -> (initial, uid)
 *
 * A namespace that root created, such as a container, is for other users and
 * must not use up the limit of root's own files: its chain ends with an account
 * of the namespace itself.
 *
 * An account lives as long as files charge it, and each file is counted in all
 * accounts of its chain. So no account is freed before the accounts below it, and
 * the accounts that are freed with a file are the first accounts of its chain.
 *
 * One user can have as many accounts as user namespaces, and a chain has one
 * account for each level of namespaces: up to 34 accounts are searched for with
 * users_lock held. So the accounts are in a tree: each search takes time
 * logarithmic in their number.
 */
#include <linux/cred.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include "core/cpu.h"
#include "file.h"
#include "user.h"
#include "kcompat.h"

/* The number of callouts that a file is charged for at a time. */
#define QUOTA_STEP		64U

/* The number of users whose callouts are in each class of bases. */
static unsigned int class_users[CALLOUT_CLASSES];

/* The account of a user, or of a namespace that root created. */
struct callout_user {
	/* Constant once the account is in the tree. */
	struct callout_user *parent;	/* charged as well, or NULL */
	struct user_namespace *ns;	/* the user's; holds a reference */
	kuid_t uid;			/* INVALID_UID for a namespace */

	/* Protected by users_lock. */
	struct rb_node node;		/* in the tree of all accounts */
	unsigned int class;		/* class of bases; 0 with @parent or before user_class() */
	unsigned int files;		/* files that charge it, also through other accounts */
	unsigned int charged;		/* callouts that these files are charged for */
};

unsigned int callout_max_per_file = 1000000;
unsigned int callout_max_per_user = 4000000;

static struct rb_root users = RB_ROOT;
static DEFINE_SPINLOCK(users_lock);	/* protects users and charges */
static DEFINE_MUTEX(classes_lock);	/* serialises choices of classes */

/* Compare accounts; any total order will do. */
static int user_cmp(struct rb_node *a, const struct rb_node *b)
{
	const struct callout_user *x = rb_entry(a, struct callout_user, node);
	const struct callout_user *y = rb_entry(b, struct callout_user, node);

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return uid_eq(x->uid, y->uid) ? 0 : uid_lt(x->uid, y->uid) ? -1 : 1;
}

/* Step to the user that is charged as well. Return false if there is no such user. */
static bool user_above(struct user_namespace **ns, kuid_t *uid)
{
	if (*ns == &init_user_ns || !uid_valid(*uid))
		return false;
	*uid = (*ns)->owner;
	if (uid_eq(*uid, GLOBAL_ROOT_UID))
		*uid = INVALID_UID;
	else
		*ns = (*ns)->parent;
	return true;
}

/* Free accounts that are not in the tree. */
static void users_free(struct callout_user *user)
{
	struct callout_user *parent;

	for (; user; user = parent) {
		parent = user->parent;
		put_user_ns(user->ns);
		kfree(user);
	}
}

/* Allocate accounts for a user and for all users above it. */
static struct callout_user *users_alloc(struct user_namespace *ns, kuid_t uid)
{
	struct callout_user *first = NULL, **end = &first, *user;

	do {
		user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
		if (!user) {
			users_free(first);
			return NULL;
		}
		user->ns = get_user_ns(ns);
		user->uid = uid;
		*end = user;
		end = &user->parent;
	} while (user_above(&ns, &uid));
	return first;
}

/* Find or add the account of the current user, and count one more file. */
static struct callout_user *user_get(void)
{
	struct callout_user *first, **link, *user, *spare = NULL;
	struct rb_node *same;

	first = users_alloc(current_user_ns(), current_uid());
	if (!first)
		return NULL;
	spin_lock(&users_lock);
	/* If an account exists already, all accounts above it exist. */
	for (link = &first; *link; link = &(*link)->parent) {
		same = rb_find_add(&(*link)->node, &users, user_cmp);
		if (same) {
			spare = *link;
			*link = rb_entry(same, struct callout_user, node);
			break;
		}
	}
	for (user = first; user; user = user->parent)
		user->files++;
	spin_unlock(&users_lock);
	users_free(spare);
	return first;
}

/* Take a file, whose callouts are freed, off its user's account. */
void co_user_uncharge(struct callout_file *file)
{
	struct callout_user *first = file->user, **end = &first, *user;

	spin_lock(&users_lock);
	for (user = first; user; user = user->parent) {
		WRITE_ONCE(user->charged, user->charged - file->charged);
		if (--user->files)
			continue;
		if (user->class)
			class_users[user->class]--;
		rb_erase(&user->node, &users);
		end = &user->parent;
	}
	*end = NULL;
	spin_unlock(&users_lock);
	users_free(first);
}

/*
 * Raise the number of callouts that a file is allowed above @n, unless another
 * thread has done so. Return 0, -ENOSPC at the limit of the file, or -EDQUOT at the
 * limit of its user or of a user above.
 */
int co_file_allow(struct callout_file *file, unsigned int n)
{
	unsigned int max = READ_ONCE(callout_max_per_user), more;
	struct callout_user *user;
	int ret = 0;

	spin_lock(&users_lock);
	if (n < file->allowed)
		goto out;
	more = min(QUOTA_STEP, file->limit - min(file->allowed, file->limit));
	if (!more)
		ret = -ENOSPC;
	for (user = file->user; user; user = user->parent)
		more = min(more, max - min(user->charged, max));
	if (!more && !ret)
		ret = -EDQUOT;
	for (user = file->user; user; user = user->parent)
		WRITE_ONCE(user->charged, user->charged + more);
	file->charged += more;
	WRITE_ONCE(file->allowed, file->allowed + more);
out:
	spin_unlock(&users_lock);
	return ret;
}

/*
 * Lower a file's limit. Return -EINVAL if @limit is 0 or above the present limit.
 * The user stays charged, since the file keeps the memory.
 */
int co_file_lower_limit(struct callout_file *file, u64 limit)
{
	int ret = -EINVAL;

	spin_lock(&users_lock);
	if (limit && limit <= file->limit) {
		WRITE_ONCE(file->limit, limit);
		WRITE_ONCE(file->allowed, min(file->allowed, file->limit));
		ret = 0;
	}
	spin_unlock(&users_lock);
	return ret;
}

/* The number of callouts that the files of this file's user are charged for. */
unsigned int co_file_user_charged(struct callout_file *file)
{
	return READ_ONCE(file->user->charged);
}
EXPORT_SYMBOL_IF_KUNIT(co_file_user_charged);

/* The user that opened a file, in the initial user namespace. */
uid_t co_file_uid(const struct callout_file *file)
{
	return from_kuid_munged(&init_user_ns, file->user->uid);
}

/*
 * The class with the fewest users, except root's class. If it is in use, add another
 * class if possible. Return 0 if there is no class.
 */
static unsigned int class_find_or_add(void)
{
	unsigned int class, best, users;

	lockdep_assert_held(&classes_lock);
	do {
		best = 0;
		spin_lock(&users_lock);
		for (class = CALLOUT_CLASS_ROOT + 1; class < callout_nr_classes; class++)
			if (!best || class_users[class] < class_users[best])
				best = class;
		users = class_users[best];
		spin_unlock(&users_lock);
	} while ((!best || users) && co_class_add() >= 0);
	return best;
}

/*
 * Return the class for the callouts of a user. It is chosen once. It is the class
 * of the last account of the user's chain: many users in namespaces that one user
 * created count as one. Return 0 if there is no memory for a class.
 */
static unsigned int user_class(struct callout_user *user)
{
	unsigned int class;

	while (user->parent)
		user = user->parent;
	mutex_lock(&classes_lock);
	class = user->class;
	if (!class) {
		/* Root's class is root's alone; no class if there is no memory for it. */
		if (!uid_eq(user->uid, GLOBAL_ROOT_UID))
			class = class_find_or_add();
		else if (callout_nr_classes > CALLOUT_CLASS_ROOT || co_class_add() >= 0)
			class = CALLOUT_CLASS_ROOT;
		spin_lock(&users_lock);
		user->class = class;
		class_users[class] += class != 0;
		spin_unlock(&users_lock);
	}
	mutex_unlock(&classes_lock);
	return class;
}

/*
 * Add a file to its user's account, and choose the class of its callouts. Return 0
 * or -ENOMEM.
 */
int co_user_charge(struct callout_file *file)
{
	file->user = user_get();
	if (!file->user)
		return -ENOMEM;
	file->table.class = user_class(file->user);
	if (!file->table.class) {
		co_user_uncharge(file);
		return -ENOMEM;
	}
	return 0;
}
