/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Agents: which can be registered, which methods exclude each other, ids, and other ioctls. */
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each class, by its number alone and with what some classes need or refuse. */
static void classes(void)
{
	static const struct reg ways[] = {
		{"plain", 1, 0, 1},
		{"on QP0", 0, 0, 1},
		{"RMPP", 1, 0, 1, 1},
		{"RMPP 2", 1, 0, 1, 2},
		{"OUI", 1, 0, 1, 0, OUI},
		{"OUI, RMPP", 1, 0, 1, 1, OUI},
		{"version 0", 1, 0, 0},
		{"version 2", 1, 0, 2},
		{"version 130", 1, 0, 130, 0, OUI},
		{"version 131", 1, 0, 131, 0, OUI},
		{"with methods", 1, 0, 1, 0, OUI, 0, {M(GET) | M(SEND)}},
	};

	for (unsigned int c = 0; c < 256; c++) {
		row("register: class %#04x", c);
		for (size_t i = 0; i < COUNT(ways); i++) {
			struct reg r = ways[i];

			r.mgmt_class = (uint8_t)c;
			for (int nr = 1; nr <= 2; nr++) {
				int fd;

				/* higher classes are unknown: try each by one of the ioctls */
				if (c > 0x51 && c != SMI_DR && nr != 1 + (int)(c + i) % 2)
					continue;
				fd = umad();
				say_result(nr == 1 ? "" : "/", reg(fd, &r, nr));
				umad_close(fd);
			}
		}
	}
}

static const struct reg singles[] = {
	{"QPN 2", 2, PERF, 1},
	{"QPN 255", 255, PERF, 1},
	{"QPN 256", 256, PERF, 1},
	{"user RMPP", 1, SA, 2, 1, 0, IB_USER_MAD_USER_RMPP},
	{"user RMPP flag without RMPP", 1, PERF, 1, 0, 0, IB_USER_MAD_USER_RMPP},
	{"user RMPP of a class that has none", 1, PERF, 1, 1, 0, IB_USER_MAD_USER_RMPP},
	{"user RMPP without class", 1, 0, 0, 0, 0, IB_USER_MAD_USER_RMPP},
	{"unknown flag", 1, SA, 2, 0, 0, 2},
	{"all flags", 1, SA, 2, 0, 0, UINT32_MAX},
	{"unknown flag, QPN 2", 2, SA, 2, 0, 0, 2},
	{"OUI of more than 24 bits", 1, 0x30, 1, 0, 0x1000000},
	{"OUI of more than 24 bits without class", 1, 0, 0, 0, 0x1000000},
	{"OUI of more than 24 bits, of a class without", 1, VENDOR, 1, 0, 0x1000000},
	{"the largest OUI", 1, 0x30, 1, 0, 0xffffff},
	{"every method", 1, VENDOR, 1, 0, 0, 0, {UINT64_MAX, UINT64_MAX}},
	{"the kernel's CM: Send", 1, CM, 2, 0, 0, 0, {M(SEND)}},
	{"the kernel's CM: Get", 1, CM, 2, 0, 0, 0, {M(GET)}},
	{"the kernel's CM: no method", 1, CM, 2},
	{"the CM's class in version 1", 1, CM, 1, 0, 0, 0, {M(SEND)}},
};

static void one_by_one(void)
{
	for (size_t i = 0; i < COUNT(singles); i++)
		for (int nr = 1; nr <= 2; nr++) {
			row("register: %s, ioctl %d", singles[i].name, nr);
			say_result("", reg(umad(), &singles[i], nr));
		}
}

/* Registration with a wrong flag returns the flags that exist. */
static void flags(void)
{
	for (int bit = 0; bit < 32; bit++) {
		struct ib_user_mad_reg_req2 q = {.id = 77,
						 .qpn = 1,
						 .mgmt_class = SA,
						 .mgmt_class_version = 2,
						 .rmpp_version = 1,
						 .flags = 1u << bit};

		row("register: flag %d", bit);
		say_result("", ioctl(umad(), IB_USER_MAD_REGISTER_AGENT2, &q));
		say("id=%u flags=%#x", q.id, q.flags);
	}
}

/* ---- methods that are taken */

#define R(c, v, ...)                                                     \
	{                                                                \
		.qpn = 1, .mgmt_class = (c), .version = (v), __VA_ARGS__ \
	}
static const struct {
	const char *name;
	struct reg first, second;
} pairs[] = {
	{"the same method twice", R(VENDOR, 1, .methods = {2}), R(VENDOR, 1, .methods = {2})},
	{"one method of several", R(VENDOR, 1, .methods = {2}), R(VENDOR, 1, .methods = {6, 5})},
	{"the last method", R(VENDOR, 1, .methods = {0, M(63)}),
	 R(VENDOR, 1, .methods = {0, M(63)})},
	{"the same bit of the other half", R(VENDOR, 1, .methods = {2}),
	 R(VENDOR, 1, .methods = {0, 2})},
	{"other methods", R(VENDOR, 1, .methods = {2}), R(VENDOR, 1, .methods = {4})},
	{"no methods", R(VENDOR, 1, .methods = {2}), R(VENDOR, 1)},
	{"twice no methods", R(VENDOR, 1), R(VENDOR, 1)},
	{"another class", R(VENDOR, 1, .methods = {2}), R(VENDOR + 1, 1, .methods = {2})},
	{"another version", R(VENDOR, 1, .methods = {2}), R(VENDOR, 2, .methods = {2})},
	{"another OUI", R(VENDOR2, 1, .oui = 1, .methods = {2}),
	 R(VENDOR2, 1, .oui = 2, .methods = {2})},
	{"the same OUI", R(VENDOR2, 1, .oui = 1, .methods = {2}),
	 R(VENDOR2, 1, .oui = 1, .methods = {2})},
	{"the same OUI, other methods", R(VENDOR2, 1, .oui = 1, .methods = {2}),
	 R(VENDOR2, 1, .oui = 1, .methods = {4})},
	{"the same OUI in another class", R(VENDOR2, 1, .oui = 1, .methods = {2}),
	 R(VENDOR2 + 1, 1, .oui = 1, .methods = {2})},
	{"the same OUI in another version", R(VENDOR2, 1, .oui = 1, .methods = {2}),
	 R(VENDOR2, 2, .oui = 1, .methods = {2})},
	{"methods without a class", R(0, 0, .methods = {2}), R(0, 0, .methods = {2})},
	{"with and without RMPP", R(SA, 2, .methods = {2}), R(SA, 2, .rmpp = 1, .methods = {2})},
};

static void two_agents(void)
{
	for (size_t i = 0; i < COUNT(pairs); i++)
		for (int same = 0; same < 2; same++) {
			int a, b;

			row("two agents of %s: %s", same ? "a file" : "two files", pairs[i].name);
			a = umad();
			b = same ? a : umad();
			say_result("", reg(a, &pairs[i].first, 2));
			say("%d", reg(b, &pairs[i].second, 1));
			say_result("unregistered=", unreg(a, 0));
			say("%d", reg(b, &pairs[i].second, 2));
		}
}

static void of_a_child(void)
{
	static const struct reg get = R(VENDOR, 1, .methods = {2});
	int fd, status = 0;
	pid_t pid;

	row("an agent of the parent, and its child");
	fd = umad();
	say("%d", reg(fd, &get, 1));
	pid = fork();
	if (!pid) {
		int d = umad(), first = reg(d, &get, 1) < 0 ? errno : 0;

		/* the file is the parent's, too */
		_exit(first != EINVAL || unreg(fd, 0) || reg(d, &get, 1));
	}
	waitpid(pid, &status, 0);
	say("child=%d", WEXITSTATUS(status));
	say_result("unregistered=", unreg(fd, 0));
	say("%d", reg(fd, &get, 1));
}

/* ---- ids and numbers */

static void ouis(void)
{
	struct reg r = R(VENDOR2, 1, .methods = {2});
	int fd;

	row("nine OUIs of a class");
	fd = umad();
	for (r.oui = 1; r.oui <= 9; r.oui++)
		say_result("", reg(fd, &r, 1 + r.oui % 2));
	r.oui = 8;
	r.methods[0] = 4;
	say("%d", reg(fd, &r, 2));
	r.oui = 9;
	r.version = 2;
	say("%d", reg(fd, &r, 2));
	r.version = 1;
	say_result("unregistered=", unreg(fd, 0));
	say("%d", reg(fd, &r, 2));
}

static void ids(void)
{
	static const struct reg any = R(VENDOR, 1), bad_class = R(0x50, 1), qpn2 = {.qpn = 2};
	static const uint32_t gone[] = {3, 1, 1, 31, 32, UINT32_MAX};
	int fd;

	row("ids: 33 agents of a file");
	fd = umad();
	for (int i = 0; i < 33; i++)
		say("%d", reg(fd, &any, 1 + i % 2));
	say_result("", reg(fd, &any, 1));
	say_result("class=", reg(fd, &bad_class, 1));
	say_result("class=", reg(fd, &bad_class, 2));
	say_result("qpn=", reg(fd, &qpn2, 1));
	say_result("qpn=", reg(fd, &qpn2, 2));
	row("ids: the lowest that is free");
	fd = umad();
	for (int i = 0; i < 5; i++)
		say("%d", reg(fd, &any, 1));
	for (size_t i = 0; i < COUNT(gone); i++)
		say_result("unregistered=", unreg(fd, gone[i]));
	for (int i = 0; i < 3; i++)
		say("%d", reg(fd, &any, 2));
	row("ids: of two files");
	fd = umad();
	say("%d %d", reg(fd, &any, 1), reg(umad(), &any, 2));
	say_result("", unreg(fd, 0));
	say_result("", unreg(fd, 0));
}

/* ---- addresses, and other ioctls */

static void memory(void)
{
	static const size_t sizes[] = {sizeof(struct ib_user_mad_reg_req),
				       sizeof(struct ib_user_mad_reg_req2), 4};
	static const unsigned long commands[] = {IB_USER_MAD_REGISTER_AGENT,
						 IB_USER_MAD_REGISTER_AGENT2,
						 IB_USER_MAD_UNREGISTER_AGENT};
	static const struct ib_user_mad_reg_req2 r2 = {
		.qpn = 1, .mgmt_class = VENDOR, .mgmt_class_version = 1, .method_mask = {2}};
	static const struct ib_user_mad_reg_req r1 = {
		.qpn = 1, .mgmt_class = VENDOR, .mgmt_class_version = 1, .method_mask = {2}};
	static const struct ib_user_mad_reg_req2 flagged = {
		.qpn = 1, .mgmt_class = VENDOR, .mgmt_class_version = 1, .flags = 2};
	int fd;

	for (size_t i = 0; i < COUNT(commands); i++) {
		row("ioctl %zu: memory that is not there", i + 1);
		fd = umad();
		say_result("none=", ioctl(fd, commands[i], NULL));
		say_result("unmapped=", ioctl(fd, commands[i], nowhere));
		say_result("cut=", ioctl(fd, commands[i], at_the_end(sizes[i] - 1)));
		say_result("whole=", ioctl(fd, commands[i], at_the_end(sizes[i])));
	}
	row("ioctls: an answer that cannot be written");
	fd = umad();
	say_result("", ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &r1));
	say_result("", ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &r2));
	say_result("flags=", ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &flagged));
	say_result("unregistered=", unreg(fd, 0));
	say_result("pkey=", ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	say("%d", agent(fd, VENDOR, M(GET)));
}

static void other_ioctls(void)
{
	static const struct {
		const char *name;
		unsigned long cmd;
	} ioctls[] = {
		{"number 0", _IO(IB_IOCTL_MAGIC, 0)},
		{"number 5", _IO(IB_IOCTL_MAGIC, 5)},
		{"another size", _IOWR(IB_IOCTL_MAGIC, 1, struct ib_user_mad_reg_req2)},
		{"another direction", _IO(IB_IOCTL_MAGIC, 2)},
		{"another device's", _IO('f', 3)},
		{"the one of verbs", _IOWR(IB_IOCTL_MAGIC, 1, uint8_t[24])},
		{"bytes to read", FIONREAD},
		{"size", FIOQSIZE},
		{"a terminal's", 0x5401},
		{"a command of 64 bits", UINT64_C(1) << 32 | (uint32_t)IB_USER_MAD_ENABLE_PKEY},
	};
	static const struct reg bad = R(0x50, 1), any = R(VENDOR, 1);
	uint8_t buf[64] = {0};
	int fd;

	for (size_t i = 0; i < COUNT(ioctls); i++) {
		row("ioctl: %s", ioctls[i].name);
		say_result("", ioctl(umad(), ioctls[i].cmd, buf));
	}
	row("ENABLE_PKEY before and after agents");
	fd = umad();
	say_result("", ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	say_result("", ioctl(fd, IB_USER_MAD_ENABLE_PKEY, nowhere));
	say_result("bad=", reg(fd, &bad, 1));
	say_result("", ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	say_result("agent=", reg(fd, &any, 1));
	say_result("", ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	say_result("unregistered=", unreg(fd, 0));
	say_result("", ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	for (int way = O_RDONLY; way <= 3; way++) {
		row("an agent by a file of access %d", way);
		fd = umad_open(way);
		say_result("", reg(fd, &any, 2));
		say_result("", unreg(fd, 0));
	}
}

void rows_of_agents(void)
{
	classes();
	one_by_one();
	flags();
	two_agents();
	of_a_child();
	ouis();
	ids();
	memory();
	other_ioctls();
}
