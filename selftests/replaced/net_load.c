// SPDX-License-Identifier: GPL-2.0
/*
 * net_load.c - many TCP connections that ask and answer, and check every byte
 *
 *	net_load serve ADDRESS PORT
 *	net_load ask ADDRESS PORT CONNECTIONS REQUESTS BYTES
 *
 * An answer is the request, each byte one more. Both keep connections alive by
 * probes, so that timers of every kind run: retransmission, delayed
 * acknowledgment, keepalive, time-wait. A connection is a process, and the asker
 * ends with the sums of their counts, "ok CONNECTIONS REQUESTS BYTES".
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_BYTES	(1 << 20)

static unsigned char request[MOST_BYTES], answer[MOST_BYTES];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int make_socket(const char *address, const char *port,
		       struct sockaddr_in *to)
{
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	memset(to, 0, sizeof(*to));
	to->sin_family = AF_INET;
	to->sin_port = htons(atoi(port));
	if (s < 0 || inet_pton(AF_INET, address, &to->sin_addr) != 1)
		die(address);
	if (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)) ||
	    setsockopt(s, IPPROTO_TCP, TCP_KEEPIDLE, &one, sizeof(one)) ||
	    setsockopt(s, IPPROTO_TCP, TCP_KEEPINTVL, &one, sizeof(one)))
		die("setsockopt");
	return s;
}

/* Return false at the end of the connection. */
static bool read_all(int s, unsigned char *to, size_t n)
{
	ssize_t got;

	while (n) {
		got = read(s, to, n);
		if (got < 0)
			die("read");
		if (!got)
			return false;
		to += got;
		n -= got;
	}
	return true;
}

static void write_all(int s, const unsigned char *from, size_t n)
{
	ssize_t put;

	while (n) {
		put = write(s, from, n);
		if (put <= 0)
			die("write");
		from += put;
		n -= put;
	}
}

/* A request begins with its length, in four bytes. */
static void serve_one(int s)
{
	unsigned int n, i;

	while (read_all(s, request, 4)) {
		memcpy(&n, request, 4);
		n = ntohl(n);
		if (n < 4 || n > MOST_BYTES || !read_all(s, request + 4, n - 4))
			exit(1);
		for (i = 0; i < n; i++)
			answer[i] = request[i] + 1;
		write_all(s, answer, n);
	}
	exit(0);
}

static void serve(const char *address, const char *port)
{
	struct sockaddr_in at;
	int s = make_socket(address, port, &at), one;

	if (bind(s, (struct sockaddr *)&at, sizeof(at)) || listen(s, 1000))
		die("listen");
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		one = accept(s, NULL, NULL);
		if (one < 0)
			die("accept");
		if (!fork()) {
			close(s);
			serve_one(one);
		}
		close(one);
	}
}

static void ask_one(const char *address, const char *port,
		    unsigned int requests, unsigned int n)
{
	struct sockaddr_in to;
	int s = make_socket(address, port, &to);
	unsigned int i, j, length = htonl(n);

	if (connect(s, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	for (i = 0; i < requests; i++) {
		for (j = 0; j < n; j++)
			request[j] = i * 7 + j * 13 + getpid();
		memcpy(request, &length, 4);
		write_all(s, request, n);
		if (!read_all(s, answer, n))
			exit(1);
		for (j = 0; j < n; j++)
			if (answer[j] != (unsigned char)(request[j] + 1))
				exit(1);
	}
	exit(0);
}

static int ask(const char *address, const char *port, unsigned int connections,
	       unsigned int requests, unsigned int n)
{
	unsigned int i, good = 0;
	int status;

	if (n < 4 || n > MOST_BYTES) {
		fprintf(stderr, "4 to %d bytes\n", MOST_BYTES);
		return 1;
	}
	for (i = 0; i < connections; i++)
		if (!fork())
			ask_one(address, port, requests, n);
	while (wait(&status) > 0)
		good += !status;
	printf("%s %u %u %u\n", good == connections ? "ok" : "not ok", good,
	       good * requests, n);
	return good != connections;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "serve"))
		serve(argv[2], argv[3]);
	if (argc == 7 && !strcmp(argv[1], "ask"))
		return ask(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]),
			   atoi(argv[6]));
	fprintf(stderr, "usage: net_load serve ADDRESS PORT\n"
		"       net_load ask ADDRESS PORT CONNECTIONS REQUESTS BYTES\n");
	return 2;
}
