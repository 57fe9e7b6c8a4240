/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds mlx5 devices: class/infiniband_verbs in sysfs. Programs and open.c call it. $SYSFS_PATH
 * replaces /sys, as for libibverbs.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "devx/devx.h"

#define VERBS_ABI 6 /* class/infiniband_verbs/abi_version */
#define MLX5_ABI 1  /* uverbsN/abi_version */

/* A program holds `ibv`; `next` is used until they are sorted. */
struct device {
	struct ibv_device ibv;
	unsigned int number; /* N of uverbsN */
	struct device *next;
};

static const char *sysfs(void)
{
	const char *p = secure_getenv("SYSFS_PATH");

	return p && *p ? p : "/sys";
}

/* Reads one line of a small file, without its newline. False: not there, empty or too long. */
__attribute__((format(printf, 3, 4))) static bool read_line(char *buf, size_t size, const char *fmt,
							    ...)
{
	char path[512];
	va_list ap;
	ssize_t n;
	int fd;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do {
		n = read(fd, buf, size);
	} while (n < 0 && errno == EINTR);
	close(fd);
	if (n <= 0 || (size_t)n >= size)
		return false;
	buf[n] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return buf[0] != 0;
}

/*
 * Skips a number in sysfs's forms, 0x15b3 or 1; -1: there is none. Not by strtol() and its like:
 * those of glibc 2.38 and newer do not exist in older ones, where this library is to load, too.
 */
static long number(const char **s)
{
	int base = !strncmp(*s, "0x", 2) ? 16 : 10, digit;
	const char *from = base == 16 ? *s += 2 : *s;
	long v = 0;

	for (; isxdigit((unsigned char)**s); ++*s) {
		digit = **s <= '9' ? **s - '0' : (**s | 0x20) - 'a' + 10;
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
			return -1;
	}
	return *s == from ? -1 : v;
}

/* Reads such a number from a file; -1: not a number. */
__attribute__((format(printf, 1, 2))) static long read_number(const char *fmt, ...)
{
	char path[512], buf[32];
	const char *s = buf;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path) || !read_line(buf, sizeof(buf), "%s", path))
		return -1;
	return number(&s);
}

/*
 * Connect-IB and all later devices: PCI ids 0x1011..0x10ff, and BlueField's 0xa2d2..0xa2ff. The
 * driver's name identifies functions that are not on PCI (subfunctions). ABI 1 alone is not enough:
 * other drivers of that vendor have it, too.
 */
bool devx_device_is_mlx5(const struct ibv_device *d)
{
	char path[sizeof(d->ibdev_path) + 32], link[512], *name;
	long id;
	ssize_t n;

	if (read_number("%s/abi_version", d->dev_path) != MLX5_ABI)
		return false;
	snprintf(path, sizeof(path), "%s/device/driver", d->ibdev_path);
	n = readlink(path, link, sizeof(link) - 1);
	if (n > 0) {
		link[n] = 0;
		name = strrchr(link, '/');
		return !strncmp(name ? name + 1 : link, "mlx5_core", strlen("mlx5_core"));
	}
	if (read_number("%s/device/vendor", d->ibdev_path) != 0x15b3)
		return false;
	id = read_number("%s/device/device", d->ibdev_path);
	return (id >= 0x1011 && id <= 0x10ff) || (id >= 0xa2d2 && id <= 0xa2ff);
}

uint64_t devx_device_rdev(const struct ibv_device *d)
{
	const char *s;
	long major, minor;
	char buf[32];

	if (!read_line(buf, sizeof(buf), "%s/dev", d->dev_path))
		return 0;
	s = buf;
	major = number(&s);
	if (major < 0 || *s++ != ':')
		return 0;
	minor = number(&s);
	return minor < 0 ? 0 : makedev((unsigned int)major, (unsigned int)minor);
}

/* Fills in a device from its entry in class/infiniband_verbs. */
static bool device_read(struct device *dev, const char *entry)
{
	struct ibv_device *d = &dev->ibv;
	char path[sizeof(d->dev_name) + 32];
	const char *s = entry + strlen("uverbs");
	struct stat st;
	long n = strncmp(entry, "uverbs", strlen("uverbs")) ? -1 : number(&s);

	if (n < 0 ||
	    snprintf(d->dev_name, sizeof(d->dev_name), "%s", entry) >= (int)sizeof(d->dev_name) ||
	    snprintf(d->dev_path, sizeof(d->dev_path), "%s/class/infiniband_verbs/%s", sysfs(),
		     entry) >= (int)sizeof(d->dev_path) ||
	    !read_line(d->name, sizeof(d->name), "%s/ibdev", d->dev_path) ||
	    snprintf(d->ibdev_path, sizeof(d->ibdev_path), "%s/class/infiniband/%s", sysfs(),
		     d->name) >= (int)sizeof(d->ibdev_path))
		return false;
	dev->number = (unsigned int)n;
	d->node_type = IBV_NODE_CA;
	d->transport_type = IBV_TRANSPORT_IB;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", d->dev_name);
	return devx_device_is_mlx5(d) && !stat(path, &st);
}

static void chain_free(struct device *chain)
{
	while (chain) {
		struct device *dev = chain;

		chain = dev->next;
		free(dev);
	}
}

/* Inserts `dev` in the order of numbers. */
static void chain_insert(struct device **at, struct device *dev)
{
	while (*at && (*at)->number < dev->number)
		at = &(*at)->next;
	dev->next = *at;
	*at = dev;
}

/* Finds all devices; returns their number, or -1 with errno. */
static int scan(DIR *dir, struct device **chain)
{
	struct dirent *e;
	int n = 0;

	while ((e = readdir(dir))) {
		struct device *dev;

		if (strncmp(e->d_name, "uverbs", strlen("uverbs")))
			continue;
		dev = calloc(1, sizeof(*dev));
		if (!dev)
			return -1;
		if (device_read(dev, e->d_name)) {
			chain_insert(chain, dev);
			n++;
		} else {
			free(dev);
		}
	}
	return n;
}

DEVX_API struct ibv_device **devx_get_device_list(int *num)
{
	struct ibv_device **list = NULL;
	struct device *chain = NULL;
	char path[512];
	DIR *dir;
	int n;

	snprintf(path, sizeof(path), "%s/class/infiniband_verbs", sysfs());
	dir = opendir(path);
	if (!dir) {
		errno = errno == ENOENT || errno == ENOTDIR ? ENOSYS : errno;
		return NULL;
	}
	if (read_number("%s/abi_version", path) != VERBS_ABI) {
		closedir(dir);
		errno = EPROTONOSUPPORT;
		return NULL;
	}
	n = scan(dir, &chain);
	closedir(dir);
	if (n >= 0)
		list = calloc((size_t)n + 1, sizeof(struct ibv_device *));
	if (!list) {
		chain_free(chain);
		errno = ENOMEM;
		return NULL;
	}
	n = 0;
	for (struct device *dev = chain; dev; dev = dev->next)
		list[n++] = &dev->ibv;
	if (num)
		*num = n;
	return list;
}

DEVX_API void devx_free_device_list(struct ibv_device **list)
{
	if (list && list[0])
		chain_free((struct device *)list[0]);
	free(list);
}

/* Also works for a device of libibverbs' list, whose public part is the same. */
DEVX_API bool mlx5dv_is_supported(struct ibv_device *device)
{
	return devx_device_is_mlx5(device);
}
