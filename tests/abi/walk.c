/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Errors that uverbs_process_attr() (uverbs_ioctl.c) refuses in every attribute: each attribute of
 * each method in the device's own tables, made wrong according to its kind. The tables are linked
 * in only for this walk; the calls go to the same device as those of the rows.
 */
#include "mlx5/mlx5.h"
#include "uverbs/priv.h"
#include "abi.h"

#include <stdio.h>

static const struct uv_method *method;
static const struct uv_attr_def *def;
static bool only_undecided;
static const uint8_t ones[64] = {[0 ... 63] = 0xff}, zeroes[1024];

static void call(const char *how, int want, const struct attr *a, unsigned int n)
{
	struct ioctl_row r = {.object = method->object,
			      .method = method->id,
			      .want = want,
			      .nattr = n,
			      .rule = ""};
	char what[200];

	snprintf(what, sizeof(what), "%s.%s %s: %s", method->object_name, method->def->name,
		 def ? def->name : "", how);
	for (unsigned int i = 0; i < n; i++)
		r.attr[i] = a[i];
	if (only_undecided && driver_decides_ioctl(&r))
		return;
	abi_check(what, "uverbs_ioctl.c uverbs_process_attr", want, world_ioctl(&r));
}

static void one(const char *how, int want, struct attr a)
{
	a.id = def->id;
	call(how, want, &a, 1);
}

static void handle(void)
{
	uint64_t other = def->type == &uv_type_pd ? CQ : PD;

	one("with a length", EINVAL, (struct attr){.len = 1, .data = PD});
	one("with reserved bytes", EINVAL, (struct attr){.reserved = 1, .data = PD});
	if (def->access == UV_NEW)
		return;
	one("of nothing", ENOENT, (struct attr){.data = NONE});
	one("negative", EINVAL, (struct attr){.data = UINT64_MAX});
	one("beyond 32 bits", ENOENT, (struct attr){.data = UINT64_C(1) << 32});
	if (def->type)
		one("of another type", EINVAL, (struct attr){.data = other});
}

static void descriptor(void)
{
	one("with a length", EINVAL, (struct attr){.len = 1, .data = CHANNEL});
	one("with reserved bytes", EINVAL, (struct attr){.reserved = 1, .data = CHANNEL});
	if (def->access == UV_NEW)
		return;
	one("that is closed", EBADF, (struct attr){.data = CLOSED});
	one("of another file", EBADF, (struct attr){.data = PLAIN});
	one("beyond an int", EINVAL, (struct attr){.data = UINT64_C(1) << 32});
}

/* An attribute of min to max bytes. */
static void bytes(uint16_t min, uint16_t max, bool trailing)
{
	bool in = def->kind != UV_A_PTR_OUT;
	struct attr right[2] = {{.id = def->id, .len = min}};

	if (min)
		one("too short", EINVAL, (struct attr){.len = (uint16_t)(min - 1), .data = OUT});
	if (max != 0xffff && !trailing)
		one("too long", EINVAL, (struct attr){.len = (uint16_t)(max + 1), .data = OUT});
	if (max < sizeof(ones) && trailing && in)
		one("with something behind", EOPNOTSUPP,
		    (struct attr){.len = (uint16_t)(max + 1), .in = ones});
	if (min > sizeof(zeroes))
		return;
	if (in)
		right[0].in = zeroes;
	else
		right[0].data = OUT;
	right[1] = right[0];
	call("twice", EINVAL, right, 2);
	right[0].reserved = 1;
	if (def->kind != UV_A_ENUM_IN)
		call("with reserved bytes", EINVAL, right, 1);
}

static void attribute(void)
{
	switch (def->kind) {
	case UV_A_IDR:
		handle();
		break;
	case UV_A_FD:
		descriptor();
		break;
	case UV_A_CONST_IN:
		bytes(8, 8, false);
		break;
	case UV_A_FLAGS_IN:
		bytes(4, 8, false);
		break;
	case UV_A_ENUM_IN:
		one("of an unknown element", EOPNOTSUPP, (struct attr){.reserved = 0xff});
		break;
	case UV_A_RAW_FD:
		one("with a length", EINVAL, (struct attr){.len = 4});
		one("beyond an int", EINVAL, (struct attr){.data = UINT64_C(1) << 40});
		break;
	case UV_A_IDRS_ARRAY:
		one("not in words", EINVAL, (struct attr){.len = 3});
		break;
	default:
		if (!def->is_udata)
			bytes(def->min_len, def->max_len, def->zero_trailing);
		break;
	}
}

void walk_all(bool undecided)
{
	struct uv_api *api;

	only_undecided = undecided;

	if (uv_api_create(&mlx5_driver, &api))
		return;
	for (size_t o = 0; o < ARRAY_SIZE(api->object); o++)
		for (size_t i = 0; i < ARRAY_SIZE(api->object[o].method); i++) {
			bool mandatory = false;

			method = api->object[o].method[i];
			if (!method)
				continue;
			for (unsigned int k = 0; k < method->nattrs; k++) {
				def = method->attrs[k];
				mandatory |= def->mandatory;
				attribute();
			}
			def = NULL;
			if (mandatory)
				call("without its attributes", EINVAL, NULL, 0);
		}
	uv_api_destroy(api);
}
