// SPDX-License-Identifier: GPL-2.0
/*
 * uml-ptrace.c - has User Mode Linux run on hosts with more registers than it
 * knows of
 *
 * Linux 6.12 keeps 2696 bytes of a process's vector registers. Where there are
 * more, with AMX for example, the host gives it so many, and does not take them
 * back: ptrace() wants all or none. Preloaded into UML, this adds what is there
 * already.
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
