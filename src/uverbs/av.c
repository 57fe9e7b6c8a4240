/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address vectors: the checks that address handles and paths of QPs share, and the MAC address
 * behind a GID of an Ethernet port. Called by std_pd.c and qp_modify.c.
 */
#include "uverbs/priv.h"
#include "wire/ib/gid.h"

int uv_av_check(const struct uv_file *f, uint32_t port, bool is_global, uint64_t sgid_index)
{
	struct uv_gid gid;
	int r;

	if (!is_global)
		return f->device.roce  ? uv_no(-EINVAL, "on an Ethernet port is_global is 1")
		       : f->device.grh ? uv_no(-EINVAL, "the port requires a GRH "
							"(IBV_QPF_GRH_REQUIRED): is_global is 1")
				       : 0;
	r = uv_file_gid(f, port, sgid_index, &gid);
	if (r == -EINVAL)
		return uv_no(r, "no such port, or no such sgid_index in its table");
	return r ? uv_no(r, "sgid_index: the entry is empty") : 0;
}

int uv_av_resolve(const struct uv_file *f, uint32_t port, uint64_t sgid_index,
		  const uint8_t dgid[16], uint8_t mac[6], uint8_t *hop_limit)
{
	struct uv_gid sgid;
	int r = uv_file_gid(f, port, sgid_index, &sgid);

	if (r)
		return r;
	if (ib_gid_is_mcast(dgid)) {
		ib_gid_mcast_mac(dgid, mac);
		return 0;
	}
	r = ib_gid_mac(sgid.type == IBV_GID_TYPE_ROCE_V1, sgid.raw, dgid, mac);
	if (r < 0)
		return uv_no(r, "one of dgid and the GID at sgid_index is an IPv4 address");
	if (!r)
		return 0;
	r = f->api->driver->find_neighbour(f->seg, f->hca, sgid.ifindex, dgid, mac, hop_limit);
	if (r == -ENETUNREACH || r == -ENODEV)
		return uv_no(r, "the port's interface has no route to dgid");
	return r == -ETIMEDOUT ? uv_no(r, "no port of the segment has the address dgid") : r;
}
