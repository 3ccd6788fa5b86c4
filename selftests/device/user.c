// SPDX-License-Identifier: GPL-2.0
/*
 * user.c - permission to open the device, the limits of files and users,
 * and fdinfo
 */
#include <dirent.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/fixture.h"

#define SOMEBODY	12345
#define SOMEBODY_ELSE	12346

#define USER_LIMIT	100U

TEST_F(file, limit_is_lowered)
{
	__u64 first = info_of(self->fd).max_outstanding, limit;
	unsigned int i;

	EXPECT_EQ(-EINVAL, set_limit(self->fd, 0));
	EXPECT_EQ(-EINVAL, set_limit(self->fd, first + 1));
	EXPECT_EQ(-EINVAL, set_limit(self->fd, first + (1ULL << 32)));
	EXPECT_EQ(-EINVAL, set_limit(self->fd, ~0ULL));
	EXPECT_EQ(first, info_of(self->fd).max_outstanding);
	EXPECT_EQ(0, set_limit(self->fd, first));
	for (limit = 10; limit; limit /= 2) {
		EXPECT_EQ(0, set_limit(self->fd, limit));
		EXPECT_EQ(limit, info_of(self->fd).max_outstanding);
		EXPECT_EQ(-EINVAL, set_limit(self->fd, limit + 1));
		EXPECT_EQ(-EINVAL, set_limit(self->fd, first));
		EXPECT_EQ(-EINVAL, set_limit(self->fd, 0));
		EXPECT_EQ(limit, info_of(self->fd).max_outstanding);
	}
	for (i = 0; i < 3; i++)
		EXPECT_EQ(!i, set(self->fd, HOUR, i) != 0);
}

/* Callouts above a lowered limit stay, but there is no room for more. */
TEST_F(file, limit_is_lowered_below_outstanding)
{
	__u64 handles[4], handle;
	unsigned int i;

	for (i = 0; i < 4; i++)
		handles[i] = set(self->fd, HOUR, i);
	ASSERT_EQ(0, set_limit(self->fd, 2));
	EXPECT_EQ(4, info_of(self->fd).outstanding);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-ENOSPC, dev_set(self->fd, 0, HOUR, 9,
					   &handle));
		/* Moving a callout needs no room. */
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  move(self->fd, handles[i], 2 * HOUR));
		EXPECT_EQ(CALLOUT_STATE_PENDING,
			  dev_cancel(self->fd, handles[i]));
	}
	EXPECT_EQ(0, dev_set(self->fd, 0, HOUR, 9, &handle));
	EXPECT_EQ(-ENOSPC, dev_set(self->fd, 0, HOUR, 9, &handle));
}

static bool become(uid_t uid)
{
	return !setgroups(0, NULL) && !setgid(uid) && !setuid(uid);
}

/* Run @function as another user. Return its status. */
static int as(uid_t uid, int (*function)(void))
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(become(uid) ? function() : 99);
	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

static int open_only(void)
{
	int fd = dev_open(0);

	return fd < 0 ? -fd : 0;
}

TEST(only_the_owner_may_open)
{
	struct stat st;

	ASSERT_EQ(0, stat(CALLOUT_DEVICE, &st));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_EQ(0, st.st_uid);
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(EACCES, as(SOMEBODY, open_only));
	EXPECT_EQ(0, as(0, open_only));
}

/* The tests of a user's limit let everybody open the device. */
FIXTURE(user) {
	int root;
	unsigned int saved;
};

FIXTURE_SETUP(user)
{
	self->root = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->root);
	ASSERT_TRUE(read_number(PARAMETER_USER, &self->saved));
	ASSERT_TRUE(write_number(PARAMETER_USER, USER_LIMIT));
	ASSERT_EQ(0, chmod(CALLOUT_DEVICE, 0666));
}

FIXTURE_TEARDOWN(user)
{
	EXPECT_EQ(0, chmod(CALLOUT_DEVICE, 0600));
	EXPECT_TRUE(write_number(PARAMETER_USER, self->saved));
	close(self->root);
}

/* The line of the first MUST() that failed; a child exits with it. */
static int wrong_line;

static void must(bool ok, int line)
{
	if (!ok && !wrong_line)
		wrong_line = line & 0xff ?: 1;
}

#define MUST(condition) must(condition, __LINE__)

/* Whether this user has no room left, in either file. */
static bool no_room(const int *fds)
{
	__u64 handle;
	int i;

	for (i = 0; i < 2; i++)
		if (dev_set(fds[i], 0, 0, 1, &handle) != -EDQUOT ||
		    dev_timeout(fds[i], 0, 0, 1, 1, &handle) != -EDQUOT)
			return false;
	return info_of(fds[0]).user_charged == USER_LIMIT;
}

static int use_up(void)
{
	int fds[2] = { dev_open(O_NONBLOCK),
		       dev_open(O_NONBLOCK) };
	__u64 handles[USER_LIMIT];
	struct callout_event e;
	unsigned int i, n;

	MUST(fds[0] >= 0 && fds[1] >= 0);
	MUST(info_of(fds[0]).max_user == USER_LIMIT);
	/* Earlier files are freed some time after they are closed. */
	MUST(wait_user_outstanding(fds[0], 0));
	for (i = 0; i < USER_LIMIT; i++) {
		handles[i] = set(fds[0], HOUR, i);
		MUST(handles[i]);
		MUST(info_of(fds[1]).user_charged >= i + 1);
	}
	MUST(no_room(fds));
	MUST(info_of(fds[0]).outstanding == USER_LIMIT);
	MUST(!counts_of(fds[1]).set);

	/* There is room for one more callout, which counts until its event was read. */
	MUST(dev_cancel(fds[0], handles[0]) == CALLOUT_STATE_PENDING);
	MUST(set(fds[0], 0, 1));
	MUST(wait_unread(fds[0], 1));
	MUST(no_room(fds));
	MUST(receive(fds[0], &e, 1) == 1);
	MUST(set(fds[0], HOUR, 1));
	MUST(no_room(fds));

	/* Closing a file makes room for as many callouts as it had. */
	MUST(!close(fds[0]));
	MUST(wait_user_outstanding(fds[1], 0));
	fds[0] = dev_open(O_NONBLOCK);
	for (i = 0, n = 0; i < 4 * USER_LIMIT; i++)
		n += set(fds[i & 1], HOUR, i) != 0;
	MUST(n <= USER_LIMIT && n > USER_LIMIT / 2);
	MUST(no_room(fds));
	return wrong_line;
}

TEST_F(user, edquot)
{
	/* The second time, nothing of the first time counts any more. */
	EXPECT_EQ(0, as(SOMEBODY, use_up));
	EXPECT_EQ(0, as(SOMEBODY, use_up));
	EXPECT_EQ(0, as(SOMEBODY_ELSE, use_up));
	EXPECT_EQ(0, info_of(self->root).outstanding);
}

/* Lowering a file's limit gives nothing back to its user. Closing the file does. */
static int lower_limit(void)
{
	int fds[2] = { dev_open(O_NONBLOCK),
		       dev_open(O_NONBLOCK) };
	struct callout_match all = { 0 };
	__u64 handle;
	int i;

	MUST(fds[0] >= 0 && fds[1] >= 0);
	MUST(wait_user_outstanding(fds[0], 0));
	for (i = 0; i < (int)USER_LIMIT; i++)
		MUST(set(fds[0], HOUR, i));
	MUST(!set_limit(fds[0], 1));
	MUST(info_of(fds[1]).user_charged == USER_LIMIT);
	MUST(dev_ioctl(fds[0], CALLOUT_IOC_CANCEL_MATCHING, &all) ==
	     (int)USER_LIMIT);
	MUST(info_of(fds[0]).max_outstanding == 1);
	MUST(!info_of(fds[0]).outstanding);
	MUST(info_of(fds[1]).user_charged == USER_LIMIT);
	MUST(dev_set(fds[1], 0, HOUR, 1, &handle) == -EDQUOT);
	/* The file itself still has its remaining room. */
	MUST(set(fds[0], HOUR, 1));
	MUST(!close(fds[0]));
	MUST(wait_user_outstanding(fds[1], 0));
	MUST(set(fds[1], HOUR, 1));
	return wrong_line;
}

TEST_F(user, a_lower_limit_gives_nothing_back)
{
	EXPECT_EQ(0, as(SOMEBODY, lower_limit));
}

/* A user at the limit does not affect other users. */
static int fill(void)
{
	int fd = dev_open(O_NONBLOCK);
	unsigned int i;

	MUST(wait_user_outstanding(fd, 0));
	for (i = 0; i < USER_LIMIT; i++)
		MUST(set(fd, HOUR, i));
	return wrong_line;
}

static int fill_then_let_another(void)
{
	int status, pipes[2];
	pid_t child;
	char c;

	MUST(!pipe(pipes));
	child = fork();
	if (!child) {
		if (!become(SOMEBODY) || fill())
			_exit(1);
		if (write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	MUST(read(pipes[0], &c, 1) == 1);
	status = as(SOMEBODY_ELSE, use_up);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return status;
}

TEST_F(user, users_do_not_affect_each_other)
{
	EXPECT_EQ(0, fill_then_let_another());
}

/* The user who opened the file is charged, whoever uses the descriptor. */
TEST_F(user, opener_is_charged)
{
	struct callout_info info;
	int status, fd = self->root;
	pid_t child;

	ASSERT_TRUE(wait_user_outstanding(fd, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(!become(SOMEBODY) || !set(fd, HOUR, 1));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	info = info_of(fd);
	EXPECT_EQ(1, info.outstanding);
	EXPECT_LT(0, info.user_charged);
}

/* The users of a user namespace. In the initial namespace nobody has these ids. */
#define INNER_USERS	8
#define FIRST_INNER	100000

static bool map(pid_t pid, const char *what)
{
	char path[64];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	f = fopen(path, "w");
	ok = f && fprintf(f, "0 %d %d\n", FIRST_INNER, INNER_USERS) > 0;
	return f && !fclose(f) && ok;
}

/* Wait until no file that this user has closed counts any more. */
static bool settled(void)
{
	int fd = dev_open(O_NONBLOCK);
	bool ok = wait_user_outstanding(fd, 0);

	return !close(fd) && ok;
}

/* All of these users together can have USER_LIMIT callouts. One more fails with EDQUOT. */
static int fill_as_all(void)
{
	unsigned int i, j, n = 0;
	__u64 handle;
	int fd, ret;

	for (i = 0; i < INNER_USERS; i++) {
		MUST(!setresuid(i, 0, 0));
		MUST(settled());
	}
	for (i = 0; i < INNER_USERS; i++) {
		/* The real user id is charged. */
		MUST(!setresuid(i, 0, 0));
		fd = dev_open(O_NONBLOCK);
		MUST(fd >= 0);
		for (j = 0; j <= USER_LIMIT; j++) {
			ret = dev_set(fd, 0, HOUR, j, &handle);
			MUST(!ret || ret == -EDQUOT);
			n += !ret;
		}
	}
	MUST(n == USER_LIMIT);
	return wrong_line;
}

/* Run @function as user 0 of a new namespace of @owner. Return its status. */
static int in_namespace_of(uid_t owner, int (*function)(void))
{
	int status = -1, up[2], down[2];
	pid_t child;
	char c = 0;

	if (pipe(up) || pipe(down))
		return -1;
	child = fork();
	if (!child) {
		close(up[0]);
		close(down[1]);
		if ((owner && (!become(owner) || !settled())) ||
		    unshare(CLONE_NEWUSER))
			_exit(98);
		/* The parent writes the maps. */
		if (write(up[1], &c, 1) != 1 || read(down[0], &c, 1) != 1 ||
		    setresgid(0, 0, 0) || setresuid(0, 0, 0))
			_exit(97);
		_exit(function());
	}
	close(up[1]);
	close(down[0]);
	if (read(up[0], &c, 1) == 1 && map(child, "uid_map") &&
	    map(child, "gid_map") && write(down[1], &c, 1) != 1)
		perror("write");
	close(down[1]);
	close(up[0]);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* All users of a namespace count as the user who created it. */
TEST_F(user, namespace_counts_as_its_owner)
{
	EXPECT_EQ(0, in_namespace_of(SOMEBODY, fill_as_all));
	EXPECT_EQ(0, in_namespace_of(SOMEBODY, fill_as_all));
	/* Nothing of the namespace counts any more, and other users are not affected. */
	EXPECT_EQ(0, as(SOMEBODY, use_up));
	EXPECT_EQ(0, as(SOMEBODY_ELSE, use_up));
}

/* The owner's own callouts count in a namespace that the owner creates. */
static int fill_then_namespace(void)
{
	int fd;

	fill();
	MUST(!unshare(CLONE_NEWUSER));
	close(dev_open(0));
	fd = dev_open(O_NONBLOCK);
	MUST(fd >= 0);
	MUST(!set(fd, HOUR, 0));
	MUST(!info_of(fd).user_charged);
	return wrong_line;
}

TEST_F(user, namespace_of_owner_at_limit)
{
	EXPECT_EQ(0, as(SOMEBODY, fill_then_namespace));
}

/* The users of a namespace that root has created share the limit of one user. */
TEST_F(user, namespace_of_root)
{
	__u64 before = info_of(self->root).user_charged;

	EXPECT_EQ(0, in_namespace_of(0, fill_as_all));
	EXPECT_EQ(before, info_of(self->root).user_charged);
	EXPECT_NE(0, set(self->root, HOUR, 1));
}

/* Files opened and closed in namespaces at the same time leave no count. */
#define COMERS	4

static void come_and_go(unsigned int i)
{
	unsigned int round;
	__u64 handle;
	int fd;

	for (round = 0; round < 200; round++) {
		/* The second half runs in a nested namespace. */
		if (round == 100)
			MUST(!unshare(CLONE_NEWUSER));
		if (round < 100)
			MUST(!setresuid((i + round) % INNER_USERS, 0, 0));
		fd = dev_open(O_NONBLOCK);
		MUST(fd >= 0);
		/* The call may fail: there may be no room for all. */
		dev_set(fd, 0, HOUR, 1, &handle);
		MUST(!close(fd));
	}
}

static int come_and_go_together(void)
{
	pid_t children[COMERS];
	unsigned int i;
	int status;

	for (i = 0; i < COMERS; i++) {
		children[i] = fork();
		if (!children[i]) {
			come_and_go(i);
			_exit(wrong_line);
		}
	}
	for (i = 0; i < COMERS; i++)
		MUST(waitpid(children[i], &status, 0) == children[i] &&
		     !status);
	return fill_as_all();
}

TEST_F(user, namespaces_come_and_go)
{
	EXPECT_EQ(0, in_namespace_of(SOMEBODY, come_and_go_together));
	EXPECT_EQ(0, in_namespace_of(0, come_and_go_together));
	EXPECT_EQ(0, as(SOMEBODY, use_up));
}

/* All users get the counters of their files. */
static int sees_own_counters(void)
{
	int fd = dev_open(O_NONBLOCK);
	struct callout_info info;

	MUST(wait_user_outstanding(fd, 0));
	MUST(set(fd, 0, 1));
	MUST(wait_unread(fd, 1));
	info = info_of(fd);
	MUST(counts_of(fd).set == 1 && info.unread == 1 && info.tick_ns);
	MUST(info.user_charged && info.max_user);
	return wrong_line;
}

#define DEBUGFS		"/sys/kernel/debug"

static bool remount_debugfs(const char *mode)
{
	return !mount("debugfs", DEBUGFS, "debugfs", MS_REMOUNT, mode);
}

/* The file exists, and this user can open it neither for reading nor for writing. */
static bool is_refused(const char *name)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	char path[sizeof(DEBUGFS "/callout/") + NAME_MAX];
	unsigned int i;

	snprintf(path, sizeof(path), DEBUGFS "/callout/%s", name);
	if (access(path, F_OK))
		return false;
	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (open(path, modes[i]) >= 0 || errno != EACCES)
			return false;
	return true;
}

/*
 * The counters of the whole facility, which cover all users, are for root only,
 * by the mode of each file.
 */
static int sees_no_counters_of_others(void)
{
	DIR *dir = opendir(DEBUGFS "/callout");
	struct dirent *entry;
	unsigned int n = 0;

	MUST(is_refused("bases"));
	MUST(is_refused("lateness"));
	MUST(is_refused("files"));
	MUST(dir);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		MUST(is_refused(entry->d_name));
		n++;
	}
	MUST(n >= 3);
	return wrong_line;
}

TEST_F(user, counters)
{
	EXPECT_EQ(0, as(SOMEBODY, sees_own_counters));
	EXPECT_EQ(0, in_namespace_of(SOMEBODY, sees_own_counters));
	EXPECT_EQ(0, in_namespace_of(0, sees_own_counters));
	/* By default only root can reach the files. */
	ASSERT_TRUE(remount_debugfs("mode=755"));
	EXPECT_EQ(0, as(SOMEBODY, sees_no_counters_of_others));
	EXPECT_EQ(0, in_namespace_of(SOMEBODY, sees_no_counters_of_others));
	EXPECT_EQ(0, in_namespace_of(0, sees_no_counters_of_others));
	EXPECT_TRUE(remount_debugfs("mode=700"));
}

/* Each of many files has its own events. */
TEST(many_files)
{
	enum { FILES = 400 };
	struct rlimit files = { FILES + 50, FILES + 50 };
	int i, n, left, fds[FILES], ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev[32];
	struct callout_event e;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	for (i = 0; i < FILES; i++) {
		fds[i] = dev_open(O_NONBLOCK);
		ASSERT_LE(0, fds[i]);
		ev[0].events = EPOLLIN;
		ev[0].data.u32 = i;
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &ev[0]));
		ASSERT_NE(0, set(fds[i], i % 100 * MSEC, i));
	}
	for (left = FILES; left; left -= n) {
		n = epoll_wait(ep, ev, ARRAY_SIZE(ev), WAIT_MS);
		ASSERT_LT(0, n);
		for (i = 0; i < n; i++) {
			ASSERT_EQ(1, dev_read(fds[ev[i].data.u32], &e,
					      1));
			EXPECT_EQ(ev[i].data.u32, e.cookie);
		}
	}
	for (i = 0; i < FILES; i++)
		EXPECT_EQ(0, close(fds[i]));
	close(ep);
}

TEST_F(file, fdinfo)
{
	__u64 due = dev_now() + HOUR, handle;
	struct callout_event e;
	int i;

	EXPECT_EQ(0, fdinfo_number(self->fd, "outstanding"));
	for (i = 0; i < 3; i++)
		ASSERT_NE(0, set(self->fd, 0, i));
	ASSERT_TRUE(wait_unread(self->fd, 3));
	ASSERT_EQ(0, dev_set(self->fd, CALLOUT_OPF_ABSTIME, due, 1,
			     &handle));
	ASSERT_EQ(1, receive(self->fd, &e, 1));
	EXPECT_EQ(3, fdinfo_number(self->fd, "outstanding"));
	EXPECT_EQ(2, fdinfo_number(self->fd, "unread"));
	EXPECT_EQ(3, fdinfo_number(self->fd, "fired"));
	/* fdinfo has no next due time, which would require a look at every slot. */
	EXPECT_EQ(due, next_due(self->fd, CLOCK_MONOTONIC));
	EXPECT_EQ(-1, fdinfo_number(self->fd, "next-monotonic"));
	EXPECT_EQ(-1, fdinfo_number(self->fd, "next-boottime"));
	EXPECT_EQ((long long)info_of(self->fd).max_outstanding,
		  fdinfo_number(self->fd, "limit"));
}

TEST_HARNESS_MAIN
