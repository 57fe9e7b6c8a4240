/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * While one thread has the loader's lock, as in the constructor of a library that opens a device,
 * another opens, maps doorbells and rings: loader LIBRARY. Hangs if one of them waits for the
 * loader.
 *
 * The program has a pthread_create() of its own, as tools that watch threads have: the library's
 * thread is not made by it.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct ibv_device **devices;
static int rang, made;
static __typeof__(&pthread_create) next;
__attribute__((visibility("default"))) void in_constructor(void);

__attribute__((visibility("default"))) int pthread_create(pthread_t *t, const pthread_attr_t *attr,
							  void *(*fn)(void *), void *arg)
{
	made++;
	return next(t, attr, fn, arg);
}

static void *ring(void *arg)
{
	struct ibv_context *ctx = ibv_open_device(devices[0]);
	struct ibv_cq *cq = ctx ? ibv_create_cq(ctx, 8, NULL, NULL, 0) : NULL;

	if (!cq)
		perror(ctx ? "ibv_create_cq" : "ibv_open_device");
	rang = cq && !ibv_req_notify_cq(cq, 0);
	if (cq)
		ibv_destroy_cq(cq);
	if (ctx)
		ibv_close_device(ctx);
	return NULL;
}

void in_constructor(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, ring, NULL))
		pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	int fd;

	next = (__typeof__(next))dlsym(RTLD_NEXT, "pthread_create");
	devices = ibv_get_device_list(NULL);
	if (argc < 2 || !devices || !devices[0])
		return 2;
	/* The device is open, and no doorbell is mapped yet. */
	fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
	if (fd < 0 || !dlopen(argv[1], RTLD_NOW)) {
		fprintf(stderr, "fd %d: %s\n", fd, dlerror());
		return 2;
	}
	close(fd);
	if (made != 1)
		fprintf(stderr, "%d threads were made by the program's function, not 1\n", made);
	return !rang || made != 1;
}
