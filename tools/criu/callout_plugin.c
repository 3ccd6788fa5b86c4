// SPDX-License-Identifier: GPL-2.0
/*
 * callout_plugin.c - CRIU plugin: the files of /dev/callout of a process that moves
 *
 * CRIU loads it, and is itself under version 2 of the GPL: so is this file.
 *
 * A dump writes an image for each open file: what LIST says of its callouts, in the
 * time of the process. A restore opens the device and sets the callouts again. CRIU
 * restores the clocks of the process, by a time namespace, before it restores files, so
 * that the time at which a callout is due stays what the process knows. See
 * callout_criu(7).
 */
#include <criu/criu-plugin.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcallout.h"

#define MAGIC		0x31544f4c4c4143ULL	/* "CALLOT1", and a 0 */
#define TIME_MAX	(~0ULL >> 1)		/* never */
#define NSEC_PER_SEC	1000000000LL

/* Entries, and operations, at a time. */
#define AT_A_TIME	1024

/* Lets callouts be dumped that have no name but a handle. */
#define STALE_HANDLES	"CALLOUT_STALE_HANDLES"

/*
 * struct image - the begin of an image; struct callout_entry follow, their due in the
 * time of the process
 */
struct image {
	__u64 magic;
	__u64 entries;
	__u64 max_outstanding;
	__u32 entry_size;
	__u32 nonblock;		/* O_NONBLOCK, or 0 */
};

/* A time namespace adds this to the clocks, in nanoseconds. */
struct offsets {
	__s64 monotonic, boottime;
};

/* Of CRIU. */
extern void __printf(2, 3) print_on_level(unsigned int level, const char *format, ...);

enum { LEVEL_ERROR = 1, LEVEL_INFO = 3 };

/* Logs an error as CRIU does. Returns -1. */
static int __printf(1, 2) wrong(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	print_on_level(LEVEL_ERROR, "Error (callout): %s\n", text);
	return -1;
}

static FILE *image_open(int id, const char *mode)
{
	int flags = *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
	char name[40];
	FILE *f;
	int fd;

	snprintf(name, sizeof(name), "callout-%#x.img", id);
	fd = openat(criu_get_image_dir(), name, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	f = fdopen(fd, mode);
	if (!f)
		close(fd);
	return f;
}

/* Of a process, or "self". They are 0 if the kernel has no time namespaces. */
static int read_offsets(const char *process, struct offsets *offsets)
{
	long long sec, nsec;
	char path[64], clock[16];
	FILE *f;

	memset(offsets, 0, sizeof(*offsets));
	snprintf(path, sizeof(path), "/proc/%s/timens_offsets", process);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : wrong("%s: %s", path, strerror(errno));
	while (fscanf(f, "%15s %lld %lld", clock, &sec, &nsec) == 3) {
		if (!strcmp(clock, "monotonic"))
			offsets->monotonic = sec * NSEC_PER_SEC + nsec;
		else if (!strcmp(clock, "boottime"))
			offsets->boottime = sec * NSEC_PER_SEC + nsec;
	}
	fclose(f);
	return 0;
}

/* The offset of the clock; 0 for CLOCK_REALTIME. */
static __s64 clock_offset(const struct offsets *offsets, clockid_t clock)
{
	if (clock == CLOCK_MONOTONIC)
		return offsets->monotonic;
	return clock == CLOCK_BOOTTIME || clock == CLOCK_BOOTTIME_ALARM ? offsets->boottime : 0;
}

/* 0 if the process has ended. */
static pid_t tracer_of(const char *process)
{
	char path[64], line[256];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/status", process);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "TracerPid: %d", &pid) == 1)
			break;
	fclose(f);
	return pid;
}

/*
 * Finds the difference of the clocks of the dumped processes and the clocks of CRIU. CRIU traces
 * these processes, and they have one time namespace.
 */
static int find_shift(struct offsets *shift)
{
	struct offsets own;
	struct dirent *d;
	int ret = -1;
	DIR *proc;

	if (read_offsets("self", &own))
		return -1;
	proc = opendir("/proc");
	if (!proc)
		return wrong("/proc: %s", strerror(errno));
	do {
		d = readdir(proc);
	} while (d && (!atoi(d->d_name) || tracer_of(d->d_name) != getpid()));
	if (d)
		ret = read_offsets(d->d_name, shift);
	else
		wrong("no process is traced");
	closedir(proc);
	shift->monotonic -= own.monotonic;
	shift->boottime -= own.boottime;
	return ret;
}

/* As the device does where a thread of another time namespace asks. */
static __u64 shifted(__u64 time, __s64 offset)
{
	__s64 sum;

	if (time == TIME_MAX || __builtin_add_overflow((__s64)time, offset, &sum))
		return TIME_MAX;
	return sum < 0 ? 0 : sum;
}

/* Can a restore set it again? */
static int entry_check(const struct callout_entry *entry)
{
	const __u32 flags = CALLOUT_OPF_ABSTIME | CALLOUT_OPF_KEY |
			    CALLOUT_OPF_CANCEL_ON_SET | CALLOUT_OPF_EXACT;

	if (entry->flags & CALLOUT_ENTRYF_COMMAND)
		return wrong("a command of io_uring is pending");
	if (entry->state == CALLOUT_STATE_READING)
		return wrong("a process that is not dumped reads from the file");
	if ((entry->op != CALLOUT_OP_SET && entry->op != CALLOUT_OP_TIMEOUT) ||
	    entry->op_flags & ~flags || entry->flags ||
	    (entry->state != CALLOUT_STATE_PENDING && entry->state != CALLOUT_STATE_UNREAD))
		return wrong("a callout is of a kind that this plugin does not know");
	if (entry->op == CALLOUT_OP_SET && !(entry->op_flags & CALLOUT_OPF_KEY) &&
	    !getenv(STALE_HANDLES))
		return wrong("a callout has a handle and no key, and its handle would be stale: "
			     STALE_HANDLES "=1 dumps it, see callout_criu(7)");
	return 0;
}

static int dump_entries(int fd, int id, FILE *f, struct image *image)
{
	static struct callout_entry entries[AT_A_TIME];
	unsigned int unread = 0;
	struct offsets shift;
	__u64 cursor = 0;
	int i, n;

	if (find_shift(&shift))
		return -1;
	do {
		n = callout_dev_list(fd, &cursor, entries, AT_A_TIME);
		if (n < 0)
			return wrong("LIST: %s", strerror(-n));
		for (i = 0; i < n; i++) {
			if (entry_check(&entries[i]))
				return -1;
			entries[i].due = shifted(entries[i].due,
						 clock_offset(&shift, entries[i].clockid));
			unread += entries[i].state == CALLOUT_STATE_UNREAD;
		}
		image->entries += n;
		fwrite(entries, sizeof(*entries), n, f);
	} while (cursor);
	print_on_level(LEVEL_INFO, "callout: file %#x: %llu callouts, %u of them unread\n", id,
		       image->entries, unread);
	return 0;
}

static int dump_image(int fd, int id, FILE *f)
{
	struct image image = { .magic = MAGIC, .entry_size = sizeof(struct callout_entry) };
	struct callout_info info;
	int flags, ret;

	/* CRIU restores the flags of no file of a plugin. */
	flags = fcntl(fd, F_GETFL);
	ret = callout_dev_info(fd, &info);
	if (flags < 0 || ret)
		return wrong("the file: %s", strerror(flags < 0 ? errno : -ret));
	image.nonblock = flags & O_NONBLOCK;
	image.max_outstanding = info.max_outstanding;
	/* A place for it. */
	fwrite(&image, sizeof(image), 1, f);
	ret = dump_entries(fd, id, f, &image);
	rewind(f);
	fwrite(&image, sizeof(image), 1, f);
	return ret;
}

static int dump_file(int fd, int id)
{
	struct stat st, device;
	FILE *f;
	int ret;
	bool bad;

	if (fstat(fd, &st) || !S_ISCHR(st.st_mode) || stat(CALLOUT_DEVICE, &device) ||
	    st.st_rdev != device.st_rdev)
		return -ENOTSUP;
	f = image_open(id, "w");
	if (!f)
		return wrong("the image: %s", strerror(errno));
	ret = dump_image(fd, id, f);
	bad = ferror(f);
	if (fclose(f) || bad)
		ret = wrong("the image cannot be written");
	return ret;
}

static struct callout_op op_of(const struct callout_entry *entry, const struct offsets *offsets)
{
	bool follows = entry->clockid == CLOCK_REALTIME || entry->clockid == CLOCK_REALTIME_ALARM;
	struct callout_op op = callout_op_entry(entry);
	__u64 now;

	if (op.flags & CALLOUT_OPF_KEY)
		op.flags |= CALLOUT_OPF_ONLY_NEW;
	if (!(op.flags & CALLOUT_OPF_ABSTIME))
		return op;
	if (!follows && !offsets->monotonic && !offsets->boottime) {
		/* CRIU has not restored the clocks. */
		op.flags &= ~CALLOUT_OPF_ABSTIME;
		op.time = entry->left;
	} else if (follows && entry->state == CALLOUT_STATE_UNREAD &&
		   !(op.flags & CALLOUT_OPF_CANCEL_ON_SET)) {
		/* It has fired, whatever this system's clock shows. */
		now = callout_now(entry->clockid);
		if (op.time > now)
			op.time = now;
	}
	return op;
}

static int set_again(int fd, FILE *f, __u64 entries)
{
	static struct callout_op ops[AT_A_TIME];
	struct callout_entry entry;
	struct callout_batch batch;
	struct offsets offsets;
	unsigned int n;
	int ret;

	if (read_offsets("self", &offsets))
		return -1;
	for (; entries; entries -= n) {
		for (n = 0; n < AT_A_TIME && n < entries; n++) {
			if (fread(&entry, sizeof(entry), 1, f) != 1)
				return wrong("the image is cut");
			ops[n] = op_of(&entry, &offsets);
		}
		callout_batch_init(&batch, ops, n, NULL, 0);
		batch.flags = CALLOUT_BATCHF_STOP;
		ret = callout_dev_batch(fd, &batch);
		if (!ret && batch.failed)
			ret = ops[batch.done - 1].result;
		if (ret < 0)
			return wrong("a callout of clock %d cannot be set: %s",
				     ops[batch.done ? batch.done - 1 : 0].clockid, strerror(-ret));
	}
	return 0;
}

/* The limit comes last: it may be lower than what was outstanding before it was set. */
static int restore_limit(int fd, __u64 limit)
{
	struct callout_info info;
	int ret = callout_dev_info(fd, &info);

	if (!ret && limit < info.max_outstanding)
		ret = callout_dev_limit(fd, limit);
	return ret ? wrong("the limit: %s", strerror(-ret)) : 0;
}

/* Returns a descriptor. */
static int restore_image(FILE *f)
{
	struct image image;
	int fd;

	if (fread(&image, sizeof(image), 1, f) != 1 || image.magic != MAGIC ||
	    image.entry_size != sizeof(struct callout_entry))
		return wrong("the image is not of this plugin");
	fd = callout_dev_open(image.nonblock);
	if (fd < 0)
		return wrong(CALLOUT_DEVICE ": %s", strerror(-fd));
	if (set_again(fd, f, image.entries) || restore_limit(fd, image.max_outstanding)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int restore_file(int id)
{
	FILE *f = image_open(id, "r");
	int fd;

	if (!f)
		return errno == ENOENT ? -ENOTSUP : wrong("the image: %s", strerror(errno));
	fd = restore_image(f);
	fclose(f);
	return fd;
}

CR_PLUGIN_REGISTER_DUMMY("callout")
CR_PLUGIN_REGISTER_HOOK(CR_PLUGIN_HOOK__DUMP_EXT_FILE, dump_file)
CR_PLUGIN_REGISTER_HOOK(CR_PLUGIN_HOOK__RESTORE_EXT_FILE, restore_file)
