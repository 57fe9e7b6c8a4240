/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects that only commands use, through mlx5dv_devx_obj_*: a transport domain with a TIS, a
 * scheduling tree made by both kinds of command, a reserved QPN.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devx_device.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/gobj.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/qos.h"
#include "wire/prm/raw.h"

static struct ibv_context *ctx;
static uint8_t in[0x110], out[0x110];

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "elements: %s: %s, syndrome 0x%x\n", what, strerror(errno),
		(unsigned int)LAYOUT_GET(cmd_out, out, syndrome));
	exit(1);
}

static void begin(uint16_t opcode, uint32_t op_mod)
{
	memset(in, 0, sizeof(in));
	memset(out, 0, sizeof(out));
	LAYOUT_SET(cmd_in, in, opcode, opcode);
	LAYOUT_SET(cmd_in, in, op_mod, op_mod);
}

static struct mlx5dv_devx_obj *create(const char *what, size_t inlen, size_t outlen)
{
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(ctx, in, inlen, out, outlen);

	if (!obj)
		die(what);
	return obj;
}

static void destroy(const char *what, struct mlx5dv_devx_obj *obj, int want)
{
	int r = mlx5dv_devx_obj_destroy(obj);

	/* libraries differ in where the errno is */
	if ((r ? errno : 0) != want && r != want)
		die(what);
}

static struct mlx5dv_devx_obj *sched_create(uint32_t type, uint32_t parent, uint32_t *id)
{
	void *sc = LAYOUT_IN(create_scheduling_element_in, scheduling_context, in);
	struct mlx5dv_devx_obj *obj;

	begin(PRM_OP_CREATE_SCHEDULING_ELEMENT, 0);
	LAYOUT_SET(create_scheduling_element_in, in, scheduling_hierarchy, 3);
	LAYOUT_SET(scheduling_context, sc, element_type, type);
	LAYOUT_SET(scheduling_context, sc, parent_element_id, parent);
	obj = create("scheduling element", LAYOUT_SZ(create_scheduling_element_in),
		     LAYOUT_SZ(create_scheduling_element_out));
	*id = (uint32_t)LAYOUT_GET(create_scheduling_element_out, out, scheduling_element_id);
	return obj;
}

static void tree(void)
{
	struct mlx5dv_devx_obj *root, *leaf, *general;
	void *sc = LAYOUT_IN(sched_elem, sched_context, in + 0x10);
	uint32_t root_id, leaf_id, id;

	root = sched_create(0, 0, &root_id);
	leaf = sched_create(4, root_id, &leaf_id);
	begin(PRM_OP_CREATE_GENERAL_OBJECT, PRM_GOBJ_SCHEDULING_ELEMENT);
	LAYOUT_SET(sched_elem, in + 0x10, scheduling_hierarchy, 3);
	LAYOUT_SET(sched_elem, in + 0x10, modify_field_select, PRM_SCHED_BW_SHARE);
	LAYOUT_SET(scheduling_context, sc, element_type, 4);
	LAYOUT_SET(scheduling_context, sc, parent_element_id, root_id);
	LAYOUT_SET(scheduling_context, sc, bw_share, 30);
	general = create("general object", 0x90, 0x10);
	id = (uint32_t)LAYOUT_GET(create_general_object_out, out, obj_id);

	begin(PRM_OP_QUERY_GENERAL_OBJECT, PRM_GOBJ_SCHEDULING_ELEMENT);
	LAYOUT_SET(query_general_object_in, in, obj_id, id);
	if (mlx5dv_devx_obj_query(general, in, 0x10, out, 0x90))
		die("query");
	sc = LAYOUT_IN(sched_elem, sched_context, out + 0x10);
	if (LAYOUT_GET(scheduling_context, sc, bw_share) != 30)
		die("share");
	/* the right number with another handle */
	if (!mlx5dv_devx_obj_query(leaf, in, 0x10, out, 0x90))
		die("query by another object");
	destroy("root in use", root, EINVAL);
	destroy("general", general, 0);
	destroy("leaf", leaf, 0);
	destroy("root", root, 0);
}

static void domain(void)
{
	struct mlx5dv_devx_obj *td, *tis;
	uint32_t tdn;

	begin(PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0);
	td = create("transport domain", 0x10, 0x10);
	tdn = (uint32_t)LAYOUT_GET(alloc_transport_domain_out, out, transport_domain);
	begin(PRM_OP_CREATE_TIS, 0);
	LAYOUT_SET(tisc, LAYOUT_IN(create_tis_in, ctx, in), transport_domain, tdn);
	tis = create("TIS", LAYOUT_SZ(create_tis_in), LAYOUT_SZ(create_tis_out));
	destroy("domain in use", td, EINVAL);
	destroy("TIS", tis, 0);
	destroy("domain", td, 0);
}

static void number(void)
{
	struct mlx5dv_devx_obj *qpn;

	begin(PRM_OP_CREATE_GENERAL_OBJECT, PRM_GOBJ_RESERVED_QPN);
	qpn = create("reserved QPN", 0x20, 0x10);
	if (!LAYOUT_GET(create_general_object_out, out, obj_id))
		die("QPN 0");
	destroy("reserved QPN", qpn, 0);
	/* an unknown type: refused, with the reason */
	begin(PRM_OP_CREATE_GENERAL_OBJECT, 0xffff);
	if (mlx5dv_devx_obj_create(ctx, in, 0x50, out, 0x10) ||
	    LAYOUT_GET(cmd_out, out, syndrome) != 0xa0001)
		die("unknown type");
}

int main(void)
{
	ctx = device_open();
	if (!ctx) {
		perror("open");
		return errno == ENODEV || errno == EOPNOTSUPP ? 77 : 1;
	}
	tree();
	domain();
	number();
	device_close(ctx);
	return 0;
}
