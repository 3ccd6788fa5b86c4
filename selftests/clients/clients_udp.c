// SPDX-License-Identifier: GPL-2.0
/*
 * clients_udp.c - datagrams to many addresses, and their echoes
 *
 *	clients_udp echo
 *	clients_udp send ROWS COLUMNS SECONDS
 *
 * The first sends each datagram back from the address that it was sent to. The
 * second sends one datagram to each of 10.R.C.2, R up to ROWS and C up to
 * COLUMNS, row by row, waits SECONDS for the echoes of each row, and fails
 * unless all came, once each and from the addresses to which they were sent.
 * With SECONDS of 0 it does not wait, and continues where it cannot send.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define PORT	7
#define MOST	250

static bool came[MOST + 1][MOST + 1];

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int size = 4 << 20;

	if (fd < 0)
		err(1, "socket");
	/* Root may exceed the system's limit. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		err(1, "SO_RCVBUFFORCE");
	return fd;
}

static struct sockaddr_in address(in_addr_t host, unsigned int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(host),
	};
}

/* The control message that came with a datagram goes out with its echo. */
static void echo(void)
{
	struct sockaddr_in any = address(INADDR_ANY, PORT), peer;
	char data[64], control[CMSG_SPACE(sizeof(struct in_pktinfo))];
	struct iovec vector = { data, sizeof(data) };
	struct msghdr message = { &peer, 0, &vector, 1, control, 0, 0 };
	int fd = udp_socket(), on = 1;
	struct cmsghdr *c;
	ssize_t n;

	if (bind(fd, (struct sockaddr *)&any, sizeof(any)))
		err(1, "bind");
	if (setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)))
		err(1, "IP_PKTINFO");
	for (;;) {
		message.msg_namelen = sizeof(peer);
		message.msg_controllen = sizeof(control);
		vector.iov_len = sizeof(data);
		n = recvmsg(fd, &message, 0);
		if (n < 0)
			err(1, "recvmsg");
		c = CMSG_FIRSTHDR(&message);
		if (!c || c->cmsg_type != IP_PKTINFO)
			errx(1, "a datagram came without its address");
		/* ipi_spec_dst is the source for the answer, on any device. */
		((struct in_pktinfo *)CMSG_DATA(c))->ipi_ifindex = 0;
		vector.iov_len = n;
		/* sendmsg() fails while a link is down, and the sender misses the echo. */
		sendmsg(fd, &message, 0);
	}
}

static in_addr_t host_of(unsigned int row, unsigned int column)
{
	return 10u << 24 | row << 16 | column << 8 | 2;
}

/* Take the datagrams that are there. Return how many were new and right. */
static int receive(int fd)
{
	struct sockaddr_in from;
	int count = 0;
	in_addr_t host, said;

	for (;;) {
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(fd, &said, sizeof(said), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &size);

		if (n < 0) {
			if (errno == EAGAIN)
				return count;
			err(1, "recvfrom");
		}
		host = ntohl(from.sin_addr.s_addr);
		if (n != sizeof(said) || said != host)
			errx(1, "%08x sent back what was not sent", host);
		if (host >> 24 != 10 || (host & 0xff) != 2 ||
		    (host >> 16 & 0xff) > MOST || (host >> 8 & 0xff) > MOST)
			errx(1, "%08x is not an address of a peer", host);
		if (came[host >> 16 & 0xff][host >> 8 & 0xff])
			errx(1, "%08x sent back twice", host);
		came[host >> 16 & 0xff][host >> 8 & 0xff] = true;
		count++;
	}
}

static void send_row(int fd, int row, int columns, bool must)
{
	int column;

	for (column = 1; column <= columns; column++) {
		in_addr_t host = host_of(row, column);
		struct sockaddr_in to = address(host, PORT);

		if (sendto(fd, &host, sizeof(host), 0, (struct sockaddr *)&to,
			   sizeof(to)) < 0 && must)
			err(1, "sendto %08x", host);
	}
}

static int receive_row(int fd, int columns, int seconds)
{
	time_t end = time(NULL) + seconds;
	int count = 0;

	while (count < columns && time(NULL) <= end) {
		struct pollfd p = { fd, POLLIN, 0 };

		if (poll(&p, 1, 1000) < 0)
			err(1, "poll");
		count += receive(fd);
	}
	return count;
}

static bool send_all(int rows, int columns, int seconds)
{
	int fd = udp_socket(), row, count = 0;

	for (row = 1; row <= rows; row++) {
		send_row(fd, row, columns, seconds);
		if (seconds)
			count += receive_row(fd, columns, seconds);
	}
	if (seconds)
		printf("# %d of %d datagrams came back\n", count,
		       rows * columns);
	return !seconds || count == rows * columns;
}

int main(int argc, char **argv)
{
	int rows, columns;

	if (argc == 2 && !strcmp(argv[1], "echo"))
		echo();
	if (argc != 5 || strcmp(argv[1], "send"))
		errx(2, "usage: clients_udp echo | send ROWS COLUMNS SECONDS");
	rows = atoi(argv[2]);
	columns = atoi(argv[3]);
	if (rows < 1 || rows > MOST || columns < 1 || columns > MOST)
		errx(2, "rows and columns are 1 to %d", MOST);
	return !send_all(rows, columns, atoi(argv[4]));
}
