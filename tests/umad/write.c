/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs that write() accepts and refuses, and the bytes that are sent: ib_umad_write(),
 * ib_create_send_mad().
 */
#include "umad.h"

#include <stdlib.h>
#include <sys/uio.h>

/* ---- a row per rule: the MAD that agent 0 writes */

enum { ALL = 1 << 20 };

struct row {
	const char *name, *rule;
	int err; /* 0: sent, and answered at once */
	size_t count;
	size_t there; /* number of mapped bytes; ALL */
	struct reg reg;
	uint8_t mgmt_class;
	uint32_t id;
	uint8_t rmpp_flags;
	bool grh;
	uint8_t gid_index;
};

#define PMA .reg = {.qpn = 1, .mgmt_class = PERF, .version = 1}, .mgmt_class = PERF
#define OF(c) .reg = {.qpn = 1}, .mgmt_class = (c)
#define RMPP(c, f)                                                                  \
	.reg = {.qpn = 1, .mgmt_class = SA, .version = 2, .rmpp = 1, .flags = (f)}, \
	.mgmt_class = (c)
static const struct row rows[] = {
	{"nothing", "ib_umad_write: count < hdr_size + IB_MGMT_RMPP_HDR", EINVAL, 0, ALL, PMA},
	{"a byte", "ib_umad_write: count < hdr_size + IB_MGMT_RMPP_HDR", EINVAL, 1, ALL, PMA},
	{"less than a header", "ib_umad_write: count < hdr_size + IB_MGMT_RMPP_HDR", EINVAL,
	 HDR - 1, ALL, PMA},
	{"a header alone", "ib_umad_write: count < hdr_size + IB_MGMT_RMPP_HDR", EINVAL, HDR, ALL,
	 PMA},
	{"a MAD of 35 bytes", "ib_umad_write: count < hdr_size + IB_MGMT_RMPP_HDR", EINVAL,
	 HDR + 35, ALL, PMA},
	{"a MAD of 36 bytes", "ib_umad_write", 0, HDR + 36, ALL, PMA},
	{"a MAD of 255 bytes", "get_pad_size", 0, HDR + 255, ALL, PMA},
	{"a MAD", "ib_umad_write", 0, HDR + MAD, ALL, PMA},
	{"a MAD and a byte", "ib_create_send_mad: message_size > mad_size", EINVAL, HDR + MAD + 1,
	 ALL, PMA},
	{"two MADs", "ib_create_send_mad: message_size > mad_size", EINVAL, HDR + 2 * MAD, ALL,
	 PMA},
	{"64 KiB", "ib_create_send_mad: message_size > mad_size", EINVAL, 1 << 16, ALL, PMA},

	{"too little of what is not there", "ib_umad_write: count first", EINVAL, HDR + 35, 0, PMA},
	{"a header that is not there", "ib_umad_write: copy_from_user", EFAULT, HDR + MAD, 0, PMA},
	{"a header cut by the end of memory", "ib_umad_write: copy_from_user", EFAULT, HDR + MAD,
	 HDR - 1, PMA},
	{"a header without a MAD", "ib_umad_write: copy_from_user", EFAULT, HDR + MAD, HDR, PMA},
	{"an RMPP header cut by the end of memory", "ib_umad_write: copy_from_user", EFAULT,
	 HDR + MAD, HDR + 35, PMA},
	{"a MAD whose headers alone are there", "ib_umad_write: copy_from_user", EFAULT, HDR + MAD,
	 HDR + 36, PMA},
	{"a MAD cut by the end of memory", "ib_umad_write: copy_from_user", EFAULT, HDR + MAD,
	 HDR + MAD - 1, PMA},
	{"too much of what is not there", "ib_create_send_mad, before the rest is copied", EINVAL,
	 HDR + MAD + 1, HDR + 36, PMA},

	{"an id without agent", "__get_agent", EIO, HDR + MAD, ALL, PMA, .id = 1},
	{"the last id", "__get_agent", EIO, HDR + MAD, ALL, PMA, .id = 31},
	{"an id too high", "IB_UMAD_MAX_AGENTS", EINVAL, HDR + MAD, ALL, PMA, .id = 32},
	{"the highest number as id", "IB_UMAD_MAX_AGENTS", EINVAL, HDR + MAD, ALL, PMA,
	 .id = UINT32_MAX},
	{"an id too high of a MAD that is not there", "ib_umad_write: the id first", EINVAL,
	 HDR + MAD, HDR, PMA, .id = 32},
	{"an id without agent of a MAD that is not there", "ib_umad_write: copy_from_user first",
	 EFAULT, HDR + MAD, HDR + 35, PMA, .id = 1},
	{"an id without agent and a wrong GID", "ib_umad_write: the agent first", EIO, HDR + MAD,
	 ALL, PMA, .id = 1, .grh = true, .gid_index = 200},
	{"an id without agent and too much", "ib_umad_write: the agent first", EIO, 2 * MAD, ALL,
	 PMA, .id = 1},

	{"SA: 55 bytes", "ib_get_mad_data_offset: IB_MGMT_SA_HDR; check_sub_overflow", EINVAL,
	 HDR + 55, ALL, OF(SA)},
	{"SA: 56 bytes", "ib_get_mad_data_offset: IB_MGMT_SA_HDR", 0, HDR + 56, ALL, OF(SA)},
	{"SA: too much", "ib_create_send_mad: message_size > mad_size", EINVAL, HDR + MAD + 1, ALL,
	 OF(SA)},
	{"device management: 63 bytes", "IB_MGMT_DEVICE_HDR; check_sub_overflow", EINVAL, HDR + 63,
	 ALL, OF(DEV_MGMT)},
	{"device management: 64 bytes", "IB_MGMT_DEVICE_HDR", 0, HDR + 64, ALL, OF(DEV_MGMT)},
	{"device administration: 63 bytes", "IB_MGMT_DEVICE_HDR; check_sub_overflow", EINVAL,
	 HDR + 63, ALL, OF(0x10)},
	{"device administration: 64 bytes", "IB_MGMT_DEVICE_HDR", 0, HDR + 64, ALL, OF(0x10)},
	{"BIS: 63 bytes", "IB_MGMT_DEVICE_HDR; check_sub_overflow", EINVAL, HDR + 63, ALL,
	 OF(0x12)},
	{"BIS: 64 bytes", "IB_MGMT_DEVICE_HDR", 0, HDR + 64, ALL, OF(0x12)},
	{"first vendor class with OUI: 39 bytes", "IB_MGMT_VENDOR_HDR; check_sub_overflow", EINVAL,
	 HDR + 39, ALL, OF(0x30)},
	{"first vendor class with OUI: 40 bytes", "IB_MGMT_VENDOR_HDR", 0, HDR + 40, ALL, OF(0x30)},
	{"last vendor class with OUI: 39 bytes", "IB_MGMT_VENDOR_HDR; check_sub_overflow", EINVAL,
	 HDR + 39, ALL, OF(0x4f)},
	{"last vendor class without OUI: 36 bytes", "ib_get_mad_data_offset", 0, HDR + 36, ALL,
	 OF(0x0f)},
	{"a class above the vendors': 36 bytes", "ib_get_mad_data_offset", 0, HDR + 36, ALL,
	 OF(0x50)},

	{"another class than the agent's", "nobody compares them", 0, HDR + MAD, ALL,
	 .reg = {.qpn = 1, .mgmt_class = VENDOR, .version = 1}, .mgmt_class = PERF},
	{"a class without RMPP by an agent with", "ib_post_send_mad: ib_is_mad_class_rmpp", EINVAL,
	 HDR + MAD, ALL, RMPP(PERF, 0)},
	{"a class without RMPP by an agent with RMPP of its own",
	 "ib_post_send_mad: ib_is_mad_class_rmpp", EINVAL, HDR + MAD, ALL,
	 RMPP(PERF, IB_USER_MAD_USER_RMPP)},
	{"another class with RMPP", "ib_post_send_mad", 0, HDR + MAD, ALL, RMPP(DEV_MGMT, 0)},
	{"RMPP's flag not set", "ib_get_rmpp_flags", 0, HDR + MAD, ALL, RMPP(SA, 0)},
	{"RMPP's flag not set, too much", "ib_create_send_mad: !rmpp_active", EINVAL, HDR + MAD + 1,
	 ALL, RMPP(SA, 0)},
	{"RMPP's flag by an agent without RMPP", "ib_mad_kernel_rmpp_agent", 0, HDR + MAD, ALL,
	 OF(SA), .rmpp_flags = 1},
	{"RMPP's flag by an agent without RMPP, too much", "ib_create_send_mad", EINVAL,
	 HDR + MAD + 1, ALL, OF(SA), .rmpp_flags = 1},
	{"RMPP's flag by an agent with RMPP of its own, too much", "ib_create_send_mad", EINVAL,
	 HDR + MAD + 1, ALL, RMPP(SA, IB_USER_MAD_USER_RMPP), .rmpp_flags = 1},

	{"a GID index", "verbs.c rdma_create_user_ah", 0, HDR + MAD, ALL, PMA, .grh = true},
	{"a GID index of nothing", "cache.c rdma_get_gid_attr: is_gid_entry_valid", ENODATA,
	 HDR + MAD, ALL, PMA, .grh = true, .gid_index = 7},
	{"the first GID index beyond the table", "cache.c rdma_get_gid_attr: table->sz", EINVAL,
	 HDR + MAD, ALL, PMA, .grh = true, .gid_index = 8},
	{"the last GID index", "cache.c rdma_get_gid_attr: table->sz", EINVAL, HDR + MAD, ALL, PMA,
	 .grh = true, .gid_index = 255},
	{"a GID index without a GRH", "ib_umad_write: grh_present", 0, HDR + MAD, ALL, PMA,
	 .gid_index = 200},
	{"a GID index of nothing and too much", "ib_umad_write: the address first", ENODATA,
	 HDR + MAD + 1, ALL, PMA, .grh = true, .gid_index = 7},
};

/* A refused write sends nothing and leaves nothing. */
static void written(void **state)
{
	const struct row *r = *state;
	struct packet p = mad(1, lid_of(0), r->mgmt_class, GET, 1, 1);
	static uint8_t big[1 << 16];
	const uint8_t *from = big;
	int fd = umad(0), err;

	assert_int_equal(reg2(fd, &r->reg), 0);
	p.hdr.id = r->id;
	p.mad[26] = r->rmpp_flags;
	p.hdr.grh_present = r->grh;
	p.hdr.gid_index = r->gid_index;
	gid_of(0, p.hdr.gid);
	memset(big, 0, sizeof(big));
	memcpy(big, &p, sizeof(p));
	if (r->there != ALL)
		from = memcpy(at_the_end(r->there), big, r->there);
	errno = 0;
	err = write(fd, from, r->count) < 0 ? errno : 0;
	if (err != r->err)
		fail_msg("%s (%s): errno %d, not %d", r->name, r->rule, err, r->err);
	if (!err)
		got(fd);
	nothing(fd);
	/* No duplicate of the refused MAD is left. */
	p.hdr.id = 0;
	p.hdr.grh_present = 0;
	p.mad[26] = 0;
	if (r->reg.rmpp)
		p.mad[1] = SA;
	put(fd, &p);
	got(fd);
}

/* ---- without an agent: the header is the short one until an agent exists */

static void without_agent(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);

	assert_fails(write(umad(0), &p, HDR_OLD + 35), EINVAL);
	assert_fails(write(umad(0), &p, HDR_OLD + 36), EIO);
	assert_fails(write(umad(0), &p, sizeof(p)), EIO);
}

static void by_a_file_for_reading(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);
	int fd = umad_open(0, O_RDONLY);

	agent(fd, 1, PERF, 0);
	assert_fails(write(fd, &p, sizeof(p)), EBADF);
	assert_fails(write(fd, &p, 0), EBADF);
}

/* ---- impossible lengths */

struct huge {
	const char *name, *rule;
	size_t count;
	int err;
};
static const struct huge huges[] = {
	{"a length of 2 GiB", "read_write.c vfs_write: MAX_RW_COUNT; ib_create_send_mad",
	 UINT64_C(1) << 31, EINVAL},
	{"a length of 4 GiB and a MAD", "read_write.c vfs_write: MAX_RW_COUNT; ib_create_send_mad",
	 (UINT64_C(1) << 32) + HDR + MAD, EINVAL},
	{"a length of -1", "read_write.c vfs_write: access_ok", SIZE_MAX, EFAULT},
	{"the most negative length", "read_write.c vfs_write: access_ok", UINT64_C(1) << 63,
	 EFAULT},
};

static void no_length(void **state)
{
	const struct huge *r = *state;
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);
	/* volatile, because compilers know the limits of write() */
	volatile size_t count = r->count;
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	assert_fails(write(fd, &p, count), r->err);
	nothing(fd);
}

/* ---- vectors: read_write.c, do_loop_readv_writev() */

static void a_mad_per_vector(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1),
		      q = mad(1, lid_of(0), PERF, GET, 1, 2);
	struct iovec v[] = {{&p, sizeof(p)}, {&q, sizeof(q)}};
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	assert_int_equal(writev(fd, v, 2), 2 * sizeof(p));
	assert_int_equal(got(fd).mad[15], 1);
	assert_int_equal(got(fd).mad[15], 2);
	nothing(fd);
}

static void a_second_vector_refused(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);
	struct iovec v[] = {{&p, sizeof(p)}, {nowhere, sizeof(p)}};
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	assert_int_equal(writev(fd, v, 2), sizeof(p));
	got(fd);
	nothing(fd);
}

static void no_mad_of_two_vectors(void **state)
{
	struct packet p = mad(1, lid_of(0), PERF, GET, 1, 1);
	struct iovec v[] = {{&p.hdr, HDR}, {p.mad, MAD}};
	int fd = umad(0);

	agent(fd, 1, PERF, 0);
	assert_fails(writev(fd, v, 2), EINVAL);
	nothing(fd);
}

/* ---- the bytes of a MAD */

/* An agent at the other port that receives the MADs, and one here that sends them. */
static int server(uint8_t mgmt_class)
{
	const struct reg r = {.qpn = 1,
			      .mgmt_class = mgmt_class,
			      .version = 1,
			      .methods = {1 << SEND},
			      .oui = mgmt_class == VENDOR2 ? OUI : 0};
	int fd = umad(1);

	assert_int_equal(reg2(fd, &r), 0);
	return fd;
}

static struct packet pattern(uint8_t mgmt_class)
{
	struct packet p = mad(1, lid_of(1), mgmt_class, SEND, 0x99, 1);

	for (int i = 4; i < MAD; i++)
		p.mad[i] = (uint8_t)(i * 7 + 1);
	if (mgmt_class == VENDOR2)
		put64(p.mad + 32, OUI);
	p.hdr.timeout_ms = 0;
	return p;
}

/* All bytes are sent unchanged, except the transaction ID's high half. */
static void all_256_bytes(void **state)
{
	int s = server(VENDOR), fd = umad(0);
	struct packet p = pattern(VENDOR), in;

	agent(fd, 1, VENDOR, 0);
	put(fd, &p);
	in = got(s);
	assert_memory_equal(in.mad, p.mad, 8);
	assert_memory_equal(in.mad + 12, p.mad + 12, MAD - 12);
	nothing(s);
}

/* ib_create_send_mad(): kzalloc(); bytes after the MAD in the program's memory are not sent. */
static void a_short_mad_is_filled_with_zeroes(void **state)
{
	static const size_t lens[] = {36, 37, 63, 64, 65, 100, 255};
	static const uint8_t zero[MAD];
	int s = server(VENDOR), fd = umad(0);
	struct packet p = pattern(VENDOR), in;

	agent(fd, 1, VENDOR, 0);
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		assert_int_equal(write(fd, &p, HDR + lens[i]), HDR + lens[i]);
		in = got(s);
		assert_memory_equal(in.mad + 12, p.mad + 12, lens[i] - 12);
		assert_memory_equal(in.mad + lens[i], zero, MAD - lens[i]);
	}
}

/*
 * ib_umad_write(): for a kernel-RMPP agent's MAD without RMPP, the copy starts after RMPP's header.
 */
static void rmpps_header_of_a_mad_without(void **state)
{
	static const struct reg rmpp = {
		.qpn = 1, .mgmt_class = VENDOR2, .version = 1, .rmpp = 1, .oui = 1};
	static const uint8_t zero[12];
	int s = server(VENDOR2), fd = umad(0);
	struct packet p = pattern(VENDOR2), in;

	assert_int_equal(reg2(fd, &rmpp), 0);
	p.mad[26] &= 0xfe;
	put(fd, &p);
	in = got(s);
	assert_memory_equal(in.mad + 12, p.mad + 12, 12);
	assert_memory_equal(in.mad + 24, zero, 12);
	assert_memory_equal(in.mad + 36, p.mad + 36, MAD - 36);
}

static void rmpps_header_of_a_program(void **state)
{
	static const struct reg rmpp = {.qpn = 1,
					.mgmt_class = VENDOR2,
					.version = 1,
					.rmpp = 1,
					.oui = 1,
					.flags = IB_USER_MAD_USER_RMPP};
	int s = server(VENDOR2), fd = umad(0);
	struct packet p = pattern(VENDOR2), in;

	assert_int_equal(reg2(fd, &rmpp), 0);
	put(fd, &p);
	in = got(s);
	assert_memory_equal(in.mad + 12, p.mad + 12, MAD - 12);
}

/* The program may reuse its memory at once. */
static void written_memory_is_the_programs(void **state)
{
	int s = server(VENDOR), fd = umad(0);
	struct packet p = pattern(VENDOR), was = p, in;

	agent(fd, 1, VENDOR, 0);
	p.hdr.timeout_ms = 30;
	p.hdr.retries = 1;
	put(fd, &p);
	assert_memory_equal(&p.mad, &was.mad, MAD); /* and it was not changed */
	memset(&p, 0, sizeof(p));
	for (int i = 0; i < 2; i++) {
		in = waited(s);
		assert_memory_equal(in.mad + 12, was.mad + 12, MAD - 12);
	}
}

int main(void)
{
	CASES(rows, written);
	CASE(without_agent);
	CASE(by_a_file_for_reading);
	CASES(huges, no_length);
	CASE(a_mad_per_vector);
	CASE(a_second_vector_refused);
	CASE(no_mad_of_two_vectors);
	CASE(all_256_bytes);
	CASE(a_short_mad_is_filled_with_zeroes);
	CASE(rmpps_header_of_a_mad_without);
	CASE(rmpps_header_of_a_program);
	CASE(written_memory_is_the_programs);
	return run_cases("write");
}
