// SPDX-License-Identifier: GPL-2.0
/*
 * uml-ptrace.c - runs User Mode Linux on hosts with more registers than it knows
 *
 * Linux 6.12 saves 2696 bytes of a process's vector registers. A host with more,
 * AMX for example, returns that part, but does not accept it back: ptrace() sets
 * all registers or none. Preloaded into UML, this adds the current values of the
 * others.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef long (*ptrace_fn)(enum __ptrace_request request, pid_t pid, void *addr,
			  void *data);

static long set_registers(ptrace_fn real, pid_t pid, void *type,
			  const struct iovec *given)
{
	static char all[65536];
	struct iovec v = { all, sizeof(all) };

	if (real(PTRACE_GETREGSET, pid, type, &v) < 0)
		return -1;
	memcpy(all, given->iov_base,
	       given->iov_len < v.iov_len ? given->iov_len : v.iov_len);
	return real(PTRACE_SETREGSET, pid, type, &v);
}

long ptrace(enum __ptrace_request request, ...)
{
	ptrace_fn real = (ptrace_fn)dlsym(RTLD_NEXT, "ptrace");
	void *addr, *data;
	va_list args;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (request == PTRACE_SETREGSET && addr == (void *)NT_X86_XSTATE)
		return set_registers(real, pid, addr, data);
	return real(request, pid, addr, data);
}
