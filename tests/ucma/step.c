// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One step that is a command: from its words to the bytes of a write(), and the answer as text. */
#include "ucma.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORDS = 32, MAX_BYTES = 4000 };

struct call {
	const struct command *c;
	uint8_t bytes[MAX_BYTES]; /* header and structure */
	uint32_t number;
	long in, out, len, cut;
	uint64_t at, response;
	char as, of; /* letters: the id that is made, the id that is used */
	int file;
	char complaint[64];
};

static void *ptr(uint64_t at)
{
	return (void *)(uintptr_t)at;
}

static const struct {
	const char *name;
	uint64_t value;
} numbers[] = {
	{"tcp", RDMA_PS_TCP}, {"udp", RDMA_PS_UDP}, {"ipoib", RDMA_PS_IPOIB},
	{"ib", RDMA_PS_IB},   {"reset", 0},         {"init", 1},
	{"rtr", 2},           {"rts", 3},           {"sqd", 4},
	{"sqe", 5},           {"err", 6},           {"nowhere", NOWHERE},
	{"rdonly", RDONLY},   {"kernel", KERNEL},   {"null", 0},
};

static uint64_t number(struct call *k, const char *text)
{
	char *end;
	uint64_t v;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(numbers[i].name, text))
			return numbers[i].value;
	/* f2: a descriptor */
	if (text[0] == 'f' && isdigit((unsigned char)text[1]))
		return (uint64_t)world_file(atoi(text + 1));
	v = strtoull(text, &end, 0);
	if (*end || end == text)
		snprintf(k->complaint, sizeof(k->complaint), "no number: %.40s", text);
	return v;
}

static void put(struct call *k, size_t offset, size_t size, uint64_t v)
{
	memcpy(k->bytes + sizeof(struct rdma_ucm_cmd_hdr) + offset, &v, size < 8 ? size : 8);
}

/* `abc` is text, `#56` are as many bytes 1, 2, 3...; `u8:1`, `int:1` and `hex:0102` are values. */
static size_t bytes_of(struct call *k, const char *text, uint8_t *to, size_t room)
{
	size_t n = strlen(text);
	unsigned int v;

	if (text[0] == '#') {
		n = strtoul(text + 1, NULL, 0);
		for (size_t i = 0; i < n && i < room; i++)
			to[i] = (uint8_t)(i + 1);
		return n;
	}
	if (!strncmp(text, "u8:", 3) || !strncmp(text, "int:", 4)) {
		v = (unsigned int)number(k, strchr(text, ':') + 1);
		memcpy(to, &v, sizeof(v));
		return text[0] == 'u' ? 1 : 4;
	}
	if (!strncmp(text, "path", 4))
		return world_path(text, to, room);
	memcpy(to, text, n < room ? n : room);
	return n;
}

/* An option's value lies before VAL_END; private data lies in the structure. */
static void set_bytes(struct call *k, const struct field *f, const char *text)
{
	uint8_t data[1024] = {0};
	size_t n = bytes_of(k, text, data, sizeof(data));
	uint64_t at = VAL_END - n;

	if (!strcmp(f->name, "value")) {
		memcpy(ptr(at), data, n);
		put(k, f->offset, 8, at);
	} else {
		memcpy(k->bytes + sizeof(struct rdma_ucm_cmd_hdr) + f->offset, data,
		       n < f->size ? n : f->size);
	}
	put(k, (size_t)f->length, f->length_size, n);
}

static void set_handle(struct call *k, const struct field *f, const char *text)
{
	if (isupper((unsigned char)text[0]) && !text[1]) {
		k->of = text[0];
		put(k, f->offset, 4, world.id[text[0] - 'A'].id);
		if (!world.id[text[0] - 'A'].known)
			snprintf(k->complaint, sizeof(k->complaint), "no id %c", text[0]);
		if (!k->file)
			k->file = world.id[text[0] - 'A'].file;
	} else {
		put(k, f->offset, 4, number(k, text));
	}
}

static void set_field(struct call *k, const char *name, const char *text)
{
	const struct field *f = command_field(k->c, name);
	uint8_t *at;
	size_t n;

	if (!f) {
		snprintf(k->complaint, sizeof(k->complaint), "no field %.40s", name);
		return;
	}
	switch (f->kind) {
	case NUMBER:
		put(k, f->offset, f->size, number(k, text));
		break;
	case HANDLE:
		set_handle(k, f, text);
		break;
	case BYTES:
		set_bytes(k, f, text);
		break;
	case ADDRESS:
		at = k->bytes + sizeof(struct rdma_ucm_cmd_hdr) + f->offset;
		memset(at, 0, f->size);
		n = world_address(text, at, f->size);
		if (!n)
			snprintf(k->complaint, sizeof(k->complaint), "no address: %.40s", text);
		if (f->length >= 0)
			put(k, (size_t)f->length, f->length_size, n);
		break;
	}
}

/* Events carry the letter of their id. */
static void set_uid(struct call *k, char letter)
{
	const struct field *f = command_field(k->c, "uid");

	if (f)
		put(k, f->offset, f->size, UID(letter));
}

static void set_as(struct call *k, char letter)
{
	k->as = letter;
	set_uid(k, letter);
}

static void set(struct call *k, const char *name, const char *text)
{
	if (!strcmp(name, "in"))
		k->in = (long)number(k, text);
	else if (!strcmp(name, "out"))
		k->out = (long)number(k, text);
	else if (!strcmp(name, "len"))
		k->len = (long)number(k, text);
	else if (!strcmp(name, "cut"))
		k->cut = (long)number(k, text);
	else if (!strcmp(name, "cmd"))
		k->number = (uint32_t)number(k, text);
	else if (!strcmp(name, "at"))
		k->at = number(k, text);
	else if (!strcmp(name, "as"))
		set_as(k, text[0]);
	else
		set_field(k, name, text);
}

static void set_words(struct call *k, char **word, unsigned int n)
{
	unsigned int position = 0;

	for (unsigned int i = 0; i < n; i++) {
		char *eq = strchr(word[i], '=');

		if (eq) {
			*eq = '\0';
			set(k, word[i], eq + 1);
		} else if (position < 3 && k->c->position[position]) {
			set(k, k->c->position[position++], word[i]);
		} else {
			snprintf(k->complaint, sizeof(k->complaint), "what is %.40s", word[i]);
		}
	}
}

static void set_defaults(struct call *k)
{
	char text[128], *save, *word[MAX_WORDS];
	unsigned int n = 0;

	snprintf(text, sizeof(text), "%s", k->c->defaults);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	set_words(k, word, n);
}

/* The id: a letter, a number, or the letter of what is made. */
static void set_id(struct call *k, char ***word, unsigned int *n)
{
	const struct command *c = k->c;

	if (!*n || strchr(**word, '='))
		return;
	if (c->number == RDMA_USER_CM_CMD_CREATE_ID || c->number == RDMA_USER_CM_CMD_GET_EVENT) {
		set_as(k, (**word)[0]);
	} else {
		set_field(k, "id", **word);
		if (k->of && c->number == RDMA_USER_CM_CMD_ACCEPT)
			set_uid(k, k->of);
	}
	++*word;
	--*n;
}

static void fill(uint64_t end, size_t n)
{
	memset(ptr(end - n), POISON, n);
}

/* The bytes of the answer that were written: to the last that is not poison any more. */
static size_t written(size_t room)
{
	const uint8_t *at = ptr(OUT_END - room);

	while (room && at[room - 1] == POISON)
		room--;
	return room;
}

static size_t place(struct call *k)
{
	const struct rdma_ucm_cmd_hdr h = {
		.cmd = k->number, .in = (uint16_t)k->in, .out = (uint16_t)k->out};
	size_t n = sizeof(h) + k->c->in;

	memcpy(k->bytes, &h, sizeof(h));
	if (k->cut >= 0)
		n = (size_t)k->cut;
	if (!k->at)
		k->at = IN_END - n;
	if (k->at >= IN_END - 4096 && k->at < IN_END)
		memcpy(ptr(k->at), k->bytes, k->at + n > IN_END ? IN_END - k->at : n);
	return k->len >= 0 ? (size_t)k->len : n;
}

static bool is_ud(const struct call *k, const void *answer)
{
	const void *cmd = k->bytes + sizeof(struct rdma_ucm_cmd_hdr);
	struct rdma_ucm_create_id make;

	if (k->c->number == RDMA_USER_CM_CMD_GET_EVENT)
		return world_is_ud(((const struct rdma_ucm_event_resp *)answer)->uid);
	if (k->c->number != RDMA_USER_CM_CMD_CREATE_ID)
		return true;
	memcpy(&make, cmd, sizeof(make));
	return make.ps == RDMA_PS_UDP || make.ps == RDMA_PS_IPOIB ||
	       (make.ps == RDMA_PS_IB && make.qp_type == 4 /* IB_QPT_UD */);
}

static void remember(struct call *k, const void *answer)
{
	uint32_t id;

	memcpy(&id, answer, sizeof(id));
	if (k->c->number == RDMA_USER_CM_CMD_GET_EVENT) {
		const struct rdma_ucm_event_resp *e = answer;

		if (e->event != 4 /* RDMA_CM_EVENT_CONNECT_REQUEST */)
			return;
		id = e->id;
	}
	world.id[k->as - 'A'].known = true;
	world.id[k->as - 'A'].ud = is_ud(k, answer);
	world.id[k->as - 'A'].id = id;
	world.id[k->as - 'A'].file = k->file;
}

static void fire(struct call *k, FILE *to)
{
	size_t n = place(k), room = k->out > 0 ? (size_t)k->out : 0, got;
	struct pollfd p = {.fd = world_file(k->file), .events = POLLIN};
	ssize_t r;

	if (room > 8192)
		room = 8192;
	fill(OUT_END, 8192);
	if (!strcmp(k->c->verb, "get") && poll(&p, 1, world.patience) != 1) {
		fprintf(to, "no event");
		return;
	}
	r = write(p.fd, ptr(k->at), n);
	if (r < 0) {
		const char *name = strerrorname_np(errno);

		if (name)
			fprintf(to, "%s", name);
		else
			fprintf(to, "errno %d", errno);
		return;
	}
	if ((size_t)r != n)
		fprintf(to, "%zd of %zu", r, n);
	got = written(room);
	if (k->as && k->c->out)
		remember(k, ptr(OUT_END - room));
	if (k->c->number == RDMA_USER_CM_CMD_MIGRATE_ID && k->of)
		world.id[k->of - 'A'].file = k->file;
	if (!k->c->show)
		fprintf(to, "0");
	else if (k->response != OUT_END - room)
		fprintf(to, "0 elsewhere");
	else
		k->c->show(to, ptr(OUT_END - room), got);
}

static void command_step(const struct command *c, int file, char **word, unsigned int n, FILE *to)
{
	struct call k = {.c = c,
			 .number = c->number,
			 .in = c->in,
			 .out = c->out,
			 .len = -1,
			 .cut = -1,
			 .file = file};
	const uint64_t none = UINT64_C(0x1122334455667788);

	if (c->response >= 0)
		put(&k, (size_t)c->response, 8, none);
	set_defaults(&k);
	set_id(&k, &word, &n);
	set_words(&k, word, n);
	if (!k.file)
		k.file = 1;
	if (c->response >= 0) {
		uint8_t *at = k.bytes + sizeof(struct rdma_ucm_cmd_hdr) + c->response;

		memcpy(&k.response, at, 8);
		if (k.response == none) {
			k.response = OUT_END - (uint64_t)(k.out < 8192 ? k.out : 8192);
			memcpy(at, &k.response, 8);
		}
	}
	if (k.complaint[0])
		fprintf(to, "?? %s", k.complaint);
	else
		fire(&k, to);
}

/* A second thread calls this, so it uses no memory that the steps use. */
int step_get_event(int fd, struct rdma_ucm_event_resp *resp)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_get_event cmd;
	} c = {.hdr = {.cmd = RDMA_USER_CM_CMD_GET_EVENT,
		       .in = sizeof(c.cmd),
		       .out = sizeof(*resp)},
	       .cmd = {.response = (uintptr_t)resp}};

	return write(fd, &c, sizeof(c)) < 0 ? -errno : 0;
}

void step_run(const char *text, char *answer, size_t room)
{
	char copy[1024], *save, *word[MAX_WORDS] = {NULL}, *at;
	const struct command *c;
	unsigned int n = 0;
	FILE *to = fmemopen(answer, room, "w");
	int file = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *w = strtok_r(copy, " ", &save); w && n < MAX_WORDS;
	     w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	at = n ? strchr(word[0], '@') : NULL;
	if (at) {
		*at = '\0';
		file = atoi(at + 1);
	}
	c = n ? command_find(word[0]) : NULL;
	if (c)
		command_step(c, file, word + 1, n - 1, to);
	else if (!n || !step_other(word, n, file, to))
		fprintf(to, "?? unknown step");
	fclose(to);
}
