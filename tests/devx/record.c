/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Preloaded before softhca's library: writes every ioctl of the uverbs device between
 * record_start() and record_stop() to the file $DEVX_RECORD, so that two runs can be compared:
 * header, attributes, the bytes of input buffers, and the result. Values that may differ between
 * runs are replaced: addresses by "ptr", handles and descriptors by their order of appearance.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_ATTRS 32
#define MAX_NAMES 4096

EXPORT void record_start(void);
EXPORT void record_stop(void);
EXPORT int ioctl(int fd, unsigned long request, ...);

enum kind { BYTES_IN, BYTES_OUT, ADDRESS, HANDLE, NEW_HANDLE, FD_IN, FD_NUM, NEW_FD };

/* Every attribute that does not contain input bytes. */
static const struct {
	uint16_t object, method, attr;
	enum kind kind;
} rows[] = {
#define DEVX(m, a, k)                                                                  \
	{                                                                              \
		MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_##m, MLX5_IB_ATTR_DEVX_##a, k \
	}
#define OBJ(m, a, k)                                                                           \
	{                                                                                      \
		MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_##m, MLX5_IB_ATTR_DEVX_##a, k \
	}
#define UMEM(m, a, k)                                                                            \
	{                                                                                        \
		MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_##m, MLX5_IB_ATTR_DEVX_##a, k \
	}
#define UAR(m, a, k)                                                                        \
	{                                                                                   \
		MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_##m, MLX5_IB_ATTR_UAR_OBJ_##a, k \
	}
	DEVX(OTHER, OTHER_CMD_OUT, BYTES_OUT),
	DEVX(QUERY_UAR, QUERY_UAR_DEV_IDX, BYTES_OUT),
	DEVX(QUERY_EQN, QUERY_EQN_DEV_EQN, BYTES_OUT),
	DEVX(SUBSCRIBE_EVENT, SUBSCRIBE_EVENT_FD_HANDLE, FD_IN),
	DEVX(SUBSCRIBE_EVENT, SUBSCRIBE_EVENT_OBJ_HANDLE, HANDLE),
	DEVX(SUBSCRIBE_EVENT, SUBSCRIBE_EVENT_FD_NUM, FD_NUM),
	OBJ(CREATE, OBJ_CREATE_HANDLE, NEW_HANDLE),
	OBJ(CREATE, OBJ_CREATE_CMD_OUT, BYTES_OUT),
	OBJ(DESTROY, OBJ_DESTROY_HANDLE, HANDLE),
	OBJ(MODIFY, OBJ_MODIFY_HANDLE, HANDLE),
	OBJ(MODIFY, OBJ_MODIFY_CMD_OUT, BYTES_OUT),
	OBJ(QUERY, OBJ_QUERY_HANDLE, HANDLE),
	OBJ(QUERY, OBJ_QUERY_CMD_OUT, BYTES_OUT),
	OBJ(ASYNC_QUERY, OBJ_QUERY_ASYNC_HANDLE, HANDLE),
	OBJ(ASYNC_QUERY, OBJ_QUERY_ASYNC_FD, FD_IN),
	UMEM(REG, UMEM_REG_HANDLE, NEW_HANDLE),
	UMEM(REG, UMEM_REG_ADDR, ADDRESS),
	UMEM(REG, UMEM_REG_OUT_ID, BYTES_OUT),
	UMEM(REG, UMEM_REG_DMABUF_FD, FD_IN),
	UMEM(DEREG, UMEM_DEREG_HANDLE, HANDLE),
	{MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
	 MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, NEW_FD},
	{MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
	 MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, NEW_FD},
	UAR(ALLOC, ALLOC_HANDLE, NEW_HANDLE),
	UAR(ALLOC, ALLOC_MMAP_OFFSET, BYTES_OUT),
	UAR(ALLOC, ALLOC_MMAP_LENGTH, BYTES_OUT),
	UAR(ALLOC, ALLOC_PAGE_ID, BYTES_OUT),
	UAR(DESTROY, DESTROY_HANDLE, HANDLE),
};

/*
 * Values in the order of their first appearance; a number means the same object until it is made
 * anew.
 */
struct names {
	int64_t value[MAX_NAMES];
	unsigned int n;
};

static struct names handles, fds;
static FILE *out;

static unsigned int name_new(struct names *t, int64_t v)
{
	if (t->n == MAX_NAMES)
		abort();
	t->value[t->n] = v;
	return t->n++;
}

static unsigned int name_of(struct names *t, int64_t v)
{
	for (unsigned int i = t->n; i-- > 0;)
		if (t->value[i] == v)
			return i;
	return name_new(t, v);
}

EXPORT void record_start(void)
{
	const char *path = getenv("DEVX_RECORD");

	if (path && !out)
		out = fopen(path, "a");
}

EXPORT void record_stop(void)
{
	if (out)
		fclose(out);
	out = NULL;
}

static enum kind kind_of(const struct ib_uverbs_ioctl_hdr *h, const struct ib_uverbs_attr *a)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].object == h->object_id && rows[i].method == h->method_id &&
		    rows[i].attr == a->attr_id)
			return rows[i].kind;
	return BYTES_IN;
}

/*
 * Is it an address of this program (where a PIE, its heap, libraries and stacks are)? Then it is a
 * buffer's, big-endian in a command.
 */
static bool is_address(uint64_t v)
{
	return v >= 0x500000000000 && v <= 0x7fffffffffff;
}

static void write_bytes(const uint8_t *p, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++) {
		uint64_t be;

		if (i % 4 == 0 && len - i >= 8) {
			memcpy(&be, p + i, sizeof(be));
			be = __builtin_bswap64(be);
			if (is_address(be)) {
				fprintf(out, " ptr+%03x ", (unsigned int)(be & 0xfff));
				i += 7;
				continue;
			}
		}
		fprintf(out, i % 4 == 3 ? "%02x " : "%02x", p[i]);
	}
}

/* The address may be bad: the program gets the kernel's error. */
static void write_buffer(const struct ib_uverbs_attr *a)
{
	static uint8_t copy[UINT16_MAX];
	struct iovec to = {copy, a->len}, from = {(void *)(uintptr_t)a->data, a->len};

	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == a->len)
		write_bytes(copy, a->len);
	else
		fputs("unreadable", out);
}

static void write_data(enum kind kind, const struct ib_uverbs_attr *a)
{
	switch (kind) {
	case BYTES_IN:
		if (a->len > sizeof(a->data))
			write_buffer(a);
		else
			write_bytes((const uint8_t *)&a->data, sizeof(a->data));
		break;
	case BYTES_OUT:
		fputs(a->data ? "out" : "out NULL", out);
		break;
	case ADDRESS:
		fprintf(out, "ptr+%03x", (unsigned int)(a->data & 0xfff));
		break;
	case HANDLE:
		fprintf(out, "handle %u", name_of(&handles, (int64_t)a->data));
		break;
	case FD_IN:
		fprintf(out, "fd %u", name_of(&fds, a->data_s64));
		break;
	case FD_NUM:
		fprintf(out, "fd %u", name_of(&fds, (int64_t)(uint32_t)a->data));
		break;
	case NEW_HANDLE:
	case NEW_FD:
		fprintf(out, "new %lld", (long long)a->data_s64);
		break;
	}
}

static void write_call(const struct ib_uverbs_ioctl_hdr *h)
{
	fprintf(out, "object %x method %x length %u attrs %u driver %u reserved %llx %x\n",
		h->object_id, h->method_id, h->length, h->num_attrs, h->driver_id,
		(unsigned long long)h->reserved1, h->reserved2);
	for (unsigned int i = 0; i < h->num_attrs && i < MAX_ATTRS; i++) {
		const struct ib_uverbs_attr *a = &h->attrs[i];

		fprintf(out, "\tattr %x len %u flags %x reserved %x: ", a->attr_id, a->len,
			a->flags, a->attr_data.reserved);
		write_data(kind_of(h, a), a);
		fputc('\n', out);
	}
}

static void note_results(const struct ib_uverbs_ioctl_hdr *h)
{
	for (unsigned int i = 0; i < h->num_attrs && i < MAX_ATTRS; i++) {
		const struct ib_uverbs_attr *a = &h->attrs[i];

		switch (kind_of(h, a)) {
		case NEW_HANDLE:
			fprintf(out, "\thandle %u\n", name_new(&handles, (int64_t)a->data));
			break;
		case NEW_FD:
			fprintf(out, "\tfd %u\n", name_new(&fds, a->data_s64));
			break;
		default:
			break;
		}
	}
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	const bool ours = request == RDMA_VERBS_IOCTL && out;
	int r, saved;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!next)
		next = (int (*)(int, unsigned long, ...))(uintptr_t)dlsym(RTLD_NEXT, "ioctl");
	if (ours)
		write_call(arg);
	r = next(fd, request, arg);
	saved = errno;
	if (ours && r)
		fprintf(out, "\t= %s\n", strerrorname_np(saved));
	else if (ours)
		note_results(arg);
	errno = saved;
	return r;
}
