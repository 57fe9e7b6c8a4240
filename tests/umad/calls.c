/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad by system calls: registration, write(), dispatch, time-outs, read(). Each rule is cited by
 * function: those named ib_umad_* and copy_* are in drivers/infiniband/core/user_mad.c, the others
 * in mad.c or smi.c. Two adapters: LIDs 1 (umad0) and 2 (umad1).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <rdma/ib_user_mad.h>

#define GET 0x01
#define GET_RESP 0x81
#define VENDOR 0x0b
#define HDR 64
/* No address of ours; not a constant, which compilers would look through. */
static void *volatile nowhere = (void *)16;
#define MAD 256

struct packet {
	struct ib_user_mad_hdr hdr;
	uint8_t mad[MAD];
};

#define assert_fails(call, err)                 \
	do {                                    \
		errno = 0;                      \
		assert_int_equal((call), -1);   \
		assert_int_equal(errno, (err)); \
	} while (0)

static int umad(unsigned int n)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/umad%u", n);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* ---- registration: a row per rule */

struct reg {
	const char *name, *rule;
	int err; /* 0: registered */
	uint32_t qpn;
	uint8_t mgmt_class, version, rmpp;
	uint32_t oui, flags;
	uint64_t methods[2];
};

static const struct reg regs[] = {
	{"SMI LID routed", "ib_register_mad_agent", 0, 0, 0x01, 1},
	{"SMI directed", "ib_register_mad_agent", 0, 0, 0x81, 1},
	{"SA", "ib_register_mad_agent", 0, 1, 0x03, 2},
	{"SA with RMPP", "ib_register_mad_agent", 0, 1, 0x03, 2, 1},
	{"PMA", "ib_register_mad_agent", 0, 1, 0x04, 1},
	{"device management with RMPP", "ib_is_mad_class_rmpp", 0, 1, 0x06, 1, 1},
	{"device administration with RMPP", "ib_is_mad_class_rmpp", 0, 1, 0x10, 1, 1},
	{"BIS with RMPP", "ib_is_mad_class_rmpp", 0, 1, 0x12, 1, 1},
	{"vendor range 2", "ib_register_mad_agent", 0, 1, 0x30, 1, 0, 0x1234},
	{"vendor range 2 with RMPP", "ib_is_mad_class_rmpp", 0, 1, 0x4f, 1, 1, 0x1234},
	{"vendor range 1 needs no OUI", "is_vendor_class", 0, 1, 0x0a, 1},
	{"without class", "ib_umad_reg_agent", 0, 1, 0},
	{"without class on QP0", "ib_umad_reg_agent", 0, 0, 0},
	{"without class, its version is not looked at", "ib_umad_reg_agent", 0, 1, 0, 0xff},
	{"without class, with RMPP", "ib_register_mad_agent", 0, 1, 0, 0, 1},
	{"highest class", "MAX_MGMT_CLASS", 0, 1, 0x4f, 1, 0, 1},
	{"highest version", "MAX_MGMT_VERSION", 0, 1, 0x0a, 0x82},
	{"QPN 2", "ib_umad_reg_agent", EINVAL, 2, 0x04, 1},
	{"QPN 255", "ib_umad_reg_agent", EINVAL, 255, 0x04, 1},
	{"RMPP version 2", "ib_register_mad_agent", EINVAL, 1, 0x03, 2, 2},
	{"RMPP version 2 without class", "ib_register_mad_agent", EINVAL, 1, 0, 0, 2},
	{"RMPP for PMA", "ib_register_mad_agent", EINVAL, 1, 0x04, 1, 1},
	{"RMPP for SMI", "ib_register_mad_agent", EINVAL, 0, 0x01, 1, 1},
	{"RMPP for vendor range 1", "ib_register_mad_agent", EINVAL, 1, 0x0a, 1, 1},
	{"class version too high", "MAX_MGMT_VERSION", EINVAL, 1, 0x0a, 0x83},
	{"class too high", "MAX_MGMT_CLASS", EINVAL, 1, 0x50, 1},
	{"class 0x80", "MAX_MGMT_CLASS", EINVAL, 0, 0x80, 1},
	{"class 0x82", "MAX_MGMT_CLASS", EINVAL, 1, 0x82, 1},
	{"vendor range 2 without OUI", "is_vendor_oui", EINVAL, 1, 0x30, 1},
	{"vendor range 2, last class, without OUI", "is_vendor_oui", EINVAL, 1, 0x4f, 1},
	{"SMI on QP1", "ib_register_mad_agent", EINVAL, 1, 0x01, 1},
	{"directed SMI on QP1", "ib_register_mad_agent", EINVAL, 1, 0x81, 1},
	{"PMA on QP0", "ib_register_mad_agent", EINVAL, 0, 0x04, 1},
	{"SA on QP0", "ib_register_mad_agent", EINVAL, 0, 0x03, 2},
};

/* Of the second ioctl only. */
static const struct reg regs2[] = {
	{"user RMPP", "ib_umad_reg_agent2", 0, 1, 0x03, 2, 1, 0, IB_USER_MAD_USER_RMPP},
	{"user RMPP flag without RMPP", "ib_register_mad_agent", 0, 1, 0x04, 1, 0, 0,
	 IB_USER_MAD_USER_RMPP},
	{"user RMPP without class", "ib_register_mad_agent", EINVAL, 1, 0, 0, 0, 0,
	 IB_USER_MAD_USER_RMPP},
	{"unknown flag", "ib_umad_reg_agent2", EINVAL, 1, 0x03, 2, 0, 0, 2},
	{"OUI of more than 24 bits", "ib_umad_reg_agent2", EINVAL, 1, 0x30, 1, 0, 0x1000000},
	{"OUI of more than 24 bits without class", "ib_umad_reg_agent2", 0, 1, 0, 0, 0, 0x1000000},
	{"QPN beyond a byte", "ib_umad_reg_agent2", EINVAL, 256, 0x04, 1},
};

/* The agent's id, or -1. */
static int do_reg(int fd, const struct reg *r)
{
	struct ib_user_mad_reg_req q = {
		.qpn = (uint8_t)r->qpn,
		.mgmt_class = r->mgmt_class,
		.mgmt_class_version = r->version,
		.oui = {(uint8_t)(r->oui >> 16), (uint8_t)(r->oui >> 8), (uint8_t)r->oui},
		.rmpp_version = r->rmpp,
		.id = 0xdead,
	};

	memcpy(q.method_mask, r->methods, sizeof(q.method_mask));
	if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &q)) {
		assert_int_equal(q.id, 0xdead);
		return -1;
	}
	return (int)q.id;
}

static int do_reg2(int fd, const struct reg *r)
{
	struct ib_user_mad_reg_req2 q = {
		.qpn = r->qpn,
		.mgmt_class = r->mgmt_class,
		.mgmt_class_version = r->version,
		.oui = r->oui,
		.rmpp_version = r->rmpp,
		.flags = r->flags,
	};

	memcpy(q.method_mask, r->methods, sizeof(q.method_mask));
	if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &q)) {
		if (r->flags & ~1u)
			assert_int_equal(q.flags, IB_USER_MAD_REG_FLAGS_CAP);
		return -1;
	}
	return (int)q.id;
}

static void check_row(const struct reg *r, int (*reg)(int fd, const struct reg *r))
{
	int fd = umad(0), id, err;

	errno = 0;
	id = reg(fd, r);
	err = id < 0 ? errno : 0;
	if (err != r->err)
		fail_msg("%s (%s): errno %d, not %d", r->name, r->rule, err, r->err);
	if (!err)
		assert_int_equal(id, 0);
	close(fd);
}

static void test_registration_rules(void **state)
{
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		check_row(&regs[i], do_reg);
		check_row(&regs[i], do_reg2);
	}
	for (size_t i = 0; i < sizeof(regs2) / sizeof(regs2[0]); i++)
		check_row(&regs2[i], do_reg2);
}

static const struct reg any = {.qpn = 1, .mgmt_class = VENDOR, .version = 1};

/* ib_umad_reg_agent: IB_UMAD_MAX_AGENTS, the lowest free id; ib_umad_unreg_agent */
static void test_ids(void **state)
{
	uint32_t id = 7, none = 40;
	int fd = umad(0);

	for (int i = 0; i < 32; i++)
		assert_int_equal(do_reg(fd, &any), i);
	assert_fails(do_reg(fd, &any), ENOMEM);
	assert_fails(do_reg2(fd, &any), ENOMEM);
	assert_int_equal(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id), 0);
	assert_fails(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id), EINVAL);
	assert_fails(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &none), EINVAL);
	assert_fails(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, NULL), EFAULT);
	assert_int_equal(do_reg(fd, &any), 7);
	close(fd);
}

/* ib_umad_reg_agent, ib_umad_ioctl, ib_umad_enable_pkey */
static void test_ioctls(void **state)
{
	int fd = umad(0);

	assert_fails(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, NULL), EFAULT);
	assert_fails(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, NULL), EFAULT);
	assert_fails(ioctl(fd, _IO(IB_IOCTL_MAGIC, 5), NULL), ENOTTY);
	assert_int_equal(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), 0);
	assert_int_equal(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), 0);
	assert_int_equal(do_reg(fd, &any), 0);
	assert_fails(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), EINVAL);
	close(fd);
}

/* method_in_use(), of all processes on the port; remove_mad_reg_req() at close */
static void test_methods_belong_to_one_agent(void **state)
{
	const struct reg get = {.qpn = 1, .mgmt_class = VENDOR, .version = 1, .methods = {1 << 1}};
	const struct reg more = {
		.qpn = 1, .mgmt_class = VENDOR, .version = 1, .methods = {1 << 1 | 1 << 2, 5}};
	const struct reg other = {.qpn = 1, .mgmt_class = VENDOR, .version = 1, .methods = {0, 5}};
	const struct reg version = {.qpn = 1, .mgmt_class = VENDOR, .version = 2, .methods = {2}};
	const struct reg oui1 = {
		.qpn = 1, .mgmt_class = 0x31, .version = 1, .oui = 1, .methods = {2}};
	const struct reg oui2 = {
		.qpn = 1, .mgmt_class = 0x31, .version = 1, .oui = 2, .methods = {2}};
	int a = umad(0), b = umad(0), c = umad(1), status;
	pid_t pid;

	assert_true(do_reg(a, &get) >= 0);
	assert_fails(do_reg(a, &get), EINVAL);
	assert_fails(do_reg(b, &more), EINVAL);
	assert_true(do_reg(b, &other) >= 0);
	assert_true(do_reg(b, &version) >= 0);
	assert_true(do_reg(c, &more) >= 0); /* another port */
	assert_true(do_reg(a, &oui1) >= 0);
	assert_true(do_reg(b, &oui2) >= 0);
	assert_fails(do_reg2(b, &oui1), EINVAL);
	pid = fork();
	if (!pid) {
		int d = open("/dev/infiniband/umad0", O_RDWR);

		_exit(d < 0 || do_reg(d, &get) >= 0 || errno != EINVAL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(a);
	assert_true(do_reg(b, &get) >= 0);
	close(b);
	close(c);
}

/* add_oui_reg_req(): MAX_MGMT_OUI of one vendor class */
static void test_eight_ouis(void **state)
{
	struct reg r = {.qpn = 1, .mgmt_class = 0x32, .version = 1, .methods = {2}};
	int fd = umad(0);

	for (r.oui = 1; r.oui <= 8; r.oui++)
		assert_true(do_reg(fd, &r) >= 0);
	assert_fails(do_reg(fd, &r), ENOMEM);
	r.mgmt_class = 0x33;
	assert_true(do_reg(fd, &r) >= 0);
	close(fd);
}

/* ---- write() */

static void be16(uint8_t *p, unsigned int v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* A request: the low half of its transaction ID is `tid`. */
static struct packet mad(uint32_t qpn, uint16_t lid, uint8_t mgmt_class, uint8_t method,
			 uint16_t attr, uint8_t tid)
{
	struct packet p = {.hdr = {.timeout_ms = 20, .lid = htons(lid), .qpn = htonl(qpn)}};

	p.mad[0] = 1;
	p.mad[1] = mgmt_class;
	p.mad[2] = 1;
	p.mad[3] = method;
	p.mad[15] = tid;
	be16(p.mad + 16, attr);
	if (mgmt_class == 0x81) {
		be16(p.mad + 32, 0xffff);
		be16(p.mad + 34, 0xffff);
	}
	return p;
}

/* Registered by the second ioctl, so with the long header. */
static int agent(int fd, uint32_t qpn, uint8_t mgmt_class, uint64_t methods)
{
	const struct reg r = {
		.qpn = qpn, .mgmt_class = mgmt_class, .version = 1, .methods = {methods}};
	int id = do_reg2(fd, &r);

	assert_true(id >= 0);
	return id;
}

static void wait_readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, ms), 1);
	assert_int_equal(p.revents, POLLIN);
}

/* ib_umad_write(), ib_create_send_mad() */
static void test_what_write_refuses(void **state)
{
	struct packet p = mad(1, 1, 0x04, GET, 1, 1);
	int fd = umad(0), rd = open("/dev/infiniband/umad0", O_RDONLY);
	uint8_t big[1024] = {0};

	assert_fails(write(rd, &p, sizeof(p)), EBADF);
	assert_fails(write(fd, &p, sizeof(p)), EIO); /* no agent; the header is the short one */
	agent(fd, 1, 0x04, 0);
	assert_fails(write(fd, &p, 0), EINVAL);
	assert_fails(write(fd, &p, HDR), EINVAL);
	assert_fails(write(fd, &p, HDR + 35), EINVAL);
	assert_fails(write(fd, nowhere, HDR + 36), EFAULT);
	memcpy(big, &p, sizeof(p));
	assert_fails(write(fd, big, HDR + MAD + 1), EINVAL);
	assert_fails(write(fd, big, sizeof(big)), EINVAL);
	p.hdr.id = 1;
	assert_fails(write(fd, &p, sizeof(p)), EIO);
	p.hdr.id = 31;
	assert_fails(write(fd, &p, sizeof(p)), EIO);
	p.hdr.id = 32;
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
	p.hdr.id = UINT32_MAX;
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
	p.hdr.id = 0;
	p.mad[1] = 0x03; /* its header alone is 56 bytes */
	assert_fails(write(fd, &p, HDR + 55), EINVAL);
	p.mad[1] = 0x06;
	assert_fails(write(fd, &p, HDR + 63), EINVAL);
	p.mad[1] = 0x04;
	p.hdr.grh_present = 1; /* rdma_create_user_ah(): the entry is beyond the table, or empty */
	p.hdr.gid_index = 200;
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
	p.hdr.gid_index = 7;
	assert_fails(write(fd, &p, sizeof(p)), ENODATA);
	assert_fails(read(fd, big, sizeof(big)), EAGAIN); /* nothing was sent */
	close(rd);
	close(fd);
}

/* ib_post_send_mad(): an agent with RMPP and a class without; RMPP itself is in rmpp.c */
static void test_rmpp_agents(void **state)
{
	const struct reg sa = {.qpn = 1, .mgmt_class = 3, .version = 2, .rmpp = 1};
	struct packet p = mad(1, 1, 0x04, GET, 1, 1);
	int fd = umad(0);

	assert_int_equal(do_reg2(fd, &sa), 0);
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
	p.mad[1] = 0x03;
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	wait_readable(fd, 1000); /* nobody serves it: refused with status 0x000c */
	assert_int_equal(read(fd, &p, sizeof(p)), sizeof(p));
	assert_int_equal(p.mad[3], GET_RESP);
	assert_int_equal(p.mad[5], 0x0c);
	close(fd);
}

/* ---- answers */

/* recv_handler(): what the header of an answer says; its bytes come whole */
static void test_an_answer(void **state)
{
	struct packet p = mad(0, 2, 0x01, GET, 0x11, 9), in;
	int fd = umad(0), id;

	agent(fd, 1, 0x04, 0);
	id = agent(fd, 0, 0x01, 0);
	p.hdr.id = (uint32_t)id;
	p.mad[8] = 0xee; /* the high half of the transaction ID is the agent's */
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	wait_readable(fd, 0);
	assert_fails(read(fd, &in, HDR - 1), EINVAL);
	assert_fails(read(fd, &in, HDR + MAD - 1), EINVAL); /* copy_recv_mad(): and it stays */
	assert_fails(read(fd, nowhere, sizeof(in)), EFAULT);
	memset(&in, 0x5a, sizeof(in));
	assert_int_equal(read(fd, &in, sizeof(in)), sizeof(in));
	assert_int_equal(in.hdr.id, id);
	assert_int_equal(in.hdr.status, 0);
	assert_int_equal(in.hdr.length, sizeof(in));
	assert_int_equal(in.hdr.lid, htons(2));
	assert_int_equal(in.hdr.qpn, 0);
	assert_int_equal(in.mad[3], GET_RESP);
	assert_int_equal(in.mad[15], 9);
	assert_int_not_equal(in.mad[8], 0xee);
	assert_int_equal(in.mad[64 + 2], 1); /* NodeType: channel adapter */
	assert_fails(read(fd, &in, sizeof(in)), EAGAIN);
	assert_int_equal(poll(&(struct pollfd){.fd = fd, .events = POLLIN | POLLOUT}, 1, 0), 1);
	close(fd);
}

/* hdr_size(): without ENABLE_PKEY the header has 56 bytes */
static void test_the_short_header(void **state)
{
	struct packet p = mad(0, 1, 0x01, GET, 0x11, 1);
	const struct reg smi = {.mgmt_class = 1, .version = 1};
	uint8_t out[56 + MAD], in[HDR + MAD];
	int fd = umad(0);

	assert_int_equal(do_reg(fd, &smi), 0);
	memcpy(out, &p.hdr, 56);
	memcpy(out + 56, p.mad, MAD);
	assert_int_equal(write(fd, out, sizeof(out)), sizeof(out));
	assert_int_equal(read(fd, in, sizeof(in)), sizeof(out));
	assert_int_equal(((struct ib_user_mad_hdr_old *)in)->length, sizeof(out));
	assert_int_equal(in[56 + 3], GET_RESP);
	assert_int_equal(in[56 + 64 + 2], 1);
	close(fd);
}

/* A MAD without room for all of its 256 bytes: the rest is zero (ib_create_send_mad()). */
static void test_a_short_mad(void **state)
{
	struct packet p = mad(0, 1, 0x01, GET, 0x11, 1), in;
	int fd = umad(0);

	agent(fd, 0, 0x01, 0);
	assert_int_equal(write(fd, &p, HDR + 36), HDR + 36);
	assert_int_equal(read(fd, &in, sizeof(in)), sizeof(in));
	assert_int_equal(in.mad[64 + 2], 1);
	close(fd);
}

/* GID 0 of a device's port 1. */
static void gid_of(const char *dev, uint8_t gid[16])
{
	char path[80], text[40] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/0", dev);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, text, 39), 39);
	close(fd);
	assert_int_equal(inet_pton(AF_INET6, text, gid), 1);
}

/* recv_handler(): the answer to a MAD with GRH has one; a GID that is not the port's gets nowhere
 */
static void test_grh(void **state)
{
	struct packet p = mad(1, 2, 0x04, GET, 1, 1), in;
	int fd = umad(0);

	agent(fd, 1, 0x04, 0);
	p.hdr.grh_present = 1;
	p.hdr.flow_label = htonl(0x12345);
	gid_of("mlx5_1", p.hdr.gid);
	p.hdr.hop_limit = 64;
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	assert_int_equal(read(fd, &in, sizeof(in)), sizeof(in));
	assert_int_equal(in.hdr.grh_present, 1);
	assert_memory_equal(in.hdr.gid, p.hdr.gid, 16);
	assert_int_equal(in.mad[3], GET_RESP);
	gid_of("mlx5_0", p.hdr.gid);
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	wait_readable(fd, 1000);
	assert_int_equal(read(fd, &in, sizeof(in)), HDR + 24);
	assert_int_equal(in.hdr.status, ETIMEDOUT);
	close(fd);
}

/* Status of what an agent of the adapter has not: {class, attribute, modifier} */
static void test_statuses(void **state)
{
	static const struct {
		uint32_t qpn;
		uint8_t mgmt_class, method;
		uint16_t attr, mod;
		uint16_t status;
	} rows[] = {
		{0, 0x01, 1, 0x10, 0, 0},      {0, 0x01, 1, 0x12, 0, 0x0c},
		{0, 0x01, 1, 0x15, 1, 0},      {0, 0x01, 1, 0x15, 2, 0x1c},
		{0, 0x01, 1, 0x16, 1, 0x1c},   {0, 0x01, 1, 0x14, 1, 0x1c},
		{0, 0x01, 1, 0x18, 0, 0x1c},   {0, 0x01, 2, 0x15, 0, 0x0c},
		{0, 0x01, 1, 0x20, 0, 0x0c}, /* SMInfo: no agent; generate_unmatched_resp() */
		{0, 0x81, 1, 0x10, 0, 0x8000}, {0, 0x81, 1, 0x12, 0, 0x800c},
		{1, 0x04, 1, 0x01, 0, 0},      {1, 0x04, 1, 0x77, 0, 0x0c},
		{1, 0x04, 2, 0x01, 0, 0x0c},   {1, VENDOR, 1, 0x01, 0, 0x0c},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct packet p =
			mad(rows[i].qpn, 1, rows[i].mgmt_class, rows[i].method, rows[i].attr, 1);
		int fd = umad(0);

		be16(p.mad + 22, rows[i].mod);
		agent(fd, rows[i].qpn, rows[i].mgmt_class, 0);
		assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
		assert_int_equal(read(fd, &p, sizeof(p)), sizeof(p));
		assert_int_equal(p.mad[3], GET_RESP);
		if ((p.mad[4] << 8 | p.mad[5]) != rows[i].status)
			fail_msg("row %zu: status %#x", i, p.mad[4] << 8 | p.mad[5]);
		close(fd);
	}
}

/* smi_handle_dr_smp_send() */
static void test_directed_routes(void **state)
{
	static const struct {
		uint8_t status, ptr, cnt, path1;
		uint16_t slid, dlid;
		int err; /* 0 answered; EINVAL; ETIMEDOUT */
	} rows[] = {
		{0, 0, 0, 0, 0xffff, 0xffff, 0},       /* C14-9:3 */
		{0, 1, 0, 0, 0xffff, 0xffff, 0},       /* C14-9:4 */
		{0, 2, 0, 0, 0xffff, 0xffff, EINVAL},  /* C14-9:5 */
		{0, 0, 0, 0, 0xffff, 1, EINVAL},       /* C14-9:3 */
		{0, 0, 1, 2, 0xffff, 0xffff, EINVAL},  /* C14-9:1, no such port */
		{0, 1, 2, 1, 0xffff, 0xffff, EINVAL},  /* C14-9:2 */
		{0, 0, 64, 1, 0xffff, 0xffff, EINVAL}, /* C14-6 */
		{0, 0, 1, 1, 0xffff, 0xffff, ETIMEDOUT} /* out of the port, to nobody */,
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct packet p = mad(0, 0xffff, 0x81, GET, 0x11, 1);
		int fd = umad(0);

		agent(fd, 0, 0x81, 0);
		p.mad[6] = rows[i].ptr;
		p.mad[7] = rows[i].cnt;
		p.mad[129] = rows[i].path1;
		be16(p.mad + 32, rows[i].slid);
		be16(p.mad + 34, rows[i].dlid);
		if (rows[i].err == EINVAL) {
			assert_fails(write(fd, &p, sizeof(p)), EINVAL);
			close(fd);
			continue;
		}
		assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
		wait_readable(fd, 1000);
		assert_true(read(fd, &p, sizeof(p)) > 0);
		assert_int_equal(p.hdr.status, rows[i].err);
		if (!rows[i].err)
			assert_int_equal(p.hdr.lid, 0xffff); /* local_completions() */
		close(fd);
	}
}

/* ---- nobody answers */

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* send_handler(), timeout_sends(): status, the MAD's header only; after all retries */
static void test_time_out(void **state)
{
	struct packet p = mad(1, 77, 0x04, GET, 1, 5), in;
	int fd = umad(0), ep = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN};
	long start = now_ms();

	agent(fd, 1, 0x04, 0);
	p.hdr.retries = 2;
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	assert_fails(write(fd, &p, sizeof(p)), EINVAL); /* is_duplicate() */
	assert_fails(read(fd, &in, sizeof(in)), EAGAIN);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	assert_int_equal(epoll_wait(ep, &ev, 1, 2000), 1);
	assert_in_range(now_ms() - start, 59, 1000);
	assert_fails(read(fd, &in, HDR + 23), EINVAL);
	assert_int_equal(read(fd, &in, sizeof(in)), HDR + 24);
	assert_int_equal(in.hdr.status, ETIMEDOUT);
	assert_int_equal(in.hdr.id, 0);
	assert_int_equal(in.mad[15], 5);
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p)); /* no duplicate any more */
	close(ep);
	close(fd);
}

/* A blocking read() gets it too. */
static void test_blocking_read(void **state)
{
	struct packet p = mad(1, 77, 0x04, GET, 1, 5);
	int fd = umad(0);

	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	agent(fd, 1, 0x04, 0);
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	assert_int_equal(read(fd, &p, sizeof(p)), HDR + 24);
	assert_int_equal(p.hdr.status, ETIMEDOUT);
	close(fd);
}

/* unregister_mad_agent(), cancel_mads(): no word of what was under way */
static void test_unregistering_cancels(void **state)
{
	struct packet p = mad(1, 77, 0x04, GET, 1, 5);
	int fd = umad(0);
	uint32_t id = 0;

	agent(fd, 1, 0x04, 0);
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	assert_int_equal(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id), 0);
	assert_int_equal(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 60), 0);
	close(fd);
}

/* ib_find_send_mad(): without a time-out nobody waits for the answer; a directed one comes */
static void test_no_time_out_no_answer(void **state)
{
	struct packet p = mad(0, 1, 0x01, GET, 0x11, 1);
	int fd = umad(0);

	agent(fd, 0, 0x01, 0);
	p.hdr.timeout_ms = 0;
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	assert_fails(read(fd, &p, sizeof(p)), EAGAIN);
	p = mad(0, 0xffff, 0x81, GET, 0x11, 1);
	p.hdr.timeout_ms = 0;
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	assert_int_equal(read(fd, &p, sizeof(p)), sizeof(p));
	close(fd);
}

/* ---- programs among themselves */

/* find_mad_agent(): a request by class, version and method; its answer by transaction ID */
static void test_a_server_in_another_process(void **state)
{
	struct packet p = mad(1, 2, VENDOR, GET, 0x99, 3), in;
	int fd = umad(0), up[2], status;
	pid_t pid;
	char c;

	assert_int_equal(pipe(up), 0);
	pid = fork();
	if (!pid) {
		int s = umad(1);

		assert_int_equal(fcntl(s, F_SETFL, 0), 0);
		agent(s, 1, VENDOR, 1 << GET);
		if (write(up[1], "", 1) != 1 || read(s, &in, sizeof(in)) != sizeof(in))
			_exit(1);
		if (in.hdr.lid != htons(1) || in.hdr.qpn != htonl(1) || in.mad[100] != 0x77)
			_exit(2);
		in.mad[3] = GET_RESP;
		in.mad[101] = 0x78;
		in.hdr.timeout_ms = 0;
		/* A stranger's transaction ID first: nobody gets it. */
		in.mad[12] ^= 0xff;
		if (write(s, &in, sizeof(in)) != sizeof(in))
			_exit(3);
		in.mad[12] ^= 0xff;
		_exit(write(s, &in, sizeof(in)) != sizeof(in));
	}
	assert_int_equal(read(up[0], &c, 1), 1);
	agent(fd, 1, VENDOR, 0);
	p.hdr.timeout_ms = 5000;
	p.mad[100] = 0x77;
	assert_int_equal(write(fd, &p, sizeof(p)), sizeof(p));
	wait_readable(fd, 5000);
	assert_int_equal(read(fd, &in, sizeof(in)), sizeof(in));
	assert_int_equal(in.mad[101], 0x78);
	assert_int_equal(in.hdr.lid, htons(2));
	assert_fails(read(fd, &in, sizeof(in)), EAGAIN);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(up[0]);
	close(up[1]);
	close(fd);
}

/* A killed process leaves no agent behind. */
static void test_death_frees_agents(void **state)
{
	const struct reg get = {.qpn = 1, .mgmt_class = VENDOR, .version = 1, .methods = {2}};
	int fd = umad(0), up[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(up), 0);
	pid = fork();
	if (!pid) {
		int d = umad(0);

		if (do_reg(d, &get) < 0 || write(up[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(up[0], &c, 1), 1);
	assert_fails(do_reg(fd, &get), EINVAL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 2000 && do_reg(fd, &get) < 0; i++)
		poll(NULL, 0, 1);
	assert_fails(do_reg(fd, &get), EINVAL); /* now it is ours */
	close(up[0]);
	close(up[1]);
	close(fd);
}

#define T(name) cmocka_unit_test(test_##name)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(registration_rules),
		T(ids),
		T(ioctls),
		T(methods_belong_to_one_agent),
		T(eight_ouis),
		T(what_write_refuses),
		T(rmpp_agents),
		T(an_answer),
		T(the_short_header),
		T(a_short_mad),
		T(grh),
		T(statuses),
		T(directed_routes),
		T(time_out),
		T(blocking_read),
		T(unregistering_cancels),
		T(no_time_out_no_answer),
		T(a_server_in_another_process),
		T(death_frees_agents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
