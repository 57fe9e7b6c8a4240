// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads from its peer, and writes a part of that to another place, in one list of two requests. */
#include "ends.h"

#include <stdint.h>

#define WORDS 32 /* no answer of so many bytes comes in a completion */
enum { SOURCE, HERE = WORDS, SINK = 2 * WORDS };

int main(void)
{
	static struct ends e;
	uint64_t *word = (uint64_t *)(void *)e.buf;
	struct ibv_sge here = {(uintptr_t)&word[HERE], WORDS * sizeof(*word), 0}, first = here;
	struct ibv_send_wr read = {.sg_list = &here, .num_sge = 1, .opcode = IBV_WR_RDMA_READ};
	struct ibv_send_wr write = {.sg_list = &first,
				    .num_sge = 1,
				    .opcode = IBV_WR_RDMA_WRITE,
				    .send_flags = is_right ? IBV_SEND_FENCE : 0};
	struct ibv_send_wr *bad;
	int r;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.count = 2;
	e.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	ends_connect(&e);
	here.lkey = first.lkey = e.mr->lkey;
	first.length = sizeof(*word);
	read.wr.rdma.rkey = write.wr.rdma.rkey = e.mr->rkey;
	read.wr.rdma.remote_addr = (uintptr_t)&word[SOURCE];
	write.wr.rdma.remote_addr = (uintptr_t)&word[SINK];
	read.next = &write;
	word[SOURCE] = 1;
	r = ibv_post_send(e.b.qp, &read, &bad);
	if (r)
		fails("ibv_post_send", r);
	ends_wait(&e.b, "READ");
	ends_wait(&e.b, "WRITE");
	if (word[SINK] != 1)
		fails("the word that was written is not the one that was read", 0);
	return 0;
}
