/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qemu_plugin.h - the part of QEMU's plugin interface that count_plugin.c uses
 *
 * Version 1 of the interface. QEMU's own header is in no package of Debian 12.
 */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H

#include <linux/types.h>
#include <stddef.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef __u64 plugin_id;
typedef void translate_fn(plugin_id id, struct qemu_plugin_tb *tb);
typedef void execute_fn(unsigned int cpu, void *data);
typedef void exit_fn(plugin_id id, void *data);

enum { INLINE_ADD_U64 };
enum { NO_REGISTERS };

/* The plugin defines these. */
extern int qemu_plugin_version;
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

/* The plugin calls these. */
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, translate_fn *fn);
void qemu_plugin_register_atexit_cb(plugin_id id, exit_fn *fn, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
__u64 qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						int op, void *count, __u64 add);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    execute_fn *fn, int flags,
					    void *data);

#endif /* QEMU_PLUGIN_H */
