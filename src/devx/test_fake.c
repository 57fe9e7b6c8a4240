/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements the kernel of test_fake.h. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rdma/mlx5-abi.h>
#include "devx/test_fake.h"

struct fake fake;

static const struct fake_ioctl *expected;
static size_t nexpected, came;
static char sysfs[64];
static uint8_t page[2 * 65536];

#define DIE(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

/* The linker's --wrap redirects calls to these. */
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
int __wrap_fstat64(int fd, struct stat64 *st);
int __wrap_stat64(const char *path, struct stat64 *st);
int __real_stat64(const char *path, struct stat64 *st);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset);
int __wrap_munmap(void *addr, size_t len);
int __wrap_close(int fd);
int __real_close(int fd);
ssize_t __wrap_read(int fd, void *buf, size_t len);
ssize_t __real_read(int fd, void *buf, size_t len);
void *__wrap_calloc(size_t n, size_t size);
void *__real_calloc(size_t n, size_t size);

void fake_expect(const struct fake_ioctl *calls, size_t n)
{
	static struct fake_ioctl copy[32];

	if (came != nexpected)
		DIE("ioctl %zu of %zu did not come", came, nexpected);
	if (n > sizeof(copy) / sizeof(copy[0]))
		DIE("too many");
	if (n)
		memcpy(copy, calls, n * sizeof(copy[0]));
	expected = copy;
	nexpected = n;
	came = 0;
}

void fake_reset(void)
{
	fake_expect(NULL, 0);
	fake = (struct fake){.rdev = FAKE_RDEV, .fail_calloc = -1};
}

void fake_done(void)
{
	fake_expect(NULL, 0);
	assert_int_equal(fake.maps, 0);
	assert_int_equal(fake.fds, 0);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	const struct fake_ioctl *e = &expected[came];
	struct ib_uverbs_ioctl_hdr *hdr;
	va_list ap;

	va_start(ap, request);
	hdr = va_arg(ap, struct ib_uverbs_ioctl_hdr *);
	va_end(ap);
	if (fd != FAKE_FD || request != RDMA_VERBS_IOCTL)
		DIE("ioctl(%d, 0x%lx)", fd, request);
	if (came == nexpected || e->object != hdr->object_id || e->method != hdr->method_id)
		DIE("ioctl of object 0x%x method 0x%x is no. %zu of %zu", hdr->object_id,
		    hdr->method_id, came, nexpected);
	came++;
	assert_int_equal(hdr->length, sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]));
	assert_int_equal(hdr->driver_id, RDMA_DRIVER_MLX5);
	assert_true(!hdr->reserved1 && !hdr->reserved2);
	if (e->answer)
		e->answer(hdr);
	if (!e->err)
		return 0;
	errno = e->err;
	return -1;
}

int __wrap_open64(const char *path, int flags, ...)
{
	if (strncmp(path, "/dev/", 5))
		return __real_open64(path, flags);
	assert_string_equal(path, "/dev/infiniband/uverbs7");
	assert_int_equal(flags, O_RDWR | O_CLOEXEC);
	if (fake.open_err) {
		errno = fake.open_err;
		return -1;
	}
	fake.fds++;
	return FAKE_FD;
}

int __wrap_fstat64(int fd, struct stat64 *st)
{
	if (fd != FAKE_FD)
		DIE("fstat(%d)", fd);
	*st = (struct stat64){.st_mode = S_IFCHR | 0666, .st_rdev = fake.rdev};
	return 0;
}

/* uverbs9 has no node. */
int __wrap_stat64(const char *path, struct stat64 *st)
{
	if (strncmp(path, "/dev/", 5))
		return __real_stat64(path, st);
	*st = (struct stat64){.st_mode = S_IFCHR | 0666};
	if (strcmp(path, "/dev/infiniband/uverbs9"))
		return 0;
	errno = ENOENT;
	return -1;
}

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	if (addr || fd != FAKE_FD || len > sizeof(page))
		DIE("mmap(%p, %zu, fd %d)", addr, len, fd);
	assert_int_equal(prot, PROT_WRITE);
	assert_int_equal(flags, MAP_SHARED);
	assert_int_equal(offset, 0x123000);
	if (fake.mmap_err) {
		errno = fake.mmap_err;
		return MAP_FAILED;
	}
	fake.maps++;
	return page;
}

int __wrap_munmap(void *addr, size_t len)
{
	if (addr != page || !fake.maps)
		DIE("munmap(%p, %zu)", addr, len);
	fake.maps--;
	return 0;
}

int __wrap_close(int fd)
{
	if (fd != FAKE_FD && fd != FAKE_NEW_FD)
		return __real_close(fd);
	if (!fake.fds)
		DIE("close(%d) twice", fd);
	fake.fds--;
	return 0;
}

ssize_t __wrap_read(int fd, void *buf, size_t len)
{
	if (fd == FAKE_FD)
		DIE("read(%d)", fd);
	if (fd != FAKE_NEW_FD)
		return __real_read(fd, buf, len);
	fake.read_size = (long)len;
	if (fake.read_len < 0) {
		errno = (int)-fake.read_len;
		return -1;
	}
	memcpy(buf, fake.read, (size_t)fake.read_len);
	return fake.read_len;
}

void *__wrap_calloc(size_t n, size_t size)
{
	if (fake.fail_calloc >= 0 && fake.fail_calloc-- == 0) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_calloc(n, size);
}

const struct ib_uverbs_attr *fake_attr(const struct ib_uverbs_ioctl_hdr *hdr, uint16_t id)
{
	for (unsigned int i = 0; i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == id)
			return &hdr->attrs[i];
	DIE("no attribute 0x%x", id);
}

void fake_is_attr(const struct ib_uverbs_ioctl_hdr *hdr, unsigned int i, uint16_t id, uint16_t len)
{
	assert_true(i < hdr->num_attrs);
	assert_int_equal(hdr->attrs[i].attr_id, id);
	assert_int_equal(hdr->attrs[i].len, len);
	assert_int_equal(hdr->attrs[i].flags, UVERBS_ATTR_F_MANDATORY);
	assert_int_equal(hdr->attrs[i].attr_data.reserved, 0);
}

void fake_is(const struct ib_uverbs_ioctl_hdr *hdr, unsigned int i, uint16_t id, uint16_t len,
	     uint64_t data)
{
	fake_is_attr(hdr, i, id, len);
	assert_int_equal(hdr->attrs[i].data, data);
}

void fake_put(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id, const void *p, size_t len)
{
	const struct ib_uverbs_attr *a = fake_attr(hdr, id);

	assert_true(a->len >= len);
	memcpy((void *)(uintptr_t)a->data, p, len);
}

void fake_put_handle(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id, uint64_t handle)
{
	((struct ib_uverbs_attr *)fake_attr(hdr, id))->data = handle;
}

/* ---- sysfs ---- */

__attribute__((format(printf, 2, 3))) static void file(const char *line, const char *fmt, ...)
{
	char path[256];
	va_list ap;
	int n = snprintf(path, sizeof(path), "%s/", sysfs);
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	for (char *s = path + n; (s = strchr(s, '/')); s++) {
		*s = 0;
		mkdir(path, 0700);
		*s = '/';
	}
	f = line ? fopen(path, "w") : NULL;
	if (f) {
		fprintf(f, "%s\n", line);
		fclose(f);
	}
}

static void driver_link(const struct fake_device *d)
{
	char path[256], target[64];

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/device/driver", sysfs, d->ibdev);
	snprintf(target, sizeof(target), "../../bus/%s", d->driver);
	assert_int_equal(symlink(target, path), 0);
}

void fake_sysfs(const char *abi_version, const struct fake_device *rows, size_t n)
{
	strcpy(sysfs, "/tmp/test-devx-XXXXXX");
	assert_non_null(mkdtemp(sysfs));
	setenv("SYSFS_PATH", sysfs, 1);
	if (!abi_version)
		return;
	file(abi_version, "class/infiniband_verbs/abi_version");
	for (const struct fake_device *d = rows; d < rows + n; d++) {
		file(d->ibdev, "class/infiniband_verbs/%s/ibdev", d->uverbs);
		file(d->dev, "class/infiniband_verbs/%s/dev", d->uverbs);
		file(d->abi, "class/infiniband_verbs/%s/abi_version", d->uverbs);
		if (!d->ibdev)
			continue;
		file(d->vendor, "class/infiniband/%s/device/vendor", d->ibdev);
		file(d->device, "class/infiniband/%s/device/device", d->ibdev);
		if (d->driver)
			driver_link(d);
	}
}

void fake_sysfs_remove(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -r %s", sysfs);
	assert_int_equal(system(cmd), 0);
	unsetenv("SYSFS_PATH");
}

void fake_sysfs_one(void)
{
	static const struct fake_device one = {"uverbs7", "mlx5_3", "231:199",
					       "1",       "0x15b3", "0x101b"};

	fake_sysfs("6", &one, 1);
}

/* ---- a context ---- */

static void answer_context(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct mlx5_ib_alloc_ucontext_resp resp = {.bf_reg_size = 512, .num_uars_per_page = 1};
	uint32_t vectors = 8;

	fake_put(hdr, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	fake_put(hdr, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
}

static void answer_uar(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint64_t offset = 0x123000;
	uint32_t length = 4096, id = 40;

	fake_put_handle(hdr, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 70);
	fake_put(hdr, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	fake_put(hdr, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	fake_put(hdr, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &id, sizeof(id));
}

struct ibv_context *fake_open(void)
{
	struct ibv_context *context;

	fake_reset();
	fake_sysfs_one();
	EXPECT({UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, 0, answer_context},
	       {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, 0, answer_uar});
	context = devx_open(NULL, MLX5DV_CONTEXT_FLAGS_DEVX);
	assert_non_null(context);
	return context;
}

void fake_close(struct ibv_context *context)
{
	EXPECT({MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY});
	assert_int_equal(devx_close(context), 0);
	fake_done();
	fake_sysfs_remove();
}
