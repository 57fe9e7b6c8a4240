/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Descriptors of DEVX: completions of queries, events with and without data, eventfds. */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "objects.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/prm.h"

#define HANGS 60000 /* ms */
#define COOKIE 0xfedcba9876543210
#define EVENT_COMPLETION 0
#define EVENT_PORT_CHANGE 9

static struct objects o;
static struct queue_pair a, b;

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

/* One message: two completions. */
static void exchange(void)
{
	qp_receive(&o, &b);
	qp_send(&o, &a, 8);
	for (int i = 0; i < 2; i++) {
		time_t end = time(NULL) + 60;

		while (!cq_poll(&o))
			CHECK(time(NULL) < end);
	}
}

static void queries(void)
{
	uint8_t in[LAYOUT_SZ(query_qp_in)] = {0}, out[LAYOUT_SZ(query_qp_out)];
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(o.ctx);
	union {
		struct mlx5dv_devx_async_cmd_hdr hdr;
		uint8_t bytes[8 + sizeof(out)];
	} resp;

	CHECK(comp);
	LAYOUT_SET(query_qp_in, in, opcode, PRM_OP_QUERY_QP);
	LAYOUT_SET(query_qp_in, in, qpn, a.qpn);
	CHECK(!mlx5dv_devx_obj_query(a.obj, in, sizeof(in), out, sizeof(out)));
	CHECK(!mlx5dv_devx_obj_query_async(a.obj, in, sizeof(in), sizeof(out), COOKIE, comp));
	CHECK(readable(comp->fd, HANGS));
	/* Too short a buffer leaves the completion. */
	CHECK(mlx5dv_devx_get_async_cmd_comp(comp, &resp.hdr, sizeof(resp) - 1) == ENOSPC);
	CHECK(!mlx5dv_devx_get_async_cmd_comp(comp, &resp.hdr, sizeof(resp)));
	CHECK(resp.hdr.wr_id == COOKIE && !memcmp(resp.hdr.out_data, out, sizeof(out)));
	CHECK(!readable(comp->fd, 0));
	CHECK(!fcntl(comp->fd, F_SETFL, O_NONBLOCK));
	CHECK(mlx5dv_devx_get_async_cmd_comp(comp, &resp.hdr, sizeof(resp)) == EAGAIN);
	/*
	 * A command that the firmware refuses completes, too; one that the kernel refuses does not
	 * begin.
	 */
	LAYOUT_SET(query_qp_in, in, qpn, b.qpn);
	CHECK(mlx5dv_devx_obj_query_async(a.obj, in, sizeof(in), sizeof(out), 1, comp) == EINVAL);
	/* 1 MiB of output may be outstanding. */
	LAYOUT_SET(query_qp_in, in, qpn, a.qpn);
	for (int i = 0; i < 16; i++)
		CHECK(!mlx5dv_devx_obj_query_async(a.obj, in, sizeof(in), 0xffff, 1, comp));
	CHECK(mlx5dv_devx_obj_query_async(a.obj, in, sizeof(in), 17, 1, comp) == EAGAIN);
	CHECK(!mlx5dv_devx_obj_query_async(a.obj, in, sizeof(in), 16, 1, comp));
	mlx5dv_devx_destroy_cmd_comp(comp);
}

static void with_data(void)
{
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(o.ctx, 0);
	uint16_t event = EVENT_COMPLETION;
	union {
		struct mlx5dv_devx_async_event_hdr hdr;
		uint8_t bytes[8 + 64];
	} record;

	CHECK(ch);
	CHECK(!fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	CHECK(!mlx5dv_devx_subscribe_devx_event(ch, o.cq, sizeof(event), &event, COOKIE));
	exchange(); /* the CQ is not armed */
	CHECK(mlx5dv_devx_get_event(ch, &record.hdr, sizeof(record)) == -1 && errno == EAGAIN);
	for (int i = 0; i < 2; i++) {
		cq_arm(&o);
		exchange();
		CHECK(readable(ch->fd, HANGS));
		CHECK(mlx5dv_devx_get_event(ch, &record.hdr, sizeof(record) - 1) == -1 &&
		      errno == EINVAL);
		CHECK(mlx5dv_devx_get_event(ch, &record.hdr, sizeof(record)) == sizeof(record));
		CHECK(record.hdr.cookie == COOKIE);
		/* The EQE: its type, and the CQN at its end. */
		CHECK(record.hdr.out_data[1] == EVENT_COMPLETION);
		CHECK(!readable(ch->fd, 0));
	}
	mlx5dv_devx_destroy_event_channel(ch);
	cq_arm(&o);
	exchange();
}

static void without_data(void)
{
	struct mlx5dv_devx_event_channel *ch =
		mlx5dv_devx_create_event_channel(o.ctx, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);
	uint16_t event = EVENT_COMPLETION;
	uint64_t cookie[2], n, sum;
	int fd = eventfd(0, EFD_NONBLOCK);

	CHECK(ch && fd >= 0);
	CHECK(!mlx5dv_devx_subscribe_devx_event(ch, o.cq, sizeof(event), &event, COOKIE));
	CHECK(!mlx5dv_devx_subscribe_devx_event_fd(ch, fd, o.cq, EVENT_COMPLETION));
	for (int i = 0; i < 3; i++) {
		cq_arm(&o);
		exchange();
	}
	/*
	 * An event may come after its completion, and one that comes later than the read is counted
	 * separately. An eventfd, which the device thread writes afterwards, says that all three
	 * have come.
	 */
	for (sum = 0; sum < 3; sum += n) {
		CHECK(readable(fd, HANGS));
		CHECK(read(fd, &n, sizeof(n)) == sizeof(n));
	}
	CHECK(readable(ch->fd, HANGS));
	CHECK(mlx5dv_devx_get_event(ch, (void *)cookie, 7) == -1 && errno == EINVAL);
	CHECK(mlx5dv_devx_get_event(ch, (void *)cookie, sizeof(cookie)) == 8);
	CHECK(cookie[0] == COOKIE);
	CHECK(!readable(ch->fd, 0));
	mlx5dv_devx_destroy_event_channel(ch);
	close(fd);
}

static void to_an_eventfd(void)
{
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(o.ctx, 0);
	int fd = eventfd(0, EFD_NONBLOCK);
	uint64_t n, sum = 0;

	CHECK(ch && fd >= 0);
	CHECK(mlx5dv_devx_subscribe_devx_event_fd(ch, STDIN_FILENO, o.cq, EVENT_COMPLETION) ==
	      EINVAL);
	CHECK(!mlx5dv_devx_subscribe_devx_event_fd(ch, fd, o.cq, EVENT_COMPLETION));
	for (int i = 0; i < 2; i++) {
		cq_arm(&o);
		exchange();
	}
	while (sum < 2) {
		CHECK(readable(fd, HANGS));
		CHECK(read(fd, &n, sizeof(n)) == sizeof(n));
		sum += n;
	}
	CHECK(sum == 2);
	CHECK(!readable(ch->fd, 0));
	mlx5dv_devx_destroy_event_channel(ch);
	close(fd);
}

static void wrong_subscriptions(void)
{
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(o.ctx, 0);
	uint16_t many[17] = {0}, port = EVENT_PORT_CHANGE, none = 0xffff;

	CHECK(ch);
	CHECK(mlx5dv_devx_subscribe_devx_event(ch, o.cq, sizeof(many), many, 0) == EINVAL);
	CHECK(!mlx5dv_devx_subscribe_devx_event(ch, o.cq, 32, many, 0));
	CHECK(mlx5dv_devx_subscribe_devx_event(ch, o.cq, 3, many, 0) == EINVAL);
	CHECK(mlx5dv_devx_subscribe_devx_event(ch, o.cq, 2, &none, 0) == EINVAL);
	CHECK(mlx5dv_devx_subscribe_devx_event(ch, NULL, 2, many, 0) == EINVAL);
	CHECK(!mlx5dv_devx_subscribe_devx_event(ch, NULL, 2, &port, 0));
	mlx5dv_devx_destroy_event_channel(ch);
	CHECK(!mlx5dv_devx_create_event_channel(o.ctx, 2) && errno == EINVAL);
}

int main(void)
{
	objects_make(&o);
	qp_make(&o, &a);
	qp_make(&o, &b);
	qp_connect(&o, &a, &b);
	qp_connect(&o, &b, &a);
	queries();
	with_data();
	without_data();
	to_an_eventfd();
	wrong_subscriptions();
	qp_free(&a);
	qp_free(&b);
	objects_free(&o);
	return 0;
}
