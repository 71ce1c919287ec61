/* Packet echo: what comes by UDP at a port goes back to whom it came from, as it is (RFC 862). PORT of the environment says which, 7007
 * where nothing does. Many are taken and given by one system call, so that it costs little beside the path that is measured. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { AT_ONCE = 64, LONGEST = 65535 };

int main(void)
{
	static char buffers[AT_ONCE][LONGEST];
	static struct sockaddr_in6 from[AT_ONCE];
	static struct iovec parts[AT_ONCE];
	static struct mmsghdr packets[AT_ONCE];
	const char *port = getenv("PORT") ? getenv("PORT") : "7007";
	int no = 0, number = atoi(port), s = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons(number)};
	if (number < 1 || number > 65535) {
		fprintf(stderr, "packet-echo: PORT is %s; write a number from 1 to 65535\n", port);
		return 1;
	}
	if (s < 0 || setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) || bind(s, (struct sockaddr *)&at, sizeof at)) {
		fprintf(stderr, "packet-echo: UDP port %d: %s\n", number, strerror(errno));
		return 1;
	}
	for (int i = 0; i < AT_ONCE; i++) {
		packets[i].msg_hdr = (struct msghdr){.msg_name = &from[i], .msg_iov = &parts[i], .msg_iovlen = 1};
	}
	for (;;) {
		for (int i = 0; i < AT_ONCE; i++) {
			parts[i] = (struct iovec){buffers[i], LONGEST};
			packets[i].msg_hdr.msg_namelen = sizeof from[i];
		}
		int n = recvmmsg(s, packets, AT_ONCE, MSG_WAITFORONE, NULL);
		for (int i = 0; i < n; i++)
			parts[i].iov_len = packets[i].msg_len;
		/* One that cannot be sent is skipped, as one that is lost. */
		for (int i = 0, sent; i < n; i += sent > 0 ? sent : 1)
			sent = sendmmsg(s, packets + i, n - i, 0);
	}
}
