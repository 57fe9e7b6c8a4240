// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* SET_OPTION and GET_OPTION. */
#include "ucma.h"
#include "states.h"

const struct row option_rows[] = {
	{"TOS", "ucma_set_option_id: one byte", 0, IDLE, "set_option A 0 0 u8:0x68 -> 0\n"},
	{"TOS as an int", "ucma_set_option_id: optlen", 0, IDLE,
	 "set_option A 0 0 int:0x68 -> EINVAL\n"},
	{"TOS of no byte", "ucma_set_option_id: optlen", 0, IDLE,
	 "set_option A 0 0 u8:1 optlen=0 -> EINVAL\n"},
	{"TOS of an established id", "rdma_set_service_type: any state", 0, CONNECTED,
	 "set_option A 0 0 u8:1 -> 0\n"},
	{"TOS of UDP", "rdma_set_service_type: any type", 0, UD_IDLE,
	 "set_option U 0 0 u8:1 -> 0\n"},
	{"REUSEADDR", "rdma_set_reuseaddr", 0, IDLE,
	 "set_option A 0 1 int:1 -> 0\n"
	 "set_option A 0 1 int:0 -> 0\n"
	 "set_option A 0 1 int:5 -> 0\n"},
	{"REUSEADDR as a byte", "ucma_set_option_id: optlen", 0, IDLE,
	 "set_option A 0 1 u8:1 -> EINVAL\n"},
	{"REUSEADDR of 8 bytes", "ucma_set_option_id: optlen", 0, IDLE,
	 "set_option A 0 1 #8 -> EINVAL\n"},
	{"REUSEADDR of a bound id", "rdma_set_reuseaddr: on, never off", 0, BOUND,
	 "set_option A 0 1 int:1 -> 0\n"
	 "set_option A 0 1 int:0 -> EINVAL\n"},
	{"REUSEADDR of a listener", "rdma_set_reuseaddr", 0, LISTENING,
	 "set_option A 0 1 int:1 -> EINVAL\n"
	 "set_option A 0 1 int:0 -> EINVAL\n"},
	{"REUSEADDR of a resolved id", "rdma_set_reuseaddr", 0, RESOLVED,
	 "set_option A 0 1 int:1 -> 0\n"
	 "set_option A 0 1 int:0 -> EINVAL\n"},
	{"REUSEADDR of an established id", "rdma_set_reuseaddr", 0, CONNECTED,
	 "set_option A 0 1 int:1 -> 0\n"
	 "set_option A 0 1 int:0 -> EINVAL\n"},
	{"AFONLY", "rdma_set_afonly", 0, IDLE,
	 "set_option A 0 2 int:1 -> 0\n"
	 "set_option A 0 2 int:0 -> 0\n"},
	{"AFONLY as a byte", "ucma_set_option_id: optlen", 0, IDLE,
	 "set_option A 0 2 u8:1 -> EINVAL\n"},
	{"AFONLY of a bound id", "rdma_set_afonly: IDLE or ADDR_BOUND", 0, BOUND,
	 "set_option A 0 2 int:1 -> 0\n"},
	{"AFONLY of a listener", "rdma_set_afonly", 0, LISTENING,
	 "set_option A 0 2 int:1 -> EINVAL\n"},
	{"AFONLY of a resolved id", "rdma_set_afonly", 0, RESOLVED,
	 "set_option A 0 2 int:1 -> EINVAL\n"},
	{"AFONLY of an established id", "rdma_set_afonly", 0, CONNECTED,
	 "set_option A 0 2 int:1 -> EINVAL\n"},
	{"ACK_TIMEOUT", "rdma_set_ack_timeout", 0, IDLE, "set_option A 0 3 u8:9 -> 0\n"},
	{"ACK_TIMEOUT 0", "rdma_set_ack_timeout", 0, IDLE, "set_option A 0 3 u8:0 -> 0\n"},
	{"ACK_TIMEOUT 255", "rdma_set_ack_timeout does not look at it", 0, IDLE,
	 "set_option A 0 3 u8:255 -> 0\n"},
	{"ACK_TIMEOUT as an int", "ucma_set_option_id: optlen", 0, IDLE,
	 "set_option A 0 3 int:9 -> EINVAL\n"},
	{"ACK_TIMEOUT of UDP", "rdma_set_ack_timeout: RC or XRC_INI", 0, UD_IDLE,
	 "set_option U 0 3 u8:9 -> EINVAL\n"},
	{"ACK_TIMEOUT of UC", "rdma_set_ack_timeout: RC or XRC_INI", 0, NOTHING,
	 "create A ib qp_type=3 -> 0\n"
	 "set_option A 0 3 u8:9 -> EINVAL\n"},
	{"ACK_TIMEOUT of XRC_INI", "rdma_set_ack_timeout: RC or XRC_INI", 0, NOTHING,
	 "create A ib qp_type=9 -> 0\n"
	 "set_option A 0 3 u8:9 -> 0\n"},
	{"ACK_TIMEOUT of XRC_TGT", "rdma_set_ack_timeout: RC or XRC_INI", 0, NOTHING,
	 "create A ib qp_type=10 -> 0\n"
	 "set_option A 0 3 u8:9 -> EINVAL\n"},
	{"ACK_TIMEOUT of an established id", "rdma_set_ack_timeout: any state", 0, CONNECTED,
	 "set_option A 0 3 u8:9 -> 0\n"
	 "init_qp_attr A rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=9 retry=7 rnr=7\n"},
	{"option 4", "ucma_set_option_id: ENOSYS", 0, IDLE, "set_option A 0 4 int:1 -> ENOSYS\n"},
	{"option 0xffffffff", "ucma_set_option_id: ENOSYS", 0, IDLE,
	 "set_option A 0 0xffffffff int:1 -> ENOSYS\n"},
	{"level 2", "ucma_set_option_level: ENOSYS", 0, IDLE, "set_option A 2 0 int:1 -> ENOSYS\n"},
	{"level 0xffffffff", "ucma_set_option_level: ENOSYS", 0, IDLE,
	 "set_option A 0xffffffff 0 int:1 -> ENOSYS\n"},
	{"a value that is not mapped", "memdup_user()", 0, IDLE,
	 "set_option A 0 1 int:1 optval=nowhere -> EFAULT\n"},
	{"a value that is not mapped, option 4", "memdup_user() comes first", 0, IDLE,
	 "set_option A 0 4 int:1 optval=nowhere -> EFAULT\n"},
	{"a value of no bytes that is not mapped", "memdup_user() takes nothing", 0, IDLE,
	 "set_option A 0 1 int:1 optval=nowhere optlen=0 -> EINVAL\n"},
	{"a value that crosses into unmapped memory", "memdup_user()", 0, IDLE,
	 "set_option A 0 1 int:1 optlen=8 -> EFAULT\n"},
	{"a value of 4 MiB", "ucma_set_option: KMALLOC_MAX_SIZE lets it pass, it is not mapped", 0,
	 IDLE, "set_option A 0 1 int:1 optlen=0x400000 -> EFAULT\n"},
	{"a value of more than 4 MiB", "ucma_set_option: KMALLOC_MAX_SIZE", 0, IDLE,
	 "set_option A 0 1 int:1 optlen=0x400001 -> EINVAL\n"},
	{"a value of 4 GiB", "ucma_set_option: KMALLOC_MAX_SIZE", 0, IDLE,
	 "set_option A 0 1 int:1 optlen=0xffffffff -> EINVAL\n"},
	{"a long value of no id", "ucma_set_option: the length comes first", 0, NOTHING,
	 "set_option 77 0 1 int:1 optlen=0xffffffff -> EINVAL\n"},
	{"no such id", "ucma_get_ctx", 0, NOTHING, "set_option 77 0 1 int:1 -> ENOENT\n"},
	{"no such id, a value that is not mapped", "ucma_get_ctx comes first", 0, NOTHING,
	 "set_option 77 0 1 int:1 optval=nowhere -> ENOENT\n"},
	{"the id of another file", "ucma_get_ctx", 0, IDLE, "set_option@2 A 0 1 int:1 -> EINVAL\n"},
	{"a short command", "copy_from_user()", 0, IDLE,
	 "set_option A 0 1 int:1 cut=16 in=8 -> EFAULT\n"},
	{"IB option 0", "ucma_set_option_ib: ENOSYS", 0, RESOLVED,
	 "set_option A 1 0 int:1 -> ENOSYS\n"},
	{"IB option 2", "ucma_set_option_ib: ENOSYS", 0, RESOLVED,
	 "set_option A 1 2 int:1 -> ENOSYS\n"},
	{"path of a resolved id", "ucma_set_ib_path: ROUTE_RESOLVED comes as an event", 0, RESOLVED,
	 "set_option A 1 1 path -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "query_path A -> 0 paths=1 [flags=2b [roce:dgid=map sgid=map reversible=1 paths=1 "
	 "pkey=ffff mtusel=2 mtu=3 ratesel=2 rate=3 lifesel=2 life=18|ib:dgid=gid0 sgid=gid0 "
	 "dlid=own slid=own reversible=1 paths=1 pkey=ffff mtusel=2 mtu=3 ratesel=2 rate=3 "
	 "lifesel=2 life=18]]\n"},
	{"path of a resolved id, then connect", "rdma_set_ib_path", 0, SERVER RESOLVED,
	 "set_option A 1 1 path -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "query_path S -> 0 paths=1 [flags=2b [roce:dgid=map sgid=map service=106:p1 hop=64 "
	 "reversible=1 pkey=ffff mtusel=2 mtu=3 ratesel=2 rate=3 lifesel=2 life=18|ib:dgid=gid0 "
	 "sgid=gid0 service=106:p1 dlid=own slid=own reversible=1 pkey=ffff mtusel=2 mtu=3 "
	 "ratesel=2 rate=3 lifesel=2 life=18]]\n"},
	{"path of a bound id", "rdma_set_ib_path: state is ADDR_BOUND", 0, BOUND,
	 "set_option A 1 1 path -> EINVAL\n"},
	{"path of a new id", "ucma_set_ib_path: no device", 0, IDLE,
	 "set_option A 1 1 path -> EINVAL\n"},
	{"path of a routed id", "rdma_set_ib_path: state is ROUTE_RESOLVED", 0, ROUTED,
	 "set_option A 1 1 path -> EINVAL\n"},
	{"path of an established id", "rdma_set_ib_path: state is CONNECT", 0, CONNECTED,
	 "set_option A 1 1 path -> EINVAL\n"},
	{"path of loopback", "rdma_set_ib_path: on Ethernet no interface is bound", 0, IDLE,
	 "resolve A lo:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "set_option A 1 1 path -> [roce:ENODEV|ib:0]\n"},
	{"path of 71 bytes", "ucma_set_ib_path: optlen", 0, RESOLVED,
	 "set_option A 1 1 path optlen=71 -> EINVAL\n"},
	{"path of no bytes", "ucma_set_ib_path: optlen", 0, RESOLVED,
	 "set_option A 1 1 path optlen=0 -> EINVAL\n"},
	{"path of no bytes, a new id", "ucma_set_ib_path: optlen comes first", 0, IDLE,
	 "set_option A 1 1 path optlen=0 -> EINVAL\n"},
	{"path without the flag of the primary one",
	 "ucma_set_ib_path: GMP, PRIMARY and BIDIRECTIONAL", 0, RESOLVED,
	 "set_option A 1 1 path:0x29 -> EINVAL\n"},
	{"path with one flag more", "ucma_set_ib_path: these flags alone", 0, RESOLVED,
	 "set_option A 1 1 path:0x2f -> EINVAL\n"},
	{"path without flags", "ucma_set_ib_path", 0, RESOLVED,
	 "set_option A 1 1 path:0 -> EINVAL\n"},
	{"path of a uid of 0", "ucma_event_handler: no event", 0, NOTHING,
	 "create@2 L -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create A tcp uid=0 -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "quiet -> quiet\n"
	 "set_option A 1 1 path -> 0\n"
	 "quiet -> quiet\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"},
	{"GET_OPTION of each", "ucma_cmd_table has no function", 0, BOUND,
	 "get_option A 0 0 u8:0 -> ENOSYS\n"
	 "get_option A 0 1 int:0 -> ENOSYS\n"
	 "get_option A 0 2 int:0 -> ENOSYS\n"
	 "get_option A 0 3 u8:0 -> ENOSYS\n"
	 "get_option A 1 1 path -> ENOSYS\n"},
};
ROWS_END(option);
