/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the supervisor's threads. Work that may wait for a lock of the fabric's processes, or that
 * takes long, is done beside the loop. A job's run() sees the segment only; the loop calls its
 * done().
 */
#include "super/supervisor.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define JOBS_MAX 64 /* jobs that run at the same time; further ones wait */
#define STACK_BYTES (1u << 20)

static void work_finish(struct sup_work *w, struct sup_job *j)
{
	pthread_mutex_lock(&w->lock);
	j->next = w->done;
	w->done = j;
	pthread_mutex_unlock(&w->lock);
	eventfd_write(w->src.fd, 1);
}

static void *run_job(void *arg)
{
	struct sup_job *j = arg;

	j->run(j);
	work_finish(j->work, j);
	return NULL;
}

/* Jobs take no signals. */
static int start_thread(struct sup_job *j)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int r;

	if (pthread_attr_init(&attr))
		return -ENOMEM;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&j->thread, &attr, run_job, j);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -r;
}

static void work_start(struct sup *sup, struct sup_job *j)
{
	struct sup_work *w = &sup->work;

	w->running++;
	j->work = w;
	j->threaded = !start_thread(j);
	if (j->threaded)
		return;
	j->run(j); /* no thread available: run it here, which delays the loop */
	work_finish(w, j);
}

void sup_work(struct sup *sup, struct sup_job *j)
{
	struct sup_work *w = &sup->work;

	j->next = NULL;
	if (w->running < JOBS_MAX) {
		work_start(sup, j);
		return;
	}
	*w->last = j;
	w->last = &j->next;
}

/* Finishes the jobs that have ended, in the loop. */
static void work_collect(struct sup *sup)
{
	struct sup_work *w = &sup->work;
	struct sup_job *j, *next;

	pthread_mutex_lock(&w->lock);
	j = w->done;
	w->done = NULL;
	pthread_mutex_unlock(&w->lock);
	for (; j; j = next) {
		next = j->next;
		w->running--;
		if (j->threaded)
			pthread_join(j->thread, NULL);
		j->done(sup, j);
	}
	while (w->waiting && w->running < JOBS_MAX) {
		j = w->waiting;
		w->waiting = j->next;
		if (!w->waiting)
			w->last = &w->waiting;
		work_start(sup, j);
	}
}

static void jobs_ready(struct sup *sup, struct sup_source *src, uint32_t events)
{
	eventfd_t n;

	eventfd_read(src->fd, &n);
	work_collect(sup);
	sup_links_again(sup);
}

/* seg.sweep: this thread, which may be the loop's, has left work for the loop's next turn. */
static void look_again(struct seg *s)
{
	eventfd_write(((struct sup *)s->super)->work.src.fd, 1);
}

int sup_work_init(struct sup *sup)
{
	struct sup_work *w = &sup->work;

	*w = (struct sup_work){
		.src = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = jobs_ready},
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.last = &w->waiting,
	};
	mallopt(M_ARENA_MAX, 1); /* threads rarely allocate here, so one malloc arena is enough */
	if (w->src.fd < 0)
		return -errno;
	sup->seg.sweep = look_again;
	return sup_watch(sup, &w->src);
}

void sup_work_finish(struct sup *sup)
{
	struct sup_work *w = &sup->work;

	while (w->running) {
		struct pollfd p = {.fd = w->src.fd, .events = POLLIN};
		eventfd_t n;

		poll(&p, 1, -1);
		eventfd_read(w->src.fd, &n);
		work_collect(sup);
	}
	if (w->src.fd >= 0)
		close(w->src.fd);
	w->src.fd = -1;
}
