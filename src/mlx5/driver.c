/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The driver as uverbs sees it: the ops table, and its objects, methods and attributes as data.
 * Anything not listed here is refused (EPROTONOSUPPORT, EOPNOTSUPP).
 */
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include "mlx5/priv.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/pd.h"
#include "wire/prm/qos.h"
#include "wire/prm/qp.h"
#include "wire/prm/xrc.h"

/* A command: at least a header, edited by the driver; and its output. */
#define ATTR_CMD_IN(i)                                                                             \
	{                                                                                          \
		.id = (i), .name = #i, .kind = UV_A_PTR_IN, .mandatory = true, .alloc_copy = true, \
		.min_len = LAYOUT_SZ(cmd_in), .max_len = 0xffff, .show = mlx5_show_cmd_in          \
	}
#define ATTR_CMD_OUT(i)                                                                     \
	{                                                                                   \
		.id = (i), .name = #i, .kind = UV_A_PTR_OUT, .mandatory = true,             \
		.min_len = LAYOUT_SZ(cmd_out), .max_len = 0xffff, .show = mlx5_show_cmd_out \
	}
#define METHOD(i, a, h)                                                                      \
	{                                                                                    \
		.id = (i), .name = #i, .attrs = (a), .nattrs = ARRAY_SIZE(a), .handler = (h) \
	}
#define OBJECT(i, t, m)                                                                       \
	{                                                                                     \
		.id = (i), .name = #i, .type = (t), .methods = (m), .nmethods = ARRAY_SIZE(m) \
	}

/* ---- additions to core objects */

static const struct uv_attr_def query_context_attrs[] = {
	UV_ATTR_OUT_STRUCT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, struct mlx5_ib_alloc_ucontext_resp,
			   dump_fill_mkey, true),
};
static const struct uv_attr_def query_port_attrs[] = {
	UV_ATTR_IN(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, uint32_t, true),
	UV_ATTR_OUT_STRUCT(MLX5_IB_ATTR_QUERY_PORT, struct mlx5_ib_uapi_query_port, reg_c0, true),
};
static const struct uv_method_def device_methods[] = {
	METHOD(UVERBS_METHOD_QUERY_CONTEXT, query_context_attrs, NULL),
	METHOD(MLX5_IB_METHOD_QUERY_PORT, query_port_attrs, mlx5_method_query_port),
};

static const struct uv_attr_def pd_query_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_QUERY_PD_HANDLE, &uv_type_pd, UV_READ, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, uint32_t, true),
};
static const struct uv_method_def pd_methods[] = {
	METHOD(MLX5_IB_METHOD_PD_QUERY, pd_query_attrs, mlx5_method_pd_query),
};

static const struct uv_attr_def dm_alloc_attrs[] = {
	UV_ATTR_OUT(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, uint64_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, uint16_t, false),
	UV_ATTR_CONST(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, UINT32_MAX, false),
};
static const struct uv_attr_def dm_map_op_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE, &uv_type_dm, UV_READ, true),
	UV_ATTR_IN(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, uint8_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, uint64_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, uint16_t, false),
};
static const struct uv_attr_def dm_query_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, &uv_type_dm, UV_READ, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, uint64_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, uint16_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, uint64_t, true),
};
static const struct uv_method_def dm_methods[] = {
	METHOD(UVERBS_METHOD_DM_ALLOC, dm_alloc_attrs, NULL),
	METHOD(MLX5_IB_METHOD_DM_MAP_OP_ADDR, dm_map_op_attrs, mlx5_method_dm_map_op_addr),
	METHOD(MLX5_IB_METHOD_DM_QUERY, dm_query_attrs, mlx5_method_dm_query),
};

/* ---- DEVX */

static const struct uv_attr_def other_attrs[] = {
	ATTR_CMD_IN(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN),
	ATTR_CMD_OUT(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT),
};
static const struct uv_attr_def query_uar_attrs[] = {
	UV_ATTR_IN(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, uint32_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, uint32_t, true),
};
static const struct uv_attr_def query_eqn_attrs[] = {
	UV_ATTR_IN(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, uint32_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, uint32_t, true),
};
static const struct uv_attr_def subscribe_attrs[] = {
	UV_ATTR_FD(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, &mlx5_devx_event_file_type, UV_READ,
		   true),
	UV_ATTR_IDR(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, &mlx5_devx_obj_type, UV_READ,
		    false),
	UV_ATTR_IN_MIN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, sizeof(uint16_t), true),
	UV_ATTR_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, uint64_t, false),
	UV_ATTR_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, uint32_t, false),
};
static const struct uv_method_def devx_methods[] = {
	METHOD(MLX5_IB_METHOD_DEVX_OTHER, other_attrs, mlx5_method_devx_other),
	METHOD(MLX5_IB_METHOD_DEVX_QUERY_UAR, query_uar_attrs, mlx5_method_devx_query_uar),
	METHOD(MLX5_IB_METHOD_DEVX_QUERY_EQN, query_eqn_attrs, mlx5_method_devx_query_eqn),
	METHOD(MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, subscribe_attrs,
	       mlx5_method_devx_subscribe_event),
};

static const struct uv_attr_def obj_create_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, &mlx5_devx_obj_type, UV_NEW, true),
	ATTR_CMD_IN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN),
	ATTR_CMD_OUT(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT),
};
static const struct uv_attr_def obj_destroy_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, &mlx5_devx_obj_type, UV_DESTROY_ACCESS,
		    true),
};
static const struct uv_attr_def obj_modify_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, NULL, UV_READ, true),
	ATTR_CMD_IN(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN),
	ATTR_CMD_OUT(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT),
};
static const struct uv_attr_def obj_query_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, NULL, UV_READ, true),
	ATTR_CMD_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN),
	ATTR_CMD_OUT(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT),
};
static const struct uv_attr_def obj_async_query_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, NULL, UV_READ, true),
	ATTR_CMD_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN),
	UV_ATTR_FD(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, &mlx5_devx_cmd_file_type, UV_READ, true),
	UV_ATTR_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, uint64_t, true),
	UV_ATTR_CONST(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, UINT16_MAX, true),
};
static const struct uv_method_def devx_obj_methods[] = {
	METHOD(MLX5_IB_METHOD_DEVX_OBJ_CREATE, obj_create_attrs, mlx5_method_devx_obj_create),
	METHOD(MLX5_IB_METHOD_DEVX_OBJ_DESTROY, obj_destroy_attrs, uv_destroy_handler),
	METHOD(MLX5_IB_METHOD_DEVX_OBJ_MODIFY, obj_modify_attrs, mlx5_method_devx_obj_modify),
	METHOD(MLX5_IB_METHOD_DEVX_OBJ_QUERY, obj_query_attrs, mlx5_method_devx_obj_query),
	METHOD(MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, obj_async_query_attrs,
	       mlx5_method_devx_obj_async_query),
};

#define UMEM_ACCESS                                                     \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_RELAXED_ORDERING)

static const struct uv_attr_def umem_reg_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, &mlx5_devx_umem_type, UV_NEW, true),
	UV_ATTR_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, uint64_t, true),
	UV_ATTR_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, uint64_t, true),
	UV_ATTR_FLAGS(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, UMEM_ACCESS, false),
	UV_ATTR_OUT(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, uint32_t, true),
	UV_ATTR_CONST(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 0, false),
	{.id = MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD,
	 .name = "MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD",
	 .kind = UV_A_RAW_FD},
};
static const struct uv_attr_def umem_dereg_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, &mlx5_devx_umem_type, UV_DESTROY_ACCESS,
		    true),
};
static const struct uv_method_def devx_umem_methods[] = {
	METHOD(MLX5_IB_METHOD_DEVX_UMEM_REG, umem_reg_attrs, mlx5_method_devx_umem_reg),
	METHOD(MLX5_IB_METHOD_DEVX_UMEM_DEREG, umem_dereg_attrs, uv_destroy_handler),
};

static const struct uv_attr_def cmd_file_attrs[] = {
	UV_ATTR_FD(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, &mlx5_devx_cmd_file_type, UV_NEW,
		   true),
};
static const struct uv_method_def cmd_file_methods[] = {
	METHOD(MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, cmd_file_attrs,
	       mlx5_method_devx_cmd_file_alloc),
};

static const struct uv_attr_def event_file_attrs[] = {
	UV_ATTR_FD(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, &mlx5_devx_event_file_type,
		   UV_NEW, true),
	UV_ATTR_FLAGS(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS,
		      MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA, true),
};
static const struct uv_method_def event_file_methods[] = {
	METHOD(MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, event_file_attrs,
	       mlx5_method_devx_event_file_alloc),
};

/* ---- UARs */

static const struct uv_attr_def uar_alloc_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &mlx5_uar_type, UV_NEW, true),
	UV_ATTR_CONST(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, UINT32_MAX, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, uint64_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, uint32_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uint32_t, true),
};
static const struct uv_attr_def uar_destroy_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, &mlx5_uar_type, UV_DESTROY_ACCESS, true),
};
static const struct uv_method_def uar_methods[] = {
	METHOD(MLX5_IB_METHOD_UAR_OBJ_ALLOC, uar_alloc_attrs, mlx5_method_uar_alloc),
	METHOD(MLX5_IB_METHOD_UAR_OBJ_DESTROY, uar_destroy_attrs, uv_destroy_handler),
};

/* ---- VARs and packet pacing */

static const struct uv_attr_def var_alloc_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, &mlx5_var_type, UV_NEW, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, uint64_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH, uint32_t, true),
	UV_ATTR_OUT(MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, uint32_t, true),
};
static const struct uv_attr_def var_destroy_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE, &mlx5_var_type, UV_DESTROY_ACCESS, true),
};
static const struct uv_method_def var_methods[] = {
	METHOD(MLX5_IB_METHOD_VAR_OBJ_ALLOC, var_alloc_attrs, mlx5_method_var_alloc),
	METHOD(MLX5_IB_METHOD_VAR_OBJ_DESTROY, var_destroy_attrs, uv_destroy_handler),
};

static const struct uv_attr_def pp_alloc_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, &mlx5_pp_type, UV_NEW, true),
	{.id = MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX,
	 .name = "MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX",
	 .kind = UV_A_PTR_IN,
	 .mandatory = true,
	 .alloc_copy = true,
	 .min_len = 1,
	 .max_len = LAYOUT_SZ(set_pp_rate_limit_context)},
	UV_ATTR_FLAGS(MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX,
		      true),
	UV_ATTR_OUT(MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, uint16_t, true),
};
static const struct uv_attr_def pp_destroy_attrs[] = {
	UV_ATTR_IDR(MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE, &mlx5_pp_type, UV_DESTROY_ACCESS, true),
};
static const struct uv_method_def pp_methods[] = {
	METHOD(MLX5_IB_METHOD_PP_OBJ_ALLOC, pp_alloc_attrs, mlx5_method_pp_alloc),
	METHOD(MLX5_IB_METHOD_PP_OBJ_DESTROY, pp_destroy_attrs, uv_destroy_handler),
};

static const struct uv_object_def mlx5_objects[] = {
	OBJECT(UVERBS_OBJECT_DEVICE, NULL, device_methods),
	OBJECT(UVERBS_OBJECT_PD, NULL, pd_methods),
	OBJECT(UVERBS_OBJECT_DM, NULL, dm_methods),
	OBJECT(MLX5_IB_OBJECT_UAR, &mlx5_uar_type, uar_methods),
	OBJECT(MLX5_IB_OBJECT_VAR, &mlx5_var_type, var_methods),
	OBJECT(MLX5_IB_OBJECT_PP, &mlx5_pp_type, pp_methods),
/* the last: devx_is_supported() of mlx5_ib removes them */
#define DEVX_OBJECTS 5
	OBJECT(MLX5_IB_OBJECT_DEVX, NULL, devx_methods),
	OBJECT(MLX5_IB_OBJECT_DEVX_OBJ, &mlx5_devx_obj_type, devx_obj_methods),
	OBJECT(MLX5_IB_OBJECT_DEVX_UMEM, &mlx5_devx_umem_type, devx_umem_methods),
	OBJECT(MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, &mlx5_devx_cmd_file_type, cmd_file_methods),
	OBJECT(MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, &mlx5_devx_event_file_type, event_file_methods),
};

const struct uv_driver mlx5_driver = {
	.name = "mlx5",
	.driver_id = RDMA_DRIVER_MLX5,
	.objects = mlx5_objects,
	.nobjects = ARRAY_SIZE(mlx5_objects),

	.alloc_ucontext = mlx5_alloc_ucontext,
	.dealloc_ucontext = mlx5_dealloc_ucontext,
	.query_ucontext = mlx5_query_ucontext,
	.query_device = mlx5_query_device,
	.get_device = mlx5_get_device,
	.query_gid = mlx5_query_gid,
	.find_neighbour = mlx5_find_neighbour,
	.query_port = mlx5_query_port,
	.mmap = mlx5_mmap,

	.alloc_pd = mlx5_alloc_pd,
	.dealloc_pd = mlx5_dealloc_pd,
	.create_ah = mlx5_create_ah,
	.reg_mr = mlx5_reg_mr,
	.rereg_mr = mlx5_rereg_mr,
	.dereg_mr = mlx5_dereg_mr,
	.advise_mr = mlx5_advise_mr,
	.alloc_dm = mlx5_alloc_dm,
	.dealloc_dm = mlx5_dealloc_dm,
	.reg_dm_mr = mlx5_reg_dm_mr,
	.alloc_mw = mlx5_alloc_mw,
	.dealloc_mw = mlx5_dealloc_mw,
	.create_cq = mlx5_create_cq,
	.resize_cq = mlx5_resize_cq,
	.modify_cq = mlx5_modify_cq,
	.destroy_cq = mlx5_destroy_cq,
	.cq_target = mlx5_cq_target,
	.create_srq = mlx5_create_srq,
	.modify_srq = mlx5_modify_srq,
	.query_srq = mlx5_query_srq,
	.destroy_srq = mlx5_destroy_srq,
	.srq_target = mlx5_srq_target,
	.create_qp = mlx5_create_qp,
	.modify_qp = mlx5_modify_qp,
	.query_qp = mlx5_query_qp,
	.destroy_qp = mlx5_destroy_qp,
	.qp_refused = mlx5_qp_refused,
	.qp_target = mlx5_qp_target,
	.attach_mcast = mlx5_attach_mcast,
	.detach_mcast = mlx5_detach_mcast,
	.share_lock = mlx5_share_lock,
	.share_unlock = mlx5_share_unlock,
	.find_xrcd = mlx5_find_xrcd,
	.alloc_xrcd = mlx5_alloc_xrcd,
	.open_xrcd = mlx5_open_xrcd,
	.dealloc_xrcd = mlx5_dealloc_xrcd,
	.open_qp = mlx5_open_qp,
	.create_wq = mlx5_create_wq,
	.modify_wq = mlx5_modify_wq,
	.destroy_wq = mlx5_destroy_wq,
	.wq_target = mlx5_wq_target,
	.create_rwq_ind_tbl = mlx5_create_rwq_ind_tbl,
	.destroy_rwq_ind_tbl = mlx5_destroy_rwq_ind_tbl,
	.create_counters = mlx5_create_counters,
	.destroy_counters = mlx5_destroy_counters,
};

/* As mlx5_ib_stage_caps_init() and mlx5_ib_odp_init_one() add operations. */
struct uv_driver mlx5_driver_of(const struct hw_caps *c)
{
	struct uv_driver d = mlx5_driver;

	if (!c->srq) {
		d.create_srq = NULL;
		d.destroy_srq = NULL;
		d.alloc_xrcd = NULL;
		d.open_xrcd = NULL;
		d.dealloc_xrcd = NULL;
	}
	if (!c->mw) {
		d.alloc_mw = NULL;
		d.dealloc_mw = NULL;
	}
	if (!c->odp)
		d.advise_mr = NULL;
	if (!c->memic) {
		d.alloc_dm = NULL;
		d.dealloc_dm = NULL;
	}
	if (!c->log_max_uctx)
		d.nobjects -= DEVX_OBJECTS;
	return d;
}
