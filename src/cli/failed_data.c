/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Data only. Calls: the checks of the kernel's ib_uverbs, ib_core and mlx5_ib and of libmlx5, and
 * the public issues in tests/logs. Events and reasons of rdma_cm: rdma_cma.h, cma.c, IBTA 12.6.7.2.
 * OpenSM: the texts of its sources. QPs: mlx5_ib_qp_err_syndrome(), and the logs that the rows
 * name.
 */
#include "cli/failed.h"

#include <errno.h>
#include <stddef.h>

#define NEIGHBOUR                                                                                \
	"RoCE: nobody answers for the remote GID's address (ARP, neighbour discovery): another " \
	"segment or VLAN, a rail that is not connected, or a host that is down"
#define NEIGHBOUR_NEXT                                                                             \
	"ping -I INTERFACE-OF-THE-LOCAL-GID ADDRESS-OF-THE-REMOTE-GID; ip neigh; rails without a " \
	"path between them: NCCL_CROSS_NIC=0"
#define OTHER_GID                                                                                 \
	"the GID index gives a link-local (fe80::) GID or one of another network than the other " \
	"end's"
#define OTHER_GID_NEXT                                                                   \
	"show_gids at both ends: the same RoCE version and network; NCCL_IB_GID_INDEX, " \
	"NVSHMEM_IB_GID_INDEX, UCX_IB_GID_INDEX, MC_GID_INDEX, perftest -x"
#define NO_ROUTE "RoCE: the interface of the local GID has no route to the remote GID's address"
#define NO_ROUTE_NEXT                                                                    \
	"ip route get ADDRESS oif INTERFACE; another GID index; leave such devices out " \
	"(NCCL_IB_HCA, NVSHMEM_HCA_LIST, UCX_NET_DEVICES)"
#define NO_GID "sgid_index is an empty entry of the GID table, or beyond its end"
#define NO_GID_NEXT \
	"show_gids; a container needs the interface of the GID in its own network namespace"
#define NETDEV "RoCE: the interface of the local GID is down, or is not in this network namespace"
#define NETDEV_NEXT \
	"ip link inside the container; run it in the host's network, or move the device there"
#define MEMLOCK "the limit of locked memory is too small for the queue's buffers"
#define MEMLOCK_NEXT                                                                               \
	"ulimit -l in the process itself (RLIMIT_MEMLOCK): containers, daemons and batch systems " \
	"have their own; set it to unlimited"
#define GPU "it is memory of a GPU, which the kernel cannot pin as host memory"
#define GPU_NEXT                                                                                  \
	"load nvidia-peermem, or register a dma-buf (ibv_reg_dmabuf_mr); memory of cudaMalloc() " \
	"that is mapped on this device"

const struct failed_call failed_calls[] = {
	{"modify_qp", ETIMEDOUT, "RTR", NEIGHBOUR, NEIGHBOUR_NEXT},
	{"modify_qp", ETIMEDOUT, "RTR", OTHER_GID, OTHER_GID_NEXT},
	{"modify_qp", ENETUNREACH, "RTR", NO_ROUTE, NO_ROUTE_NEXT},
	{"modify_qp", ENETUNREACH, "RTR", OTHER_GID, OTHER_GID_NEXT},
	{"modify_qp", EHOSTUNREACH, "RTR", NEIGHBOUR, NEIGHBOUR_NEXT},
	{"modify_qp", EINVAL, "INIT",
	 "pkey_index has no P_Key, the port number is wrong, or the port is not usable (a slave of "
	 "a bond)",
	 "/sys/class/infiniband/DEVICE/ports/1/pkeys; UCX_IB_PKEY, NCCL_IB_PKEY; ibv_devinfo"},
	{"modify_qp", EINVAL, "INIT", "qp_access_flags that the device or the type does not have",
	 "access flags; atomics need a device with atomic_cap"},
	{"modify_qp", EINVAL, "RTR", NO_GID, NO_GID_NEXT},
	{"modify_qp", EINVAL, "RTR",
	 "RoCE without a GRH (is_global 0), or a remote GID of zeros: the exchange of addresses "
	 "failed",
	 "print ah_attr, dest_qp_num and the remote GID at both ends"},
	{"modify_qp", EINVAL, "RTR",
	 "path_mtu above the port's active_mtu, or max_dest_rd_atomic above the device's "
	 "max_qp_rd_atom",
	 "ibv_devinfo -v"},
	{"modify_qp", EINVAL, "RTS", "timeout, retry_cnt, rnr_retry or max_rd_atomic out of range",
	 "5, 3 and 3 bits; max_qp_init_rd_atom of ibv_devinfo -v"},
	{"modify_qp", EINVAL, NULL,
	 "a transition that is not allowed from the QP's state, or an attr_mask that lacks or "
	 "exceeds what it needs",
	 "RESET, INIT, RTR, RTS in this order; under softhca run the trace names the attribute"},
	{"modify_qp", ENODATA, NULL, "sgid_index is an empty entry of the GID table",
	 "show_gids: an index with a GID of the right RoCE version; NCCL_IB_GID_INDEX, "
	 "UCX_IB_GID_INDEX, perftest -x; a container needs the GID's interface in its own network "
	 "namespace"},
	{"modify_qp", EAGAIN, NULL,
	 "the device or driver lacks a resource at the moment: on RoCE, the neighbour's address is "
	 "not resolved yet",
	 "try again; the kernel's log"},
	{"modify_qp", ENODEV, NULL, NETDEV, NETDEV_NEXT},
	{"modify_qp", ENOENT, NULL, "the QP was destroyed already",
	 "order of destruction, threads"},

	{"create_ah", ETIMEDOUT, NULL, NEIGHBOUR, NEIGHBOUR_NEXT},
	{"create_ah", ETIMEDOUT, NULL, OTHER_GID, OTHER_GID_NEXT},
	{"create_ah", ENETUNREACH, NULL, NO_ROUTE, NO_ROUTE_NEXT},
	{"create_ah", EHOSTUNREACH, NULL, NEIGHBOUR, NEIGHBOUR_NEXT},
	{"create_ah", EINVAL, NULL, NO_GID, NO_GID_NEXT},
	{"create_ah", EINVAL, NULL,
	 "the destination's GID is no address that this port can reach: link-local of another "
	 "interface, zeros, or of another address family than sgid_index",
	 "compare dgid with the other end's show_gids; choose the devices of one network "
	 "(UCX_NET_DEVICES)"},
	{"create_ah", EINVAL, NULL,
	 "RoCE without a GRH, or a field of ah_attr that was never set (static_rate, port_num)",
	 "is_global 1; memset() of ah_attr: NVSHMEM before 3.5, issue 21"},
	{"create_ah", ENODEV, NULL, NETDEV, NETDEV_NEXT},

	{"create_qp", ENOMEM, NULL, MEMLOCK, MEMLOCK_NEXT},
	{"create_qp", ENOMEM, NULL,
	 "max_send_wr, max_recv_wr, SGEs or inline data make the queue larger than the device "
	 "allows, or it has no QP left",
	 "smaller values: a send queue has at most 32768 blocks of 64 bytes on most cards; the "
	 "kernel's log: CREATE_QP"},
	{"create_qp", EINVAL, NULL,
	 "values above the device's limits, or a QP type, flag or CQ that it does not take",
	 "ibv_devinfo -v: max_qp_wr, max_sge; max_inline_data"},
	{"create_qp", EOPNOTSUPP, NULL, "the device or its driver has no such type or flag",
	 "XRC, raw packets, DC and send_ops_flags depend on the device"},
	{"create_qp", EPERM, NULL, "CAP_NET_RAW is missing, which raw packets need",
	 "run it as root or with that capability"},

	{"create_cq", ENOMEM, NULL, MEMLOCK, MEMLOCK_NEXT},
	{"create_cq", EINVAL, NULL, "cqe is 0 or above max_cqe, or comp_vector has no such vector",
	 "ibv_devinfo -v: max_cqe, num_comp_vectors"},
	{"create_srq", ENOMEM, NULL, MEMLOCK, MEMLOCK_NEXT},
	{"create_srq", EINVAL, NULL, "max_wr or max_sge above the device's limits",
	 "ibv_devinfo -v: max_srq_wr, max_srq_sge"},

	{"reg_mr", ENOMEM, NULL, "the limit of locked memory is smaller than the region",
	 MEMLOCK_NEXT},
	{"reg_mr", ENOMEM, NULL, "the device has no memory key left",
	 "the kernel's log: CREATE_MKEY with LIM_ERR; fewer and larger regions"},
	{"reg_mr", EFAULT, NULL, GPU, GPU_NEXT},
	{"reg_mr", EFAULT, NULL,
	 "the range is not mapped, or is read-only although the access flags allow writing",
	 "/proc/PID/maps: address, length, permissions; was it freed?"},
	{"reg_mr", EINVAL, NULL,
	 "REMOTE_WRITE or REMOTE_ATOMIC without LOCAL_WRITE, length 0, or flags that are unknown",
	 "access flags; relaxed ordering and ODP need kernel and device"},
	{"reg_mr", EOPNOTSUPP, NULL, "on-demand paging, dma-buf or an access flag is missing here",
	 "ibv_devinfo -v: odp_caps; the kernel must have dma-buf (5.12)"},
	{"alloc_dm", EINVAL, NULL,
	 "the device has no memory of this size: UCX then goes on without, at level DEBUG only",
	 "harmless; ibv_devinfo -v: maximum_dm_size"},
	{"alloc_dm", ENOMEM, NULL, "the device's own memory is in use by others",
	 "harmless in UCX"},
	{"alloc_dm", EOPNOTSUPP, NULL, "the device has no memory of its own", "harmless"},
	{"alloc_td", EOPNOTSUPP, NULL, "the provider has no thread domains", "harmless"},
	{"dealloc_pd", EBUSY, NULL, "regions, QPs, SRQs or AHs of this PD still exist",
	 "destroy them first; under softhca run the trace names them"},
	{"post_send", ENOMEM, NULL, "the send queue is full, or has too little room for the SGEs",
	 "poll the completions of signalled requests; max_send_wr"},
	{"post_send", EINVAL, NULL,
	 "the QP is not in RTS, or opcode, num_sge or inline data are not for this QP",
	 "ibv_query_qp; cap of ibv_create_qp; some providers also check access"},
	{"post_recv", ENOMEM, NULL, "the receive queue is full", "max_recv_wr"},
	{"post_recv", EINVAL, NULL, "the QP is in RESET, or num_sge exceeds max_recv_sge",
	 "post after INIT"},
	{"get_async_event", 0, NULL,
	 "the file was closed or the device is gone: the lines before it tell the event",
	 "harmless at the end of a program; else the kernel's log: health, PCI Express"},
	{"open_device", EACCES, NULL, "the device file may not be opened",
	 "permissions of /dev/infiniband/uverbsN; --device in containers"},
	{"open_device", ENOENT, NULL, "/dev/infiniband/uverbsN is missing",
	 "load ib_uverbs; --device in containers"},
	{"rdma_create_event_channel", ENOENT, NULL,
	 "/dev/infiniband/rdma_cm is missing: rdma_ucm is not loaded, or the container lacks it",
	 "modprobe rdma_ucm; --device in containers"},
	{"rdma_create_event_channel", ENODEV, NULL, "there is no RDMA device",
	 "rdma link; softhca explain ENODEV"},
	{"rdma_reject", EINVAL, NULL,
	 "the connection request is gone already: it timed out, or the other end gave up",
	 "harmless; the listener answers late: fewer connections at a time"},
	{"rdma_resolve_addr", ENODEV, NULL,
	 "no RDMA device has an interface with the local address",
	 "ip addr, ip route get: rdma_cm needs an interface that belongs to a device (rdma link)"},
	{"rdma_resolve_addr", EADDRNOTAVAIL, NULL, "the local address is on no interface",
	 "ip addr"},
	{"rdma_resolve_addr", ENETUNREACH, NULL, "no route to the address", "ip route get ADDRESS"},
	{"rdma_bind_addr", ENODEV, NULL, "the address is of no RDMA device", "ip addr; rdma link"},
	{"rdma_bind_addr", EADDRNOTAVAIL, NULL, "the address is on no interface", "ip addr"},
	{"rdma_bind_addr", EADDRINUSE, NULL, "another listener has this port",
	 "rdma resource show cm_id"},

	{NULL, ETIMEDOUT, NULL, "the firmware gave no answer in time",
	 "the kernel's log of the same minute: command timeouts, health; reset the device"},
	{NULL, EAGAIN, NULL, "a resource is missing at the moment (firmware: NO_RES_ERR)",
	 "try again"},
	{NULL, ECANCELED, NULL, "the device is being reset, or failed before",
	 "the kernel's log: health, PCI Express"},
	{NULL, EIO, NULL, "the device is gone or failed", "the kernel's log: health, PCI Express"},
	{NULL, EREMOTEIO, NULL, "the firmware refused the command",
	 "the kernel's log has status and syndrome"},
	{NULL, EPROTONOSUPPORT, NULL,
	 "this kernel does not have the method or object: it is older than the library, or another "
	 "driver",
	 "a newer kernel or the matching OFED driver; libraries mostly go on without"},
	{NULL, EOPNOTSUPP, NULL, "the driver or the device does not have it",
	 "harmless where the program goes on"},
	{NULL, ENOSYS, NULL, "the driver or the device does not have it",
	 "harmless where the program goes on"},
	{NULL, 0, NULL, NULL, NULL},
};

const struct failed_cm_event failed_cm_events[] = {
	{0, "ADDR_RESOLVED", false, "the address was resolved", "nothing is wrong"},
	{1, "ADDR_ERROR", true, "rdma_resolve_addr() failed: no device, no route or no neighbour",
	 "ip route get and ping to the address; the interface must belong to a device: rdma link"},
	{2, "ROUTE_RESOLVED", false, "the route was resolved", "nothing is wrong"},
	{3, "ROUTE_ERROR", true,
	 "rdma_resolve_route() failed: on InfiniBand the subnet manager gave no path",
	 "is a subnet manager running (sminfo)? the partition of the interface; saquery -p"},
	{4, "CONNECT_REQUEST", false, "another end wants to connect", "nothing is wrong"},
	{5, "CONNECT_RESPONSE", false, "the other end accepts", "nothing is wrong"},
	{6, "CONNECT_ERROR", true, "the connection failed while it was being set up",
	 "modify_qp inside rdma_accept() or rdma_connect(): the kernel's log, the other end's"},
	{7, "UNREACHABLE", true, "the other end did not answer the connection request",
	 "is the program there alive? P_Key, path, firewall for UDP 4791; a loaded listener"},
	{8, "REJECTED", true, "the other end refused the connection",
	 "the status says why: nobody listens there, or the program said no"},
	{9, "ESTABLISHED", false, "the connection stands", "nothing is wrong"},
	{10, "DISCONNECTED", false, "the other end disconnected or is gone",
	 "nothing, if the program was to end"},
	{11, "DEVICE_REMOVAL", true,
	 "the device was removed: its driver was unloaded, or it was reset",
	 "the kernel's log: health, PCI Express, reload; a bond that changes does it, too"},
	{12, "MULTICAST_JOIN", false, "joined", "nothing is wrong"},
	{13, "MULTICAST_ERROR", true, "the multicast group could not be joined, or was lost",
	 "a subnet manager; rate and MTU of the group: saquery -g"},
	{14, "ADDR_CHANGE", true,
	 "the interface's hardware address changed (a bond failed over): new connections are "
	 "needed",
	 "why did the bond change?"},
	{15, "TIMEWAIT_EXIT", false, "the QPN may be used again", "nothing is wrong"},
	{0, NULL, false, NULL, NULL},
};

const struct failed_cm_status failed_cm_statuses[] = {
	{"ADDR_ERROR", -ETIMEDOUT, "no answer to ARP or neighbour discovery",
	 "ping the address through this interface; VLAN, firewall, a host that is down"},
	{"ADDR_ERROR", -ENODEV, "the route's interface belongs to no RDMA device",
	 "rdma link: does the device have this interface? another source address (rping -I)"},
	{"ADDR_ERROR", -ENETUNREACH, "no route to the address", "ip route get ADDRESS"},
	{"ADDR_ERROR", -EHOSTUNREACH, "no neighbour with this address", "ip neigh; ping"},
	{"ROUTE_ERROR", -ETIMEDOUT, "the subnet manager did not answer the query for a path",
	 "sminfo; is the subnet manager alive and reachable (P_Key)?"},
	{"ROUTE_ERROR", -EINVAL, "the subnet manager has no path between these ports",
	 "saquery -p; partition, rate and MTU of the interface"},
	{"UNREACHABLE", -ETIMEDOUT, "no answer to the connection request after all retries",
	 "the other end's program and log; P_Key; firewall for UDP 4791"},
	{"UNREACHABLE", 1, "SIDR status 1 (UD): nobody listens on this port",
	 "is the server started, on this address and port?"},
	{"UNREACHABLE", 2, "SIDR status 2 (UD): the program at the other end refused",
	 "the log there; versions of both programs"},
	{"UNREACHABLE", 3, "SIDR status 3 (UD): the other end has no QP for it", "the log there"},
	{"REJECTED", 1, "reason 1: the other end has no QP left", "limits there"},
	{"REJECTED", 4, "reason 4: the request timed out at the other end", "a slow listener"},
	{"REJECTED", 8, "reason 8, invalid service ID: nobody listens on this port",
	 "is the server started, on this address and port, on this device?"},
	{"REJECTED", 10, "reason 10, stale connection: the other end knows the QPN from before",
	 "try again"},
	{"REJECTED", 12, "reason 12: the primary GID is not the other end's", "GID index, address"},
	{"REJECTED", 24, "reason 24, port and CM redirection", "the other end names another port"},
	{"REJECTED", 28, "reason 28: the program at the other end refused (rdma_reject)",
	 "the log there; versions of both programs"},
	{"REJECTED", -ECONNREFUSED, "iWARP: ECONNREFUSED, nobody listens on this port",
	 "is the server started, on this address and port, with as many QPs?"},
	{"REJECTED", -ECONNRESET,
	 "iWARP: ECONNRESET, the other end closed the connection during MPA",
	 "both ends must be iWARP; MPA versions; the other end's log"},
	{NULL, 0, NULL, NULL},
};

#define OTHER_SM \
	"is another OpenSM running on this port (ps, systemctl)? stop it; else a wrong GUID (-g)"

const struct failed_opensm failed_opensms[] = {
	{NULL, "No previous bind", "an echo: OpenSM ends without having been bound to a port",
	 "the error before it"},
	{"5424", "Unable to open port", "OpenSM cannot open the port's umad device",
	 "load ib_umad; /dev/infiniband/umadN and its permissions; a port of link layer "
	 "InfiniBand; "
	 "-g with a GUID of this host (ibstat -p)"},
	{"5426", "Unable to register class",
	 "the kernel refuses the class: another process has registered it on this port", OTHER_SM},
	{"5427", "duplicate agent", "the class is registered already", OTHER_SM},
	{"5431", "IS_SM", "the issm device cannot be opened: the port will not show IsSM",
	 "/dev/infiniband/issmN and its permissions; it is busy if another OpenSM has it"},
	{"3118", "bind failed",
	 "OpenSM could not bind to the port: the line before it says what failed: mostly another "
	 "OpenSM has the class, or the port cannot be opened",
	 OTHER_SM},
	{"2E10", "bind failed",
	 "an echo of ERR 3118: OpenSM ends, as another one runs on the port or the port cannot be "
	 "used",
	 OTHER_SM},
	{"5402", "evicting",
	 "more MADs wait for an answer than OpenSM's table holds: it has given up the oldest",
	 "nodes that do not answer: ERR 5410, 5411, 3120 around it; the environment variable "
	 "OSM_UMAD_MAX_PENDING is the table's size"},
	{"5402", " TID ", "a query of the performance manager got no answer from this port",
	 "the node is down or unreachable: ibtracert to the LID; perfquery by hand"},
	{"5409", "send completed with error",
	 "a MAD that OpenSM sent got no answer, and it is given up",
	 "the next line, ERR 5410 or 5411, names the class and LID, or the path"},
	{"5409", "port counter query", "the performance manager could not send its query",
	 "the port's state (ibstat); was the device reset? restart OpenSM"},
	{"0F04", "invalid base LID",
	 "a port reports a LID that is none of a port (0xc000 and above are multicast): OpenSM "
	 "takes the one that it has noted",
	 "firmware of that node; smpquery portinfo, by the directed route"},
	{"1B10", "FullMember",
	 "a multicast group that does not exist was to be joined, and only a full member may "
	 "create it",
	 "saquery -g: is the group there? it goes with its last full member; a sender alone "
	 "(SendOnlyNonMember) must wait for one"},
	{"AB09", "upward port groups",
	 "fat-tree routing: two switches of a level have different numbers of groups of links "
	 "upwards, so the fabric is no pure fat tree",
	 "the lines after it name both: a cable or a switch is missing (ibnetdiscover); until then "
	 "another routing engine (-R updn)"},
	{"AB0D", "FatTree", "fat-tree routing does not recognise the fabric as a fat tree",
	 "the error before it says where; root_guid_file, or another routing engine (-R updn)"},
	{"5410", "Send completed with error", "a MAD of this LID got no answer",
	 "IB_TIMEOUT: the node is down or unreachable; ibtracert to the LID"},
	{"5410", " LID 0x", "the MAD of ERR 5409, the line before it, was for this LID",
	 "the node is down or unreachable; ibtracert to the LID"},
	{"5411", "DR SMP", "a directed route SMP got no answer",
	 "the next line has the path: its last link is bad, or the node hangs or reboots"},
	{"3113", "MAD completed in error", "a MAD of the sweep failed",
	 "IB_TIMEOUT: that node does not answer; the path is in the line before it"},
	{"3111", "error status", "a node answered a MAD with an error status",
	 "softhca explain STATUS; the path is in the lines after it"},
	{"3119", "Set method failed", "a node did not take a setting",
	 "firmware and M_Key of the node"},
	{"3120", "Timeout while getting",
	 "a node does not answer: it is gone, or its M_Key protects it from this subnet manager",
	 "ibdiagnet; another subnet manager with another M_Key; -t for slow nodes"},
	{"3E03", "MAD send failed", "the kernel does not take MADs for this port",
	 "the port's state (ibstat); was the device reset? restart OpenSM"},
	{"3309", "is unknown", "the port with the GUID that OpenSM was started for is not here",
	 "ibstat -p; -g, or guid in opensm.conf"},
	{"3320", "is unknown", "the port with the GUID that OpenSM was started for is not here",
	 "ibstat -p; -g, or guid in opensm.conf"},
	{"7526", "SM port by guid",
	 "the port with the GUID that OpenSM was started for is not here",
	 "ibstat -p; -g, or guid in opensm.conf"},
	{"1B12", "validate", "a request to join a multicast group was refused",
	 "rate, MTU or P_Key of the port do not fit the group: saquery -g"},
	{"3322", "wrongly assigned", "two ports have one LID", "guid2lid; two subnet managers"},
	{NULL, NULL, NULL, NULL},
};

const struct failed_qp failed_qps[] = {
	{0x04, 0x3a, 0x93,
	 "a WRITE came for a region that had been deregistered: the other end sees REM_ACCESS_ERR, "
	 "vendor_err 0x88",
	 "https://github.com/unionxic/rdma-fault-characterization"},
	{0, 0x22, 0x95,
	 "a request came with an rkey that is not of this QP's PD (of another device): the other "
	 "end sees REM_ACCESS_ERR, vendor_err 0x88",
	 "https://github.com/chimera-nas/libevpl/pull/89"},
	{0x01, 0x8e, 0,
	 "the path MTU differs at the two ends: packets were longer than this QP takes, and the "
	 "other end sees REM_INV_REQ_ERR",
	 "https://github.com/kvcache-ai/Mooncake/issues/3299"},
	{0, 0x41, 0, "the QP's CQ had overflowed: the line before it",
	 "https://lore.kernel.org/r/ZbffthImvL3YspVT@tissot.1015granger.net"},
	{0, 0, 0, NULL, NULL},
};

const struct failed_message failed_messages[] = {
	{"PORT_NOT_ACTIVE", "the port that the test is to use is not ACTIVE",
	 "ibstat, ibv_devinfo: Down: no link (cable, the other end); Init: no subnet manager has "
	 "brought it up; another device or port: -d, -i"},
	{"NO_TCP_CONNECTION",
	 "no TCP connection to the server, by which the two ends exchange their addresses: no "
	 "fault of the RDMA device",
	 "start the server first; the same -p at both ends; the address, name and firewall"},
	{"NO_PROVIDER", "libibverbs has found no provider library that takes this device",
	 "install the providers (ibverbs-providers, libmlx5) of the same rdma-core; "
	 "/etc/libibverbs.d/*.driver names them; in containers, too"},
	{NULL, NULL, NULL},
};
