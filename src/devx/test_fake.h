/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A kernel of canned answers for libdevx' unit tests. The calls that the library makes are listed
 * before it makes them; any other call aborts. The linker puts the __wrap_ functions between.
 */
#ifndef DEVX_TEST_FAKE_H
#define DEVX_TEST_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include "devx/devx.h"

#define FAKE_FD 1000     /* the uverbs device */
#define FAKE_NEW_FD 1001 /* what calls that make a descriptor return */
#define FAKE_RDEV 0xe7c7 /* 231:199 */

/*
 * An expected ioctl: `err` 0 or the errno to fail with. `answer` may check the attributes and
 * writes outputs; it is called for failing calls, too.
 */
struct fake_ioctl {
	uint16_t object, method;
	int err;
	void (*answer)(struct ib_uverbs_ioctl_hdr *hdr);
};

/* Set the expected ioctls. All must have come when the next list is set, or at fake_done(). */
void fake_expect(const struct fake_ioctl *calls, size_t n);
#define EXPECT(...)                                           \
	fake_expect((const struct fake_ioctl[]){__VA_ARGS__}, \
		    sizeof((const struct fake_ioctl[]){__VA_ARGS__}) / sizeof(struct fake_ioctl))

struct fake {
	int open_err;     /* errno of opening the device; 0: success, with FAKE_FD */
	uint64_t rdev;    /* device number of the opened device */
	int mmap_err;     /* errno of mapping */
	int maps;         /* number of existing mappings */
	int fds;          /* number of open descriptors */
	int fail_calloc;  /* calloc() fails when this becomes 0; below: never */
	const void *read; /* bytes that read() of FAKE_NEW_FD returns... */
	long read_len;    /* ... their number, or -errno */
	long read_size;   /* length that the last read() requested */
};

extern struct fake fake;

/* Expect nothing, and forget everything; aborts if something is open. */
void fake_reset(void);
/* Check that every expected call has come, and that everything made is freed. */
void fake_done(void);

const struct ib_uverbs_attr *fake_attr(const struct ib_uverbs_ioctl_hdr *hdr, uint16_t id);
/* Check that attribute `i` is `id`, mandatory, and `len` long. */
void fake_is_attr(const struct ib_uverbs_ioctl_hdr *hdr, unsigned int i, uint16_t id, uint16_t len);
/* The same, and its data. */
void fake_is(const struct ib_uverbs_ioctl_hdr *hdr, unsigned int i, uint16_t id, uint16_t len,
	     uint64_t data);
/* Copies into an output attribute. */
void fake_put(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id, const void *p, size_t len);
void fake_put_handle(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id, uint64_t handle);

/*
 * Make a sysfs with one entry for each row; NULL leaves the file or link out. $SYSFS_PATH is set to
 * it. Character devices exist for all rows whose `dev` is not NULL.
 */
struct fake_device {
	const char *uverbs, *ibdev, *dev, *abi, *vendor, *device, *driver;
};

void fake_sysfs(const char *abi_version, const struct fake_device *rows, size_t n);
void fake_sysfs_remove(void);
/* One mlx5 device, uverbs7 and mlx5_3. */
void fake_sysfs_one(void);
/* Open that device, with DEVX, an NC UAR, and registers 512 bytes apart. */
struct ibv_context *fake_open(void);
void fake_close(struct ibv_context *context);

#endif
