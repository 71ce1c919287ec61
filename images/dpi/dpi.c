/* Deep packet inspection on the path: what its namespace forwards comes here by a queue of netfilter's, nDPI says which
 * application each flow is of, and packets go on, are dropped, or get a mark. What it found it tells in a file, as
 * counters and gauges in Prometheus' text format.
 *
 * The environment says what to do:
 *   BLOCK  applications whose packets are dropped once a flow is known for one: "BitTorrent Tor"
 *   MARK   marks for those of others: "HTTP=7 TLS=0x8"
 *   FLOWS  how many flows are told of, those with the most bytes first (20)
 *   TELLS  the file (/run/dpi/told)
 * With the argument "applications" it lists those that it knows. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libnetfilter_queue/libnetfilter_queue.h>
#include <linux/netfilter.h>
#include <linux/netlink.h>
#include <ndpi/ndpi_api.h>

enum {
	COPIED = 2048,         /* bytes of a packet that are looked at */
	WAITING = 8192,        /* packets that may wait in the queue */
	MOST_FLOWS = 32768,    /* known at a time */
	MOST_TOLD = 200,       /* flows that are told of */
	MOST_APPLICATIONS = 300,
	MOST_RULES = 64,
	IDLE_MS = 60000,       /* a flow that was quiet for so long is forgotten */
	ENOUGH_TCP = 80,       /* packets that nDPI may need, as its own reader has it */
	ENOUGH_OTHER = 24,
	EVERY_MS = 1000,       /* between two times that something is told */
};

struct tally { uint64_t packets, bytes; };

/* What flows are of. */
struct application {
	uint16_t master, own;
	char name[64];
	struct tally passed, blocked;
	uint64_t flows; /* that are known now */
};

struct end { uint8_t address[16]; uint16_t port; };

struct key { struct end a, b; uint8_t version, protocol; };

struct flow {
	struct flow *next; /* of its bucket */
	struct flow *newer, *older;
	struct key key;
	bool from_b; /* the first packet went from b to a */
	struct ndpi_flow_struct *ndpi; /* none once all is known that will be */
	struct application *application;
	struct tally undecided, all;
	uint64_t seen_ms;
	unsigned packets;
	bool blocked;
	uint32_t mark; /* none: 0 */
};

/* What the environment wants done with an application. */
struct rule { uint16_t application; bool block; uint32_t mark; };

static struct ndpi_detection_module_struct *ndpi;
static struct application applications[MOST_APPLICATIONS];
static int n_applications;
static struct flow *buckets[MOST_FLOWS];
static struct flow *newest, *oldest;
static unsigned n_flows;
static uint64_t evicted;
static struct rule rules[MOST_RULES];
static int n_rules;
static bool blocks;
static const char *file = "/run/dpi/told";
static int told_flows = 20;
static volatile sig_atomic_t ended;

static void end(int signal) { (void)signal; ended = 1; }

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "dpi: %s: %s\n", what, why);
	exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* number of an application by its name. */
static int number(const char *name)
{
	for (int i = 1; i < (int)ndpi_get_num_supported_protocols(ndpi); i++)
		if (strcasecmp(ndpi_get_proto_name(ndpi, i), name) == 0)
			return i;
	return -1;
}

static struct rule *rule(const char *name)
{
	int of = number(name);
	if (of < 0)
		fail(name, "nDPI knows no such application; `nfchain-dpi applications` lists those it knows");
	for (int i = 0; i < n_rules; i++)
		if (rules[i].application == of)
			return &rules[i];
	if (n_rules == MOST_RULES)
		fail(name, "there are too many in BLOCK and MARK");
	rules[n_rules].application = of;
	return &rules[n_rules++];
}

/* obey what BLOCK or MARK says. */
static void obey(const char *variable, bool block)
{
	char *text = getenv(variable), *rest;
	if (!text)
		return;
	text = strdup(text);
	for (char *word = strtok_r(text, " ,\n", &rest); word; word = strtok_r(NULL, " ,\n", &rest)) {
		if (block) {
			rule(word)->block = blocks = true;
			continue;
		}
		char *end, *mark = strchr(word, '=');
		unsigned long value = 0;
		errno = 0;
		if (mark) {
			*mark++ = 0;
			value = strtoul(mark, &end, 0);
		}
		if (!mark || !*mark || *mark == '-' || *end || errno || !value || value > UINT32_MAX)
			fail(word, "MARK gives each application a number from 1 to 4294967295: MARK=\"HTTP=7\"");
		rule(word)->mark = value;
	}
	free(text);
}

/* apply to a flow what is wanted of its application, or else of what that is in: of Google, or else of TLS. */
static void apply(struct flow *f, uint16_t own, uint16_t master)
{
	const uint16_t of[] = {own, master};
	f->mark = 0;
	for (int i = 0; i < 2; i++)
		for (int r = 0; r < n_rules && of[i]; r++)
			if (rules[r].application == of[i]) {
				f->blocked |= rules[r].block;
				if (!f->mark)
					f->mark = rules[r].mark;
			}
}

/* application that nDPI has found; when there are too many, those that come last are unknown. */
static struct application *application(ndpi_protocol found)
{
	for (int i = 0; i < n_applications; i++)
		if (applications[i].master == found.master_protocol && applications[i].own == found.app_protocol)
			return &applications[i];
	if (n_applications == MOST_APPLICATIONS)
		return &applications[0];
	struct application *a = &applications[n_applications++];
	a->master = found.master_protocol;
	a->own = found.app_protocol;
	ndpi_protocol2name(ndpi, found, a->name, sizeof a->name);
	return a;
}

static void add(struct tally *t, struct tally more)
{
	t->packets += more.packets;
	t->bytes += more.bytes;
}

/* label a flow, from now on. */
static void label(struct flow *f, ndpi_protocol found)
{
	struct application *a = application(found);
	if (f->application == a)
		return;
	if (f->application)
		f->application->flows--;
	f->application = a;
	a->flows++;
	add(&a->passed, f->undecided);
	f->undecided = (struct tally){0, 0};
	apply(f, found.app_protocol, found.master_protocol);
}

/* settle what a flow is, after which nDPI looks at it no more. */
static void settle(struct flow *f, ndpi_protocol found)
{
	label(f, found);
	if (f->ndpi)
		ndpi_free_flow(f->ndpi);
	f->ndpi = NULL;
}

/* give_up waiting for more of a flow. What nDPI would merely guess by the port is not taken. */
static void give_up(struct flow *f)
{
	uint8_t guessed = 0;
	ndpi_protocol found = NDPI_PROTOCOL_NULL;
	if (f->ndpi)
		found = ndpi_detection_giveup(ndpi, f->ndpi, 0, &guessed);
	if (f->application && found.master_protocol == NDPI_PROTOCOL_UNKNOWN && found.app_protocol == NDPI_PROTOCOL_UNKNOWN)
		found = (ndpi_protocol){f->application->master, f->application->own, 0};
	settle(f, found);
}

static void look(struct flow *f, const uint8_t *packet, unsigned length, uint64_t now)
{
	if (!f->ndpi)
		return;
	ndpi_protocol found = ndpi_detection_process_packet(ndpi, f->ndpi, packet, length, now);
	f->packets++;
	bool known = found.app_protocol != NDPI_PROTOCOL_UNKNOWN || found.master_protocol != NDPI_PROTOCOL_UNKNOWN;
	if (known)
		label(f, found);
	if (known && !ndpi_extra_dissection_possible(ndpi, f->ndpi))
		settle(f, found);
	else if (f->packets >= (f->key.protocol == IPPROTO_TCP ? ENOUGH_TCP : ENOUGH_OTHER))
		give_up(f);
}

static unsigned bucket(const struct key *k)
{
	const uint8_t *bytes = (const uint8_t *)k;
	uint32_t sum = 2166136261u; /* FNV-1a */
	for (size_t i = 0; i < sizeof *k; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum % MOST_FLOWS;
}

static void detach(struct flow *f)
{
	*(f->newer ? &f->newer->older : &newest) = f->older;
	*(f->older ? &f->older->newer : &oldest) = f->newer;
}

static void touch(struct flow *f)
{
	f->newer = NULL;
	f->older = newest;
	*(newest ? &newest->newer : &oldest) = f;
	newest = f;
}

static void forget(struct flow *f)
{
	give_up(f);
	f->application->flows--;
	struct flow **at = &buckets[bucket(&f->key)];
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	detach(f);
	n_flows--;
	free(f);
}

static struct flow *find(const struct key *k, bool from_b, bool whole)
{
	unsigned at = bucket(k);
	for (struct flow *f = buckets[at]; f; f = f->next)
		if (memcmp(&f->key, k, sizeof *k) == 0) {
			detach(f);
			touch(f);
			return f;
		}
	if (n_flows == MOST_FLOWS) {
		forget(oldest);
		evicted++;
	}
	struct flow *f = calloc(1, sizeof *f);
	if (!f)
		fail("flow", "no memory");
	f->key = *k;
	f->from_b = from_b;
	if (whole && !(f->ndpi = calloc(1, ndpi_detection_get_sizeof_ndpi_flow_struct())))
		fail("flow", "no memory");
	f->next = buckets[at];
	buckets[at] = f;
	touch(f);
	n_flows++;
	return f;
}

/* full_length of a packet, of which a part may have been copied. One longer than 65535 does not say. */
static uint32_t full_length(const uint8_t *p, unsigned length)
{
	uint32_t says = 0;
	if (length >= 20 && p[0] >> 4 == 4)
		says = p[2] << 8 | p[3];
	else if (length >= 40 && (p[4] || p[5]))
		says = 40 + (p[4] << 8 | p[5]);
	return says > length ? says : length;
}

/* read_key of a packet, and tell whether it can be: from_b which end it is from, whole whether it is one that nDPI can look
 * at, which a fragment is not. */
static bool read_key(uint8_t *p, unsigned length, struct key *k, bool *from_b, bool *whole)
{
	struct end from = {{0}, 0}, to = {{0}, 0};
	unsigned at;
	memset(k, 0, sizeof *k);
	*whole = true;
	if (length >= 20 && p[0] >> 4 == 4) {
		at = (p[0] & 15) * 4u;
		k->version = 4;
		k->protocol = p[9];
		memcpy(from.address, p + 12, 4);
		memcpy(to.address, p + 16, 4);
		*whole = ((p[6] & 0x3f) | p[7]) == 0;
		p[2] = length >> 8; /* what was copied of it, which is what nDPI can read */
		p[3] = length;
	} else if (length >= 40 && p[0] >> 4 == 6) {
		at = 40;
		k->version = 6;
		k->protocol = p[6];
		memcpy(from.address, p + 8, 16);
		memcpy(to.address, p + 24, 16);
		p[4] = (length - 40) >> 8;
		p[5] = length - 40;
		for (int n = 0; n < 8 && at + 8 <= length; n++) {
			uint8_t next = k->protocol;
			if (next == IPPROTO_FRAGMENT)
				*whole = false;
			else if (next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS)
				break;
			k->protocol = p[at];
			at += next == IPPROTO_FRAGMENT ? 8u : 8u + p[at + 1] * 8u;
		}
	} else {
		return false;
	}
	bool ports = k->protocol == IPPROTO_TCP || k->protocol == IPPROTO_UDP || k->protocol == IPPROTO_SCTP || k->protocol == IPPROTO_UDPLITE;
	if (*whole && ports && at + 4 <= length) {
		from.port = p[at] << 8 | p[at + 1];
		to.port = p[at + 2] << 8 | p[at + 3];
	}
	*from_b = memcmp(&from, &to, sizeof from) > 0;
	k->a = *from_b ? to : from;
	k->b = *from_b ? from : to;
	return true;
}

/* takes a packet from the queue, and says what becomes of it. */
static int takes(struct nfq_q_handle *queue, struct nfgenmsg *message, struct nfq_data *data, void *none)
{
	(void)message;
	(void)none;
	struct nfqnl_msg_packet_hdr *header = nfq_get_msg_packet_hdr(data);
	uint8_t *packet;
	int length = nfq_get_payload(data, &packet);
	if (!header)
		return 0;
	uint32_t id = ntohl(header->packet_id);
	struct key k;
	bool from_b, whole;
	uint32_t full = length < 1 ? 0 : full_length(packet, length);
	if (!full || !read_key(packet, length, &k, &from_b, &whole))
		return nfq_set_verdict(queue, id, NF_ACCEPT, 0, NULL);
	uint64_t now = now_ms();
	struct flow *f = find(&k, from_b, whole);
	f->seen_ms = now;
	struct tally one = {1, full};
	look(f, packet, length, now);
	add(&f->all, one);
	if (!f->application)
		add(&f->undecided, one);
	else
		add(f->blocked ? &f->application->blocked : &f->application->passed, one);
	if (f->blocked)
		return nfq_set_verdict(queue, id, NF_DROP, 0, NULL);
	if (f->mark)
		return nfq_set_verdict2(queue, id, NF_ACCEPT, f->mark, 0, NULL);
	return nfq_set_verdict(queue, id, NF_ACCEPT, 0, NULL);
}

/* ends_text writes the ends of a flow, where it began first. */
static void ends_text(const struct flow *f, char from[64], char to[64])
{
	const struct end *ends[] = {f->from_b ? &f->key.b : &f->key.a, f->from_b ? &f->key.a : &f->key.b};
	char *texts[] = {from, to};
	for (int i = 0; i < 2; i++) {
		char address[INET6_ADDRSTRLEN] = "";
		inet_ntop(f->key.version == 4 ? AF_INET : AF_INET6, ends[i]->address, address, sizeof address);
		if (!ends[i]->port)
			snprintf(texts[i], 64, "%s", address);
		else
			snprintf(texts[i], 64, f->key.version == 4 ? "%s:%u" : "[%s]:%u", address, ends[i]->port);
	}
}

static const char *protocol_text(uint8_t protocol, char text[8])
{
	switch (protocol) {
	case IPPROTO_TCP: return "tcp";
	case IPPROTO_UDP: return "udp";
	case IPPROTO_ICMP: return "icmp";
	case IPPROTO_ICMPV6: return "icmpv6";
	case IPPROTO_SCTP: return "sctp";
	}
	snprintf(text, 8, "%u", protocol);
	return text;
}

static int more_bytes(const void *a, const void *b)
{
	uint64_t x = (*(struct flow *const *)a)->all.bytes, y = (*(struct flow *const *)b)->all.bytes;
	return x < y ? 1 : x > y ? -1 : 0;
}

/* tell_tallies of applications, of packets or of bytes. */
static void tell_tallies(FILE *out, const char *what, const char *help, size_t member)
{
	fprintf(out, "# HELP dpi_%s_total %s\n# TYPE dpi_%s_total counter\n", what, help, what);
	for (int i = 0; i < n_applications; i++) {
		const struct tally *of[] = {&applications[i].passed, &applications[i].blocked};
		for (int b = 0; b < 2; b++)
			if (of[b]->packets)
				fprintf(out, "dpi_%s_total{application=\"%s\",verdict=\"%s\"} %llu\n", what, applications[i].name, b ? "blocked" : "passed",
					(unsigned long long)*(const uint64_t *)((const char *)of[b] + member));
	}
}

static void tell_flows(FILE *out)
{
	static struct flow *all[MOST_FLOWS];
	unsigned n = 0;
	for (struct flow *f = newest; f; f = f->older)
		all[n++] = f;
	qsort(all, n, sizeof *all, more_bytes);
	fprintf(out, "# HELP dpi_flow_bytes Bytes of a flow that is known now, both ways, of the %d that have most.\n# TYPE dpi_flow_bytes gauge\n", told_flows);
	for (unsigned i = 0; i < n && i < (unsigned)told_flows; i++) {
		char from[64], to[64], protocol[8];
		const struct flow *f = all[i];
		ends_text(f, from, to);
		fprintf(out, "dpi_flow_bytes{application=\"%s\",destination=\"%s\",protocol=\"%s\",source=\"%s\",verdict=\"%s\"} %llu\n",
			f->application ? f->application->name : "(undecided)", to, protocol_text(f->key.protocol, protocol), from,
			f->blocked ? "blocked" : f->mark ? "marked" : "passed", (unsigned long long)f->all.bytes);
	}
}

/* tell what was found, all at once, and whether that could be written. */
static bool tell(void)
{
	static char text[PATH_MAX];
	snprintf(text, sizeof text, "%s.new", file);
	FILE *out = fopen(text, "w");
	if (!out)
		return false;
	tell_tallies(out, "packets", "Packets of flows by their application, and what became of them.", offsetof(struct tally, packets));
	tell_tallies(out, "bytes", "Bytes of those packets.", offsetof(struct tally, bytes));
	fprintf(out, "# HELP dpi_flows Flows that are known now.\n# TYPE dpi_flows gauge\n");
	unsigned undecided = n_flows;
	for (int i = 0; i < n_applications; i++) {
		if (applications[i].flows)
			fprintf(out, "dpi_flows{application=\"%s\"} %llu\n", applications[i].name, (unsigned long long)applications[i].flows);
		undecided -= applications[i].flows;
	}
	if (undecided)
		fprintf(out, "dpi_flows{application=\"(undecided)\"} %u\n", undecided);
	fprintf(out, "# HELP dpi_evicted_flows_total Flows that made room for others.\n# TYPE dpi_evicted_flows_total counter\ndpi_evicted_flows_total %llu\n",
		(unsigned long long)evicted);
	tell_flows(out);
	bool failed = ferror(out);
	return !fclose(out) && !failed && !rename(text, file);
}

/* The chain by which packets come here, put in place at once: where one that was killed has left it, packets that nobody looks at must not
 * pass meanwhile. Kernels may have NFQUEUE for xtables alone, and iptables by nf_tables or by itself. */
static const char join[] =
	"begin() { jump='-A FORWARD -j DPI'; $1 -w -t mangle -C FORWARD -j DPI 2>/dev/null && jump=; "
	"printf '*mangle\\n:DPI - [0:0]\\n-A DPI -j NFQUEUE --queue-num 0 %s\\n%s\\nCOMMIT\\n' \"$BYPASS\" \"$jump\" | $2 -w -n; }; "
	"for t in iptables ip6tables; do why=$(begin $t $t-restore 2>&1) || why=$(begin $t-legacy $t-legacy-restore 2>&1) || { echo \"$why\" >&2; exit 1; }; done";
static const char leave[] =
	"for t in iptables ip6tables; do for by in $t $t-legacy; do"
	" $by -w -t mangle -D FORWARD -j DPI && $by -w -t mangle -F DPI && $by -w -t mangle -X DPI && break; "
	"done; done >/dev/null 2>&1; true";

static void netfilter(const char *rules)
{
	if (system(rules))
		fail("iptables", "the rules that bring packets here were not taken; it needs NET_ADMIN, and NFQUEUE of the kernel");
}

static void set_up(int argc, char **argv)
{
	NDPI_PROTOCOL_BITMASK all;
	ndpi = ndpi_init_detection_module(ndpi_no_prefs);
	if (!ndpi)
		fail("nDPI", "it does not begin");
	NDPI_BITMASK_SET_ALL(all);
	ndpi_set_protocol_detection_bitmask2(ndpi, &all);
	ndpi_finalize_initialization(ndpi);
	if (argc == 2 && strcmp(argv[1], "applications") == 0) {
		for (int i = 1; i < (int)ndpi_get_num_supported_protocols(ndpi); i++)
			puts(ndpi_get_proto_name(ndpi, i));
		exit(0);
	}
	if (argc > 1)
		fail(argv[1], "there is but one argument, applications; BLOCK and MARK of the environment say what to do");
	application((ndpi_protocol)NDPI_PROTOCOL_NULL);
	obey("BLOCK", true);
	obey("MARK", false);
	if (getenv("TELLS"))
		file = getenv("TELLS");
	if (getenv("FLOWS")) {
		char *end;
		long n = strtol(getenv("FLOWS"), &end, 10);
		if (*end || n < 0 || n > MOST_TOLD)
			fail("FLOWS", "is how many flows are told of, 0 to 200");
		told_flows = n;
	}
	char *directory = strdup(file), *slash = strrchr(directory, '/');
	if (slash && slash != directory) {
		*slash = 0;
		mkdir(directory, 0755);
	}
	free(directory);
	unlink(file); /* of one before, which is not ready for this one */
}

int main(int argc, char **argv)
{
	set_up(argc, argv);
	struct sigaction act = {.sa_handler = end};
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);

	struct nfq_handle *netlink = nfq_open();
	struct nfq_q_handle *queue = netlink ? nfq_create_queue(netlink, 0, takes, NULL) : NULL;
	/* What does not fit goes on unlooked at, unless something is to be blocked. */
	uint32_t flags = NFQA_CFG_F_GSO | (blocks ? 0 : NFQA_CFG_F_FAIL_OPEN);
	if (!queue || nfq_set_mode(queue, NFQNL_COPY_PACKET, COPIED) < 0 || nfq_set_queue_maxlen(queue, WAITING) < 0 ||
	    nfq_set_queue_flags(queue, NFQA_CFG_F_GSO | NFQA_CFG_F_FAIL_OPEN, flags) < 0)
		fail("queue of netfilter's", "it cannot be had; it needs NET_ADMIN and the kernel's nfnetlink_queue");
	int fd = nfq_fd(netlink), yes = 1, room = 16 << 20;
	setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &yes, sizeof yes);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	setenv("BYPASS", blocks ? "" : "--queue-bypass", true);
	netfilter(join);
	if (!tell())
		fail(file, strerror(errno));
	puts("dpi: looks at what is forwarded");
	fflush(stdout);

	static char buffer[COPIED + 4096] __attribute__((aligned(8)));
	uint64_t due = now_ms() + EVERY_MS;
	bool news = false, tells = true;
	while (!ended) {
		uint64_t now = now_ms();
		if (now >= due) {
			for (; oldest && now - oldest->seen_ms > IDLE_MS; news = true)
				forget(oldest);
			if (news) { /* packets go on where it cannot be told */
				bool told = tell();
				if (!told && tells)
					fprintf(stderr, "dpi: %s: %s; what it has is old until there is room\n", file, strerror(errno));
				tells = told;
			}
			news = !tells;
			due = now + EVERY_MS;
		}
		struct pollfd ready = {fd, POLLIN, 0};
		if (poll(&ready, 1, due - now) < 1)
			continue;
		for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0 && !ended;) {
			news = true;
			nfq_handle_packet(netlink, buffer, n);
			if (now_ms() >= due)
				break;
		}
	}
	netfilter(leave);
	return 0;
}
