/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements test_procs.h: two processes with a queue each. */
#include "engine/test_procs.h"
#include "hw/qp_state.h"
#include <poll.h>
#include <sys/prctl.h>

void tell(int fd)
{
	assert_int_equal(write(fd, "x", 1), 1);
}

bool await(int fd)
{
	struct pollfd pfd = {fd, POLLIN, 0};
	char c;

	return poll(&pfd, 1, 60000) == 1 && read(fd, &c, 1) == 1;
}

int bed_setup(void **state)
{
	struct bed *e = calloc(1, sizeof(*e));
	void *p;

	t_pair_setup(&p);
	e->p = *(struct t_pair *)p;
	free(p);
	e->board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*state = e;
	return 0;
}

int bed_teardown(void **state)
{
	struct bed *e = *state;
	struct t_pair *p = malloc(sizeof(*p));
	void *v = p;

	*p = e->p;
	munmap(e->board, 4096);
	free(e);
	return t_pair_teardown(&v);
}

void spawn(struct bed *e, void (*body)(struct bed *e))
{
	assert_int_equal(pipe(e->tell), 0);
	assert_int_equal(pipe(e->go), 0);
	e->pid = fork();
	assert_true(e->pid >= 0);
	if (e->pid) {
		close(e->tell[1]);
		close(e->go[0]);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves no child behind */
	close(e->tell[0]);
	close(e->go[1]);
	e->p.t->s.self = SEG_NONE;
	if (seg_proc_register_self(&e->p.t->s, 0))
		_exit(99);
	body(e);
	_exit(0);
}

int reap(struct bed *e)
{
	int status = 0;

	close(e->go[1]);
	waitpid(e->pid, &status, 0);
	close(e->tell[0]);
	return status;
}

struct t_qp *child_qp(struct bed *e, enum prm_st st, struct t_srq *srq)
{
	struct t_qp *b = t_qp_make(e->p.t, 1, st, srq);

	e->board->qpn = b->qpn;
	e->board->key = b->key;
	e->board->mem = (uintptr_t)b->mem;
	return b;
}

void connect_to_child(struct bed *e)
{
	struct t_qp *a = e->p.a;

	assert_true(await(e->tell[0]));
	assert_int_equal(eng_qp_set_state(&e->p.t->s, a->qpn, PRM_QP_STATE_RST), 0);
	t_set_dest(a, e->board->qpn);
	assert_int_equal(eng_qp_set_state(&e->p.t->s, a->qpn, PRM_QP_STATE_INIT), 0);
	t_set_rcv_psn(a, e->board->qpn);
	t_set_send_psn(a);
	assert_int_equal(eng_qp_set_state(&e->p.t->s, a->qpn, PRM_QP_STATE_RTS), 0);
}
