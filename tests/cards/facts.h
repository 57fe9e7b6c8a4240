/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The facts of facts.md. G: google/rdma-unit-test, its suite and test, which runs on ConnectX; I:
 * openucx/ucx#9908, ibv_devinfo -vv of a ConnectX-6, firmware 20.37.1700; E: the same of a
 * ConnectX-6 Dx, firmware 22.36.1010.
 */
#ifndef TESTS_CARDS_FACTS_H
#define TESTS_CARDS_FACTS_H

#define MORE_FACTS(X)                                                                             \
	X(rec_init, "G QpStateTest.PostSendInit")                                                 \
	X(rec_rtr, "G QpStateTest.PostSendRtr")                                                   \
	X(post_recv_early, "G QpStateTest.PostRecvRtr; INIT is inferred")                         \
	X(post_serve_rtr, "G RemoteRcQpStateTest Rtr, QpStateTest.RtsSendToRtr")                  \
	X(post_late, "G ResponderQpStateTest, BuffersMessagesWhenNotReadyToReceive")              \
	X(post_err_send, "G QpStateTest.PostSendErr, PostSendErrDelayed")                         \
	X(post_err_recv, "G QpStateTest.PostRecvErr")                                             \
	X(post_reuse, "G QpStateTest.ReuseQp")                                                    \
	X(post_full, "G QpPostTest.OverflowSendWr")                                               \
	X(post_alone, "U docs/experiments/04, 4.5")                                               \
	X(post_unsignalled, "G LoopbackRcQpTest.Unsignaled{Read,Write,FetchAdd}")                 \
	X(recv_key, "G LoopbackRcQpTest.{BadRecvLkey,RecvOnDeregisteredRegion}")                  \
	X(recv_range, "G LoopbackRcQpTest.{BadRecvAddr,RecvPayloadExceedMr}")                     \
	X(recv_right, "G MessagingAccessTest.MissingDstLocalWrite")                               \
	X(recv_long_segment, "G LoopbackRcQpTest.RecvBufferExceedMr")                             \
	X(recv_short, "G LoopbackRcQpTest.SendWithTooSmallRecv")                                  \
	X(recv_empty, "G LoopbackRcQpTest.{SendEmptySgl,WriteZeroByteWithImmData}")               \
	X(recv_write_imm, "G LoopbackRcQpTest.WriteImmData")                                      \
	X(recv_write_imm_key, "G LoopbackRcQpTest.WriteImmDataInvalidRKey")                       \
	X(recv_inline, "G LoopbackRcQpTest.{SendInlineData,WriteInlineData}")                     \
	X(srq_pd_recv, "G PdSrqTest.SrqRecvMrSrq{Match,Mismatch}")                                \
	X(srq_pd_write, "G PdSrqTest.QpSrqPdMismatchWriteWithImm")                                \
	X(srq_limit, "G SrqTest.SrqLimit")                                                        \
	X(srq_limit_once, "IBA 10.2.9.3; inferred")                                               \
	X(srq_last_wqe, "UCX test/gtest/uct/ib/test_ib_event.cc on rc_mlx5")                      \
	X(srq_err_keeps, "G SrqTest.QpFlush")                                                     \
	X(mw1_rebind, "G LoopbackRcQpTest.Type1MWUnbind")                                         \
	X(mw1_zero, "G MwType1Test.BindZeroLengthMw")                                             \
	X(mw1_other_qp, "G MwGeneralTest.BindReadDiffQp Type1")                                   \
	X(mw2_other_qp, "G MwGeneralTest.BindReadDiffQp Type2, MwType2Test.CrossQpRead")          \
	X(mw2_rebind, "G MwType2Test.RebindToDifferent{RKey,Qp}; the state is inferred")          \
	X(mw2_rebind_keeps, "inferred from mw2_rebind")                                           \
	X(mw2_zero, "G MwType2Test.BindZeroLengthMw")                                             \
	X(mw2_inv, "G MwType2Test.LocalInvalidate, MwType2AdvancedTest.Invalidate")               \
	X(mw2_inv_other, "G MwType2Test.CrossQpInvalidate")                                       \
	X(mw2_inv_key, "G MwType2Test.UnsignaledLocalInvalidateError")                            \
	X(mw2_send_inv, "G LoopbackRcQpTest.SendWithInvalidate{,EmptySgl}")                       \
	X(mw2_send_inv_wrong, "G LoopbackRcQpTest.SendWithInvalidate{BadRkey,Type1Rkey,WrongQp}") \
	X(mw2_low_byte, "G MwType2Test.{BindRKeyReuse,DistinctRKeys}")                            \
	X(mw_freed, "G MwType2AdvancedTest.Dealloc; type 1 is inferred")                          \
	X(mw_flushed, "G MwType1Test.BindType1WhenQpError, MwType2Test.BindType1WhenQpError")     \
	X(mw_destroy_qp, "G MwType{1,2}Test.DestroyQpWithType{1,2}Bound")                         \
	X(pd_own, "G PdRcLoopbackMrTest.*MrOtherPdLocal")                                         \
	X(pd_remote, "G PdRcLoopbackMrTest.*MrOtherPdRemote")                                     \
	X(pd_busy, "G PdTest.{Mr,Mw,Srq,Ah}RefCount")                                             \
	X(cq_busy, "G QpTest.QueueRefs")                                                          \
	X(srq_busy, "IBA o10-10.2.3; inferred")                                                   \
	X(mr_right, "G RdmaAccessTest, AtomicAccessTest MissingDst*")                             \
	X(mr_own_right, "G RdmaAccessTest, AtomicAccessTest.MissingSrcLocalWrite")                \
	X(mr_rights, "G MrTest.Remote{Write,Atomic}WithoutLocalWrite")                            \
	X(mr_zero, "G BufferTest.RegisterZeroByteMr")                                             \
	X(atomic_long, "G LoopbackRcQpTest.{FetchAdd,CompareSwap}InvalidSize, mlx5 deviates")     \
	X(atomic_add, "G LoopbackRcQpTest.FetchAdd{NoOp,LargeIncrement,IncrementBy1}")            \
	X(atomic_swap, "G LoopbackRcQpTest.CompareSwap*")                                         \
	X(ud_arrives, "G LoopbackUdQpTest.Send")                                                  \
	X(ud_no_receive, "G LoopbackUdQpTest.SendRnr")                                            \
	X(ud_short, "G LoopbackUdQpTest.SendWithTooSmallRecv")                                    \
	X(ud_qpn, "G LoopbackUdQpTest.SendInvalidQpn")                                            \
	X(ud_qkey, "G LoopbackUdQpTest.SendInvalidQKey")                                          \
	X(ud_long, "G LoopbackUdQpTest.SendLargerThanMtu; SQE is IBA figure 124")                 \
	X(ud_opcode, "G LoopbackUdQpTest.{Read,Write,FetchAdd,CompareSwap}; SQE as above")        \
	X(ud_class, "G LoopbackUdQpTest.SendTrafficClass")                                        \
	X(ud_ah_pd, "G PdUdLoopbackTest.SendAhOnOtherPd")                                         \
	X(ud_to_rc, "G AdvancedLoopbackTest.UdSendToRc")                                          \
	X(rc_to_ud, "G AdvancedLoopbackTest.RcSendToUd")                                          \
	X(note_any, "G CompChannelTest.Recv{Uns,S}olicitedNofityAny")                             \
	X(note_solicited, "G CompChannelTest.Recv{Uns,S}olicitedNofitySolicited")                 \
	X(note_down, "G CompChannelTest.DowngradeRequest")                                        \
	X(note_up, "G CompChannelTest.UpgradeRequest")                                            \
	X(note_once, "G CompChannelTest.NoSpuriousEvents")                                        \
	X(cq_overrun, "Linux eq.c cq_err_event_notifier(); xdp-newbies 2020-06-19")               \
	X(call_handle, "G *Test.D*InvalidMr, Cq, Srq, Mw, Pd")                                    \
	X(call_qp_handle, "G QpTest.*InvalidQp; the errno: Linux rdma_core.c")                    \
	X(call_made_of, "G *Test.*WithInvalid*")                                                  \
	X(call_context, "G DeviceTest.ContextTomfoolery")                                         \
	X(call_cqe, "G CqTest.{NegativeCqe,ZeroCqe,MaxCqe}")                                      \
	X(call_vector, "G CqTest.{Negative,Large,AboveMax}CompVector")                            \
	X(call_srq, "G SrqTest.{DeviceCap,ExceedDeviceMaxWr,ExceedDeviceMaxSge}")                 \
	X(call_qp_type, "G QpTest.UnknownType")                                                   \
	X(call_no_sends, "G QpTest.ZeroSendWr")                                                   \
	X(call_inline, "perftest#176: ConnectX-4 Lx, rdma-core 41")                               \
	X(call_attributes, "G QpTest.ModifyBad*StateTransition")                                  \
	X(call_skips, "G QpTest.ModifyInvalid*Transition; EINVAL: Linux ib_modify_qp_is_ok()")    \
	X(show_queues, "I, E")                                                                    \
	X(show_reads, "I, E; the product: Linux mlx5_ib_query_device()")                          \
	X(show_mcast, "I, E; the product: Linux mlx5_ib_query_device()")                          \
	X(show_ah, "I, E")                                                                        \
	X(show_ack_delay, "I, E")                                                                 \
	X(show_memory, "I, E")                                                                    \
	X(show_pkeys, "I, E")                                                                     \
	X(show_atomic, "I, E")                                                                    \
	X(show_none, "I, E")                                                                      \
	X(show_ids, "I, E")                                                                       \
	X(show_clock, "I, E")                                                                     \
	X(show_moderation, "I, E")                                                                \
	X(show_flags, "I, E")                                                                     \
	X(show_odp, "I, E")                                                                       \
	X(show_odp_rc, "I, E: atomics in I alone")                                                \
	X(show_odp_uc, "I, E")                                                                    \
	X(show_odp_ud, "I, E")                                                                    \
	X(show_odp_xrc, "I, E: atomics in I alone")                                               \
	X(show_tm, "I")                                                                           \
	X(show_tm_eth, "E")                                                                       \
	X(show_no_raw, "I")                                                                       \
	X(show_port, "I, E")                                                                      \
	X(show_vl, "I")                                                                           \
	X(show_gids, "I")                                                                         \
	X(show_sm, "I")                                                                           \
	X(show_eth, "E")

#endif
