// SPDX-License-Identifier: GPL-2.0
/*
 * count_plugin.c - for QEMU: how many instructions each function has executed
 *
 *	qemu-system-x86_64 -plugin count_plugin.so,symbols=FILE,mark=NAME,out=FILE
 *
 * The symbols are the output of nm -n. Each call of the function NAME ends a
 * phase and begins the next. The counts of the phase go to the output, a line
 * "PHASE COUNT NAME" for each function that has executed an instruction, and are
 * cleared. Counts of user space are under the name "user", and counts of
 * modules under "modules". For one CPU only: nothing is locked.
 */
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qemu_plugin.h"

int qemu_plugin_version = 1;

/* The address range of module code on x86-64. */
#define MODULES		0xffffffffa0000000ULL

struct function {
	__u64 start;
	__u64 count;
	char *name;
};

static struct function *functions;
static size_t n_functions;
static struct function user = { .name = "user" };
static struct function modules = { .name = "modules" };
static __u64 mark_address;
static unsigned int phase;
static FILE *out;

static void die(const char *what, const char *which)
{
	fprintf(stderr, "count_plugin: %s: %s\n", what, which);
	exit(1);
}

static void read_symbols(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024], name[512], type;
	unsigned long long start;
	size_t room = 0;

	if (!f)
		die("cannot be read", path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %511s", &start, &type, name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		if (n_functions == room) {
			room = room ? 2 * room : 65536;
			functions = realloc(functions,
					    room * sizeof(*functions));
			if (!functions)
				die("no memory", path);
		}
		functions[n_functions++] = (struct function){
			.start = start, .name = strdup(name),
		};
	}
	fclose(f);
	if (!n_functions)
		die("no symbols", path);
}

static struct function *function_at(__u64 address)
{
	size_t low = 0, high = n_functions, middle;

	if (address < functions[0].start)
		return &user;
	if (address >= MODULES)
		return &modules;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (functions[middle].start <= address)
			low = middle;
		else
			high = middle;
	}
	return &functions[low];
}

static void print_one(struct function *f)
{
	if (f->count)
		fprintf(out, "%u %llu %s\n", phase,
			(unsigned long long)f->count, f->name);
	f->count = 0;
}

static void end_phase(void)
{
	size_t i;

	print_one(&user);
	print_one(&modules);
	for (i = 0; i < n_functions; i++)
		print_one(&functions[i]);
	phase++;
	fflush(out);
}

static void at_mark(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	end_phase();
}

static void at_exit(plugin_id id, void *data)
{
	(void)id;
	(void)data;
	end_phase();
	fclose(out);
}

static void at_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *insn;
	__u64 address, *count;

	(void)id;
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		address = qemu_plugin_insn_vaddr(insn);
		count = &function_at(address)->count;
		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64,
							   count, 1);
		if (address == mark_address)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_mark,
							       NO_REGISTERS,
							       NULL);
	}
}

/* The value of the argument NAME=VALUE, which must be there. */
static const char *value_of(const char *name, int argc, char **argv)
{
	size_t n = strlen(name);
	int i;

	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
			return argv[i] + n + 1;
	die("needed", name);
	return NULL;
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	const char *mark = value_of("mark", argc, argv);
	const char *path = value_of("out", argc, argv);
	size_t i;

	(void)info;
	read_symbols(value_of("symbols", argc, argv));
	for (i = 0; i < n_functions; i++)
		if (!strcmp(functions[i].name, mark))
			mark_address = functions[i].start;
	if (!mark_address)
		die("not among the symbols", mark);
	out = fopen(path, "w");
	if (!out)
		die("cannot be written", path);
	qemu_plugin_register_vcpu_tb_trans_cb(id, at_translation);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
