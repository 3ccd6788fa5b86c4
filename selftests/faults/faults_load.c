// SPDX-License-Identifier: GPL-2.0
/*
 * faults_load.c - each allocation fails while the module is loaded, while a user
 * opens the device for the first time, and while a CPU comes up for the first time
 *
 * The job "faults" runs this, with the module not loaded. Each fault needs a module
 * that is freshly loaded, since the parts of the bases that a failure leaves are
 * used later. Only faults with the module on their stack are injected: other faults
 * would test the kernel.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "fail_nth.h"

#define MODULE		"/lib/callout.ko"
#define CPU_PATH	"/sys/devices/system/cpu/cpu%u/online"

/* The CPU that goes offline and comes back. */
#define CPU		1

/* The id of any user but root. */
#define USER		1000

/* A walk takes minutes where KASAN looks at each access of an emulated machine. */
#define SECONDS		3600

static int load(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);
	int ret = syscall(__NR_finit_module, fd, "", 0);

	ret = ret ? -errno : 0;
	close(fd);
	return ret;
}

/* With fail-nth, only the system call itself may meet the fault. */
static int load_with_fault(int fail_nth, unsigned int n, bool *injected)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);
	int ret;

	if (!fault_at(fail_nth, n))
		return -EBADF;
	ret = syscall(__NR_finit_module, fd, "", 0) ? -errno : 0;
	*injected = fault_injected(fail_nth);
	close(fd);
	return ret;
}

static bool unload(void)
{
	__u64 limit = dev_now() + WAIT_MS * MSEC;

	while (syscall(__NR_delete_module, "callout", O_NONBLOCK)) {
		if (errno != EWOULDBLOCK || dev_now() > limit)
			return false;
		sleep_ns(MSEC);
	}
	return true;
}

/* Does a file have a line with the word? */
static bool has_word(const char *path, const char *word)
{
	FILE *f = fopen(path, "r");
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, word);
	if (f)
		fclose(f);
	return found;
}

/* Is nothing left of the module? */
static bool is_gone(void)
{
	static const char * const traces[] = {
		"/sys/module/callout", "/dev/callout", "/sys/class/misc/callout",
		"/sys/kernel/debug/callout",
		"/sys/bus/platform/devices/callout-alarm",
		"/sys/bus/platform/drivers/callout-alarm",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(traces); i++) {
		if (!access(traces[i], F_OK)) {
			printf("# %s is left\n", traces[i]);
			return false;
		}
	}
	return !has_word("/sys/devices/system/cpu/hotplug/states", "callout");
}

/* Can the device wake the system, if that can sleep? It registers a wake-up source if so. */
static bool can_wake(void)
{
	static const char sources[] = "/sys/kernel/debug/wakeup_sources";

	return access(sources, F_OK) || has_word(sources, "callout-alarm");
}

/* Does a callout that is set from this CPU fire? Another callout stays pending. */
static bool works(void)
{
	int fd = dev_open(O_NONBLOCK);
	struct callout_event e;
	bool ok;

	if (fd < 0)
		return false;
	ok = can_wake() && set(fd, HOUR, 1) && set(fd, MSEC, 2) &&
	     receive(fd, &e, 1) == 1 && e.cookie == 2 &&
	     info_of(fd).outstanding == 1;
	return close(fd) == 0 && ok;
}

/* A boot that prints nothing for a long time is ended. */
static void show_progress(unsigned int n)
{
	if (n % 20)
		return;
	printf("# fault %u\n", n);
	fflush(stdout);
}

FIXTURE(load) {
	int fail_nth;
	unsigned int injected;
	unsigned int failed;
};

FIXTURE_VARIANT(load) {
	struct faults faults;
};

FIXTURE_VARIANT_ADD(load, slabs) { .faults.slabs = true };
FIXTURE_VARIANT_ADD(load, pages) { .faults.pages = true };

FIXTURE_SETUP(load)
{
	ASSERT_TRUE(is_gone());
	ASSERT_TRUE(faults_select(&variant->faults));
	ASSERT_TRUE(pin_to_cpu(0));
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	self->fail_nth = faults_open();
	ASSERT_LE(0, self->fail_nth);
}

FIXTURE_TEARDOWN(load)
{
	printf("# faults injected: %u, of which failed: %u\n", self->injected, self->failed);
	close(self->fail_nth);
}

/*
 * platform_device_add() returns EINVAL if there is no memory for a name. Where faults
 * cannot be restricted, the kernel's copies of the call's arguments fail too.
 */
static bool is_documented(int error)
{
	return error == -ENOMEM || error == -EINVAL ||
	       (error == -EFAULT && !faults_can_filter());
}

/*
 * A load that fails leaves nothing behind. Each load gets one allocation
 * further, and the last load succeeds.
 */
TEST_F_TIMEOUT(load, module, SECONDS)
{
	bool injected = true;
	unsigned int n;
	int ret;

	for (n = 1; injected && n < FAULTS_MAX; n++) {
		show_progress(n);
		ret = load_with_fault(self->fail_nth, n, &injected);
		self->injected += injected;
		if (ret) {
			ASSERT_TRUE(is_documented(ret)) {
				TH_LOG("fault %u: %d", n, ret);
			}
			ASSERT_TRUE(injected);
			self->failed++;
		} else {
			ASSERT_TRUE(works()) {
				TH_LOG("fault %u", n);
			}
			ASSERT_TRUE(unload());
		}
		ASSERT_TRUE(is_gone()) {
			TH_LOG("fault %u", n);
		}
	}
	EXPECT_FALSE(injected);
	/* Workqueues, and a base and a wheel for each CPU and class. */
	if (variant->faults.slabs)
		EXPECT_LE(2 + 2 * sysconf(_SC_NPROCESSORS_ONLN), self->failed);
}

/* A user whose first open() fails can open the device later. */
static void walk_open(struct __test_metadata *_metadata,
		      struct _test_data_load *self, bool slabs)
{
	bool injected = true;
	unsigned int n;
	int fd;

	for (n = 1; injected && n < FAULTS_MAX; n++) {
		show_progress(n);
		ASSERT_EQ(0, load());
		ASSERT_TRUE(fault_at(self->fail_nth, n));
		fd = dev_open(O_NONBLOCK);
		injected = fault_injected(self->fail_nth);
		self->injected += injected;
		if (fd < 0) {
			ASSERT_EQ(-ENOMEM, fd);
			ASSERT_TRUE(injected);
			self->failed++;
		} else {
			ASSERT_NE(0, set(fd, 0, 1));
			ASSERT_TRUE(readable_within(fd, WAIT_MS));
			ASSERT_EQ(0, close(fd));
		}
		ASSERT_TRUE(works()) {
			TH_LOG("fault %u", n);
		}
		ASSERT_TRUE(unload());
	}
	EXPECT_FALSE(injected);
	if (slabs)
		EXPECT_LE(2 + 2 * sysconf(_SC_NPROCESSORS_ONLN), self->failed);
}

TEST_F_TIMEOUT(load, first_open_by_root, SECONDS)
{
	walk_open(_metadata, self, variant->faults.slabs);
}

/* The real user counts, and its class differs from root's. */
TEST_F_TIMEOUT(load, first_open_by_a_user, SECONDS)
{
	ASSERT_EQ(0, setresuid(USER, 0, 0));
	walk_open(_metadata, self, variant->faults.slabs);
	ASSERT_EQ(0, setresuid(0, 0, 0));
}

static int set_online(bool online)
{
	char path[64];

	snprintf(path, sizeof(path), CPU_PATH, CPU);
	return write_text(path, online ? "1" : "0") ? 0 : -errno;
}

static bool is_online(void)
{
	unsigned int online = 2;
	char path[64];

	snprintf(path, sizeof(path), CPU_PATH, CPU);
	return read_number(path, &online) && online == 1;
}

/* A CPU either comes up and works, or does not come up, and then comes up later. */
TEST_F_TIMEOUT(load, cpu_comes_up, SECONDS)
{
	struct callout_event e[2];
	bool injected = true;
	unsigned int n;
	int ret, fd;

	if (sysconf(_SC_NPROCESSORS_CONF) == 1) {
		printf("# there is no CPU that could come up\n");
		return;
	}
	for (n = 1; injected && n < FAULTS_MAX; n++) {
		show_progress(n);
		ASSERT_EQ(0, set_online(false));
		ASSERT_EQ(0, load());
		fd = dev_open(O_NONBLOCK);
		ASSERT_NE(0, set(fd, HOUR, 1));
		ASSERT_NE(0, set(fd, MSEC, 2));
		ASSERT_TRUE(fault_at(self->fail_nth, n));
		ret = set_online(true);
		injected = fault_injected(self->fail_nth);
		self->injected += injected;
		ASSERT_EQ(!ret, is_online());
		if (ret) {
			ASSERT_EQ(-ENOMEM, ret);
			ASSERT_TRUE(injected);
			self->failed++;
			ASSERT_TRUE(works());
			ASSERT_EQ(0, set_online(true));
		}
		ASSERT_TRUE(pin_to_cpu(CPU));
		ASSERT_TRUE(works()) {
			TH_LOG("fault %u", n);
		}
		ASSERT_NE(0, set(fd, MSEC, 3));
		ASSERT_EQ(2, receive(fd, e, 2));
		EXPECT_EQ(5, e[0].cookie + e[1].cookie);
		EXPECT_EQ(1, info_of(fd).outstanding);
		ASSERT_EQ(0, close(fd));
		ASSERT_TRUE(pin_to_cpu(0));
		ASSERT_TRUE(unload());
	}
	EXPECT_FALSE(injected);
	/* A base and a wheel for each class. */
	if (variant->faults.slabs)
		EXPECT_LE(4, self->failed);
}

TEST_HARNESS_MAIN
