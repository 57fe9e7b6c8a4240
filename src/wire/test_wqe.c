/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* WQE and CQE layouts against rdma-core's structures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <infiniband/mlx5dv.h>

#include "wire/wqe/cqe.h"
#include "wire/wqe/tm.h"
#include "wire/wqe/wqe.h"

/* Set all bits of one member of a zeroed structure: exactly the layout's field must change. */
#define MEMBER(type, member, l, f)                                                    \
	do {                                                                          \
		struct type v;                                                        \
		memset(&v, 0, sizeof(v));                                             \
		memset(&v.member, 0xff, sizeof(v.member));                            \
		assert_int_equal(sizeof(v), LAYOUT_SZ(l));                            \
		assert_true(LAYOUT_GET(l, &v, f) == bits_max(LF_##l##_##f##_WIDTH));  \
		assert_true(LF_##l##_##f##_BIT / 8 >= offsetof(struct type, member)); \
		assert_true((LF_##l##_##f##_BIT + LF_##l##_##f##_WIDTH - 1) / 8 <     \
			    offsetof(struct type, member) + sizeof(v.member));        \
	} while (0)

static void ctrl(void **state)
{
	struct mlx5_wqe_ctrl_seg c;

	mlx5dv_set_ctrl_seg(&c, 0xabcd, MLX5_OPCODE_RDMA_READ, 0x12, 0x345678,
			    MLX5_WQE_CTRL_CQ_UPDATE | MLX5_WQE_CTRL_SOLICITED | MLX5_WQE_CTRL_FENCE,
			    0x3f, 0x99, htobe32(0xdeadbeef));
	assert_int_equal(sizeof(c), LAYOUT_SZ(wqe_ctrl));
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, wqe_index), 0xabcd);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, opcode), MLX5_OPCODE_RDMA_READ);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, opmod), 0x12);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, qpn), 0x345678);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, ds), 0x3f);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, signature), 0x99);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, fm), 4);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, ce), WQE_CE_ALWAYS);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, se), 1);
	assert_int_equal(LAYOUT_GET(wqe_ctrl, &c, imm), 0xdeadbeef);
}

static void segments(void **state)
{
	struct mlx5_wqe_data_seg d;

	mlx5dv_set_data_seg(&d, 0x12345678, 0xabcdef01, 0x1122334455667788);
	assert_int_equal(LAYOUT_GET(wqe_data, &d, byte_count), 0x12345678);
	assert_int_equal(LAYOUT_GET(wqe_data, &d, lkey), 0xabcdef01);
	assert_true(LAYOUT_GET(wqe_data, &d, addr) == 0x1122334455667788);
	assert_int_equal(LAYOUT_GET(wqe_data, &d, inline_seg), 0);
	d.byte_count = htobe32(MLX5_INLINE_SEG);
	assert_int_equal(LAYOUT_GET(wqe_data, &d, inline_seg), 1);
	assert_int_equal(WQE_INLINE_HDR, sizeof(struct mlx5_wqe_inl_data_seg));
	assert_int_equal(WQE_INVALID_LKEY, MLX5_INVALID_LKEY);
	MEMBER(mlx5_wqe_umr_ctrl_seg, klm_octowords, wqe_umr, klm_octowords);
	MEMBER(mlx5_wqe_umr_ctrl_seg, translation_offset, wqe_umr, translation_offset);
	MEMBER(mlx5_wqe_umr_ctrl_seg, mkey_mask, wqe_umr, mkey_mask);
	MEMBER(mlx5_wqe_umr_klm_seg, byte_count, wqe_klm, byte_count);
	MEMBER(mlx5_wqe_umr_klm_seg, mkey, wqe_klm, mkey);
	MEMBER(mlx5_wqe_umr_klm_seg, address, wqe_klm, addr);
	MEMBER(mlx5_wqe_umr_repeat_block_seg, byte_count, wqe_repeat, byte_count);
	MEMBER(mlx5_wqe_umr_repeat_block_seg, op, wqe_repeat, op);
	MEMBER(mlx5_wqe_umr_repeat_block_seg, repeat_count, wqe_repeat, repeat_count);
	MEMBER(mlx5_wqe_umr_repeat_block_seg, num_ent, wqe_repeat, num_ent);
	MEMBER(mlx5_wqe_umr_repeat_ent_seg, stride, wqe_repeat_ent, stride);
	MEMBER(mlx5_wqe_umr_repeat_ent_seg, byte_count, wqe_repeat_ent, byte_count);
	MEMBER(mlx5_wqe_umr_repeat_ent_seg, memkey, wqe_repeat_ent, mkey);
	MEMBER(mlx5_wqe_umr_repeat_ent_seg, va, wqe_repeat_ent, va);
	MEMBER(mlx5_wqe_atomic_seg, swap_add, wqe_atomic, swap_add);
	MEMBER(mlx5_wqe_atomic_seg, compare, wqe_atomic, compare);
	MEMBER(mlx5_wqe_raddr_seg, raddr, wqe_raddr, va);
	MEMBER(mlx5_wqe_raddr_seg, rkey, wqe_raddr, rkey);
	MEMBER(mlx5_wqe_srq_next_seg, next_wqe_index, wqe_srq_next, next_wqe_index);
}

static void av(void **state)
{
	struct mlx5_wqe_datagram_seg dg;
	struct mlx5_wqe_av *a = &dg.av;

	memset(&dg, 0, sizeof(dg));
	assert_int_equal(sizeof(dg), LAYOUT_SZ(wqe_av));
	a->key.qkey.qkey = htobe32(0x11223344);
	a->dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | 0xabcdef);
	a->stat_rate_sl = 0x57;
	a->fl_mlid = 0x83;
	a->rlid = htobe16(0x1234);
	a->tclass = 0x66;
	a->hop_limit = 0x77;
	a->grh_gid_fl = htobe32(1u << 30 | 0x9au << 20 | 0xbcdef);
	a->rgid[0] = 0xfe;
	a->rgid[15] = 0x01;
	assert_int_equal(LAYOUT_GET(wqe_av, a, qkey), 0x11223344);
	assert_int_equal(LAYOUT_GET(wqe_av, a, ext), 1);
	assert_int_equal(LAYOUT_GET(wqe_av, a, dqpn), 0xabcdef);
	assert_int_equal(LAYOUT_GET(wqe_av, a, stat_rate), 5);
	assert_int_equal(LAYOUT_GET(wqe_av, a, sl), 7);
	assert_int_equal(LAYOUT_GET(wqe_av, a, fl), 1);
	assert_int_equal(LAYOUT_GET(wqe_av, a, mlid), 3);
	assert_int_equal(LAYOUT_GET(wqe_av, a, rlid), 0x1234);
	assert_int_equal(LAYOUT_GET(wqe_av, a, tclass), 0x66);
	assert_int_equal(LAYOUT_GET(wqe_av, a, hop_limit), 0x77);
	assert_int_equal(LAYOUT_GET(wqe_av, a, grh), 1);
	assert_int_equal(LAYOUT_GET(wqe_av, a, sgid_index), 0x9a);
	assert_int_equal(LAYOUT_GET(wqe_av, a, flow_label), 0xbcdef);
	assert_true(LAYOUT_GET(wqe_av, a, rgid_0) >> 56 == 0xfe);
	assert_true(LAYOUT_GET(wqe_av, a, rgid_8) == 1);
	assert_int_equal(WQE_AV_RGID, offsetof(struct mlx5_wqe_av, rgid));
}

static void cqe(void **state)
{
	struct mlx5_cqe64 c;

	MEMBER(mlx5_cqe64, wqe_id, cqe64, wqe_id);
	MEMBER(mlx5_cqe64, ml_path, cqe64, ml_path);
	MEMBER(mlx5_cqe64, slid, cqe64, slid);
	MEMBER(mlx5_cqe64, hds_ip_ext, cqe64, hds_ip_ext);
	MEMBER(mlx5_cqe64, l4_hdr_type_etc, cqe64, l4_hdr_type);
	MEMBER(mlx5_cqe64, vlan_info, cqe64, vlan_info);
	MEMBER(mlx5_cqe64, srqn_uidx, cqe64, srqn_uidx);
	MEMBER(mlx5_cqe64, imm_inval_pkey, cqe64, imm_inval_pkey);
	MEMBER(mlx5_cqe64, app, cqe64, app);
	MEMBER(mlx5_cqe64, app_op, cqe64, app_op);
	MEMBER(mlx5_cqe64, app_info, cqe64, app_info);
	MEMBER(mlx5_cqe64, byte_cnt, cqe64, byte_cnt);
	MEMBER(mlx5_cqe64, timestamp, cqe64, timestamp);
	MEMBER(mlx5_cqe64, wqe_counter, cqe64, wqe_counter);
	MEMBER(mlx5_cqe64, signature, cqe64, signature);
	memset(&c, 0, sizeof(c));
	LAYOUT_SET(cqe64, &c, opcode, CQE_RESP_SEND_IMM);
	LAYOUT_SET(cqe64, &c, se, 1);
	LAYOUT_SET(cqe64, &c, owner, 1);
	LAYOUT_SET(cqe64, &c, grh, 1);
	LAYOUT_SET(cqe64, &c, sl, 0xa);
	LAYOUT_SET(cqe64, &c, rqpn, 0x123456);
	LAYOUT_SET(cqe64, &c, send_opcode, 0xee);
	LAYOUT_SET(cqe64, &c, qpn, 0x654321);
	assert_int_equal(mlx5dv_get_cqe_opcode(&c), MLX5_CQE_RESP_SEND_IMM);
	assert_int_equal(mlx5dv_get_cqe_se(&c), 1);
	assert_int_equal(mlx5dv_get_cqe_owner(&c), 1);
	assert_int_equal(mlx5dv_get_cqe_format(&c), 0);
	assert_int_equal(be32toh(c.flags_rqpn), 1u << 28 | 0xau << 24 | 0x123456);
	assert_int_equal(be32toh(c.sop_drop_qpn), 0xee654321);
}

static void err_cqe(void **state)
{
	MEMBER(mlx5_err_cqe, srqn, err_cqe, srqn_uidx);
	MEMBER(mlx5_err_cqe, vendor_err_synd, err_cqe, vendor_err);
	MEMBER(mlx5_err_cqe, syndrome, err_cqe, syndrome);
	MEMBER(mlx5_err_cqe, wqe_counter, err_cqe, wqe_counter);
	MEMBER(mlx5_err_cqe, s_wqe_opcode_qpn, err_cqe, qpn);
	assert_int_equal(CQE_SYND_RNR_RETRY_EXC, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
	assert_int_equal(CQE_SYND_WR_FLUSH, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	assert_string_equal(cqe_syndrome_name(MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR),
			    "REMOTE_ACCESS");
	assert_string_equal(wqe_opcode_name(MLX5_OPCODE_MMO), "MMO");
}

/* rdma-core's structures of signatures are private: bytes as umr_finalize_and_set_psvs() makes
 * them. */
static void signatures(void **state)
{
	static const uint8_t bsf[WQE_BSF_BYTES] = {
		0x90, 0xf0, 0x30, 3,    0xff, 0xff,        0xff, 0xff, 0x43, 0,   0,
		9,    0,    0,    1,    8,    [48] = 0xc0, 0,    0xab, 0xcd, 1,   2,
		3,    4,    2,    0x88, 0,    0,           0,    0x42, 0xff, 0xff};
	static const uint8_t cqe[64] =
		{[16] = 0x12, 0x34, 0xab, 0xcd, 0x12, 0x35,     0xab, 0xcd,        0,
		 0,           0,    7,    0,    0,    0,        8,    [32] = 0x20, 0,
		 0,           1,    0,    0x12, 0x34, 0x56,     0,    0,           0,
		 0,           0,    0,    2,    8,    [57] = 1, 2,    3,           [63] = 0xc1};
	const uint8_t *inl = bsf + WQE_BSF_MEM_INL;

	assert_int_equal(LAYOUT_GET(wqe_bsf, bsf, bsf_size), WQE_BSF_WITH_INLINE);
	assert_int_equal(LAYOUT_GET(wqe_bsf, bsf, sbs), 1);
	assert_int_equal(LAYOUT_GET(wqe_bsf, bsf, check_byte_mask), 0xf0);
	assert_int_equal(LAYOUT_GET(wqe_bsf, bsf, wire_bs), 0x30);
	assert_int_equal(LAYOUT_GET(wqe_bsf, bsf, mem_bs), 3);
	assert_int_equal(LAYOUT_GET(wqe_bsf, bsf, w_bfs),
			 WQE_BFS_CRC32C | WQE_BFS_REPEAT | WQE_BFS_SEED_0);
	assert_int_equal(LAYOUT_GET(wqe_bsf, bsf, w_psv), 9);
	assert_int_equal(LAYOUT_GET(wqe_bsf, bsf, m_psv), 0x108);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, valid), 1);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, refresh), 1);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, apptag), 0xabcd);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, reftag), 0x01020304);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, sig_type), WQE_DIF_IPCS);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, repeat), 1);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, seed), 1);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, inc_reftag), 1);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, appref_escape), 1);
	assert_int_equal(LAYOUT_GET(wqe_bsf_inl, inl, apptag_escape), 0);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, expected_trans_sig), 0x1234abcd);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, actual_trans_sig), 0x1235abcd);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, expected_ref_tag), 7);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, actual_ref_tag), 8);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, syndrome), CQE_SIG_GUARD);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, domain), CQE_SIG_MEMORY);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, mkey), 0x123456);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, sig_err_offset), 520);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, qpn), 0x010203);
	assert_int_equal(LAYOUT_GET(sigerr_cqe, cqe, opcode), MLX5_CQE_SIG_ERR);
	assert_int_equal(CQE_SIG_ERR, MLX5_CQE_SIG_ERR);
	assert_int_equal(WQE_UMR_SIG_ERR, MLX5_WQE_UMR_CTRL_MKEY_MASK_SIG_ERR);
	assert_int_equal(WQE_UMR_BSF_ENABLE, MLX5_WQE_UMR_CTRL_MKEY_MASK_BSF_ENABLE);
	assert_int_equal(WQE_OP_SET_PSV, MLX5_OPCODE_SET_PSV);
}

/* Members with names of their own, by mlx5dv.h and tm_types.h. */
static void tag_matching(void **state)
{
	struct mlx5_wqe_tm_seg seg = {.opcode = 1 << 4,
				      .flags = 0xc0,
				      .index = htobe16(0x1234),
				      .sw_cnt = htobe16(0x5678),
				      .append_tag = htobe64(0x0102030405060708),
				      .append_mask = htobe64(0x1112131415161718)};
	struct ibv_tmh tmh = {.opcode = IBV_TMH_FIN,
			      .app_ctx = htobe32(0x21222324),
			      .tag = htobe64(UINT64_MAX - 2)};
	struct ibv_rvh rvh = {.va = htobe64(0x3132333435363738),
			      .rkey = htobe32(0x41424344),
			      .len = htobe32(0x51525354)};
	struct mlx5_cqe64 cqe = {.app = 1, .app_op = 10, .app_info = htobe16(0x6162)};

	cqe.tm_cqe.success = htobe32(UINT32_C(1) << 31);
	cqe.tm_cqe.hw_phase_cnt = htobe16(0x7172);
	assert_int_equal(sizeof(seg), LAYOUT_SZ(wqe_tm));
	assert_int_equal(LAYOUT_GET(wqe_tm, &seg, opcode), WQE_TM_APPEND);
	assert_int_equal(LAYOUT_GET(wqe_tm, &seg, cqe_req), 1);
	assert_int_equal(LAYOUT_GET(wqe_tm, &seg, sw_cnt_valid), 1);
	assert_int_equal(LAYOUT_GET(wqe_tm, &seg, index), 0x1234);
	assert_int_equal(LAYOUT_GET(wqe_tm, &seg, sw_cnt), 0x5678);
	assert_int_equal(LAYOUT_GET(wqe_tm, &seg, tag), 0x0102030405060708);
	assert_int_equal(LAYOUT_GET(wqe_tm, &seg, mask), 0x1112131415161718);
	assert_int_equal(sizeof(tmh), LAYOUT_SZ(tmh));
	assert_int_equal(LAYOUT_GET(tmh, &tmh, opcode), TMH_FIN);
	assert_int_equal(LAYOUT_GET(tmh, &tmh, app_ctx), 0x21222324);
	assert_int_equal(LAYOUT_GET(tmh, &tmh, tag), UINT64_MAX - 2);
	assert_int_equal(sizeof(rvh), LAYOUT_SZ(rvh));
	assert_int_equal(LAYOUT_GET(rvh, &rvh, va), 0x3132333435363738);
	assert_int_equal(LAYOUT_GET(rvh, &rvh, rkey), 0x41424344);
	assert_int_equal(LAYOUT_GET(rvh, &rvh, len), 0x51525354);
	assert_int_equal(LAYOUT_GET(cqe64, &cqe, app), CQE_APP_TAG_MATCHING);
	assert_int_equal(LAYOUT_GET(cqe64, &cqe, app_op), CQE_TM_CONSUMED_MSG);
	assert_int_equal(LAYOUT_GET(cqe64, &cqe, app_info), 0x6162);
	assert_int_equal(LAYOUT_GET(tm_cqe, &cqe, success), 1);
	assert_int_equal(LAYOUT_GET(tm_cqe, &cqe, hw_phase_cnt), 0x7172);
	assert_int_equal(TMH_NO_TAG, IBV_TMH_NO_TAG);
	assert_int_equal(TMH_RNDV, IBV_TMH_RNDV);
	assert_int_equal(TMH_EAGER, IBV_TMH_EAGER);
	assert_int_equal(WQE_OP_TAG_MATCHING, MLX5_OPCODE_TAG_MATCHING);
	assert_int_equal(CQE_NO_PACKET, MLX5_CQE_NO_PACKET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ctrl),         cmocka_unit_test(segments),
		cmocka_unit_test(av),           cmocka_unit_test(cqe),
		cmocka_unit_test(err_cqe),      cmocka_unit_test(signatures),
		cmocka_unit_test(tag_matching),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
