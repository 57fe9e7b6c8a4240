/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Agents: which can be registered, which methods exclude each other, and ids. */
#include "umad.h"

#include <sys/wait.h>

/* ---- a row per rule, by both ioctls */

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

/* For the second ioctl only. */
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
}

static void by_the_first_ioctl(void **state)
{
	check_row(*state, reg1);
}

static void by_the_second_ioctl(void **state)
{
	check_row(*state, reg2);
}

/* ---- methods that are taken: method_in_use() */

struct pair {
	const char *name, *rule;
	struct reg first, second;
	unsigned int port; /* port of the second agent */
	int err;           /* errno of the second registration */
};

#define R(c, v, ...)                                                     \
	{                                                                \
		.qpn = 1, .mgmt_class = (c), .version = (v), __VA_ARGS__ \
	}
static const struct pair pairs[] = {
	{"the same method twice", "method_in_use", R(VENDOR, 1, .methods = {2}),
	 R(VENDOR, 1, .methods = {2}), 0, EINVAL},
	{"one method of several", "method_in_use", R(VENDOR, 1, .methods = {2}),
	 R(VENDOR, 1, .methods = {6, 5}), 0, EINVAL},
	{"a method of the second half", "method_in_use: IB_MGMT_MAX_METHODS",
	 R(VENDOR, 1, .methods = {0, UINT64_C(1) << 63}),
	 R(VENDOR, 1, .methods = {0, UINT64_C(1) << 63}), 0, EINVAL},
	{"the same bit of the other half", "method_in_use", R(VENDOR, 1, .methods = {2}),
	 R(VENDOR, 1, .methods = {0, 2}), 0, 0},
	{"other methods", "method_in_use", R(VENDOR, 1, .methods = {2}),
	 R(VENDOR, 1, .methods = {4}), 0, 0},
	{"no methods", "method_in_use", R(VENDOR, 1, .methods = {2}), R(VENDOR, 1), 0, 0},
	{"twice no methods", "method_in_use", R(VENDOR, 1), R(VENDOR, 1), 0, 0},
	{"another class", "add_nonoui_reg_req", R(VENDOR, 1, .methods = {2}),
	 R(VENDOR + 1, 1, .methods = {2}), 0, 0},
	{"another version", "add_nonoui_reg_req", R(VENDOR, 1, .methods = {2}),
	 R(VENDOR, 2, .methods = {2}), 0, 0},
	{"another port", "ib_get_mad_port", R(VENDOR, 1, .methods = {2}),
	 R(VENDOR, 1, .methods = {2}), 1, 0},
	{"both kinds of SMPs",
	 "convert_mgmt_class",
	 {.mgmt_class = SMI, .version = 1, .methods = {2}},
	 {.mgmt_class = SMI_DR, .version = 1, .methods = {2}},
	 0,
	 0},
	{"directed SMPs twice",
	 "convert_mgmt_class",
	 {.mgmt_class = SMI_DR, .version = 1, .methods = {2}},
	 {.mgmt_class = SMI_DR, .version = 1, .methods = {2}},
	 0,
	 EINVAL},
	{"another OUI", "is_vendor_method_in_use", R(VENDOR2, 1, .oui = 1, .methods = {2}),
	 R(VENDOR2, 1, .oui = 2, .methods = {2}), 0, 0},
	{"the same OUI", "is_vendor_method_in_use", R(VENDOR2, 1, .oui = 1, .methods = {2}),
	 R(VENDOR2, 1, .oui = 1, .methods = {2}), 0, EINVAL},
	{"the same OUI, other methods", "is_vendor_method_in_use",
	 R(VENDOR2, 1, .oui = 1, .methods = {2}), R(VENDOR2, 1, .oui = 1, .methods = {4}), 0, 0},
	{"the same OUI in another class", "vendor_class_index",
	 R(VENDOR2, 1, .oui = 1, .methods = {2}), R(VENDOR2 + 1, 1, .oui = 1, .methods = {2}), 0,
	 0},
	{"methods without a class belong to nobody", "ib_umad_reg_agent: mgmt_class 0",
	 R(0, 0, .methods = {2}), R(0, 0, .methods = {2}), 0, 0},
};

static void two_agents(const struct pair *r, bool same_file, int (*reg)(int, const struct reg *))
{
	int a = umad(0), b = same_file && !r->port ? a : umad(r->port), err;

	assert_int_equal(reg1(a, &r->first), 0);
	errno = 0;
	err = reg(b, &r->second) < 0 ? errno : 0;
	if (err != r->err)
		fail_msg("%s (%s): errno %d, not %d", r->name, r->rule, err, r->err);
	if (!r->err)
		return;
	/*
	 * The refused agent has taken no methods; the first one returns all: remove_mad_reg_req()
	 */
	assert_int_equal(unreg(a, 0), 0);
	assert_int_equal(reg(b, &r->second), 0);
}

static void of_one_file(void **state)
{
	two_agents(*state, true, reg2);
}

static void of_two_files(void **state)
{
	two_agents(*state, false, reg1);
}

static const struct reg get = R(VENDOR, 1, .methods = {2});
static const struct reg any = R(VENDOR, 1);

/* The registry belongs to the port, not the process; closing a file frees its agents. */
static void of_another_process(void **state)
{
	int fd = umad(0), status;
	pid_t pid;

	assert_int_equal(reg1(fd, &get), 0);
	pid = fork();
	if (!pid) {
		int d = open("/dev/infiniband/umad0", O_RDWR);

		_exit(d < 0 || reg1(d, &get) >= 0 || errno != EINVAL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	umad_close(fd);
	fd = umad(0);
	assert_int_equal(reg1(fd, &get), 0);
}

/* add_oui_reg_req(): MAX_MGMT_OUI in one vendor class and version */
static void eight_ouis(void **state)
{
	struct reg r = R(VENDOR2, 1, .methods = {2});
	int fd = umad(0);

	for (r.oui = 1; r.oui <= 8; r.oui++)
		assert_true(reg2(fd, &r) >= 0);
	assert_fails(reg2(fd, &r), ENOMEM);
	assert_fails(reg1(fd, &r), ENOMEM);
	r.oui = 8; /* an OUI that is registered already */
	r.methods[0] = 4;
	assert_int_equal(reg2(fd, &r), 8);
	r.oui = 9;
	r.version = 2;
	assert_int_equal(reg2(fd, &r), 9);
	r.version = 1;
	r.mgmt_class++;
	assert_int_equal(reg2(fd, &r), 10);
	r.mgmt_class--;
	assert_int_equal(unreg(fd, 0), 0); /* the first OUI is removed: its place is free */
	assert_int_equal(reg2(fd, &r), 0);
}

/* ---- ids: ib_umad_reg_agent(), ib_umad_unreg_agent() */

static void thirty_two_agents(void **state)
{
	int fd = umad(0);

	for (int i = 0; i < 32; i++)
		assert_int_equal(i % 2 ? reg1(fd, &any) : reg2(fd, &any), i);
	assert_fails(reg1(fd, &any), ENOMEM);
	assert_fails(reg2(fd, &any), ENOMEM);
}

/* IB_UMAD_MAX_AGENTS is checked before the class, and after the QPN. */
static void which_rule_first(void **state)
{
	const struct reg bad_class = R(0x50, 1), bad_qpn = {.qpn = 2};
	const struct reg bad_flag = R(VENDOR, 1, .flags = 2);
	int fd = umad(0);

	for (int i = 0; i < 32; i++)
		assert_int_equal(reg1(fd, &any), i);
	assert_fails(reg1(fd, &bad_class), ENOMEM);
	assert_fails(reg2(fd, &bad_class), ENOMEM);
	assert_fails(reg1(fd, &bad_qpn), EINVAL);
	assert_fails(reg2(fd, &bad_flag), EINVAL);
}

static void the_lowest_free_id(void **state)
{
	int fd = umad(0);

	for (int i = 0; i < 5; i++)
		assert_int_equal(reg1(fd, &any), i);
	assert_int_equal(unreg(fd, 3), 0);
	assert_int_equal(unreg(fd, 1), 0);
	assert_int_equal(reg1(fd, &any), 1);
	assert_int_equal(reg1(fd, &any), 3);
	assert_int_equal(reg1(fd, &any), 5);
}

static void ids_are_the_files(void **state)
{
	int a = umad(0), b = umad(0);

	assert_int_equal(reg1(a, &any), 0);
	assert_int_equal(reg1(b, &any), 0);
	assert_int_equal(unreg(a, 0), 0);
	assert_fails(unreg(a, 0), EINVAL);
	assert_int_equal(unreg(b, 0), 0);
}

struct unreg_row {
	const char *name;
	uint32_t id;
};
static const struct unreg_row unregs[] = {
	{"unregistering what was never there", 1},
	{"unregistering the last id", 31},
	{"unregistering an id too high", 32},
	{"unregistering the highest number", UINT32_MAX},
};

static void no_such_id(void **state)
{
	const struct unreg_row *r = *state;
	int fd = umad(0);

	assert_int_equal(reg1(fd, &any), 0);
	assert_fails(unreg(fd, r->id), EINVAL);
	assert_int_equal(unreg(fd, 0), 0);
}

/* ---- addresses of the program: copy_from_user(), put_user() */

static void requests_that_are_not_there(void **state)
{
	int fd = umad(0);

	assert_fails(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, NULL), EFAULT);
	assert_fails(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, nowhere), EFAULT);
	assert_fails(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, NULL), EFAULT);
	assert_fails(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, at_the_end(3)), EFAULT);
}

/* The whole structure is read, also unused fields. */
static void requests_cut_by_a_byte(void **state)
{
	struct ib_user_mad_reg_req *r = (void *)at_the_end(sizeof(struct ib_user_mad_reg_req) - 1);
	struct ib_user_mad_reg_req2 *r2;
	int fd = umad(0);

	assert_fails(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, r), EFAULT);
	r2 = (void *)at_the_end(sizeof(*r2) - 1);
	assert_fails(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, r2), EFAULT);
	r2 = (void *)at_the_end(sizeof(*r2));
	assert_int_equal(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, r2), 0);
	assert_int_equal(r2->id, 0);
}

/* The id cannot be written: no agent is made, and the file is unchanged. */
static void an_id_that_can_not_be_written(void **state)
{
	static const struct ib_user_mad_reg_req2 r2 = {
		.qpn = 1, .mgmt_class = VENDOR, .mgmt_class_version = 1, .method_mask = {2}};
	static const struct ib_user_mad_reg_req r = {
		.qpn = 1, .mgmt_class = VENDOR, .mgmt_class_version = 1, .method_mask = {2}};
	int fd = umad(0);

	assert_fails(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &r2), EFAULT);
	assert_fails(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &r), EFAULT);
	assert_fails(unreg(fd, 0), EINVAL);
	assert_int_equal(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), 0); /* !already_used */
	assert_int_equal(reg1(fd, &get), 0); /* the agent's methods are free */
}

/* put_user() of the supported flags: if that fails, EFAULT. */
static void flags_that_can_not_be_written(void **state)
{
	static const struct ib_user_mad_reg_req2 r = {
		.qpn = 1, .mgmt_class = VENDOR, .mgmt_class_version = 1, .flags = 2};

	assert_fails(ioctl(umad(0), IB_USER_MAD_REGISTER_AGENT2, &r), EFAULT);
}

/* ---- other ioctls: ib_umad_ioctl(), ib_umad_enable_pkey() */

struct ioctl_row {
	const char *name;
	unsigned long cmd;
	int err;
};
static const struct ioctl_row ioctls[] = {
	{"a number too low", _IO(IB_IOCTL_MAGIC, 0), ENOTTY},
	{"a number too high", _IO(IB_IOCTL_MAGIC, 5), ENOTTY},
	{"another size", _IOWR(IB_IOCTL_MAGIC, 1, struct ib_user_mad_reg_req2), ENOTTY},
	{"another direction", _IO(IB_IOCTL_MAGIC, 2), ENOTTY},
	{"another device's", _IO('f', 3), ENOTTY},
	{"verbs' ioctl", _IOWR(IB_IOCTL_MAGIC, 1, uint8_t[24]), ENOTTY},
};

static void what_is_no_ioctl(void **state)
{
	const struct ioctl_row *r = *state;
	uint8_t buf[64] = {0};

	assert_fails(ioctl(umad(0), r->cmd, buf), r->err);
}

/* ib_umad_ioctl(): an unsigned int */
static void the_commands_upper_half(void **state)
{
	int fd = umad(0);

	assert_int_equal(ioctl(fd, (UINT64_C(1) << 32) | (uint32_t)IB_USER_MAD_ENABLE_PKEY, NULL),
			 0);
}

static void pkeys_are_enabled_before_agents(void **state)
{
	const struct reg bad = R(0x50, 1);
	int fd = umad(0);

	assert_int_equal(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), 0);
	assert_int_equal(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, nowhere), 0);
	assert_fails(reg1(fd, &bad), EINVAL); /* a failed registration leaves nothing */
	assert_int_equal(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), 0);
	assert_int_equal(reg1(fd, &any), 0);
	assert_fails(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), EINVAL);
	assert_int_equal(unreg(fd, 0), 0); /* already_used stays */
	assert_fails(ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL), EINVAL);
}

/* An agent may be registered through a file that is not open for writing. */
static void by_a_file_for_reading(void **state)
{
	int fd = umad_open(0, O_RDONLY);

	assert_int_equal(reg2(fd, &any), 0);
	assert_int_equal(unreg(fd, 0), 0);
	fd = umad_open(0, O_WRONLY);
	assert_int_equal(reg2(fd, &any), 0);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		add_case(by_the_first_ioctl, &regs[i], "REGISTER_AGENT: %s", regs[i].name);
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		add_case(by_the_second_ioctl, &regs[i], "REGISTER_AGENT2: %s", regs[i].name);
	for (size_t i = 0; i < sizeof(regs2) / sizeof(regs2[0]); i++)
		add_case(by_the_second_ioctl, &regs2[i], "REGISTER_AGENT2: %s", regs2[i].name);
	CASES(pairs, of_one_file);
	CASES(pairs, of_two_files);
	CASE(of_another_process);
	CASE(eight_ouis);
	CASE(thirty_two_agents);
	CASE(which_rule_first);
	CASE(the_lowest_free_id);
	CASE(ids_are_the_files);
	CASES(unregs, no_such_id);
	CASE(requests_that_are_not_there);
	CASE(requests_cut_by_a_byte);
	CASE(an_id_that_can_not_be_written);
	CASE(flags_that_can_not_be_written);
	CASES(ioctls, what_is_no_ioctl);
	CASE(the_commands_upper_half);
	CASE(pkeys_are_enabled_before_agents);
	CASE(by_a_file_for_reading);
	return run_cases("register");
}
