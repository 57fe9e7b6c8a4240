/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by tests of the rendered sysfs tree: the text of one of its files. */
#ifndef SOFTHCA_FABRIC_TEST_TEXT_H
#define SOFTHCA_FABRIC_TEST_TEXT_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The text is good until the next call. */
static inline const char *sysfs_text(const char *root, const char *name)
{
	static char text[2048];
	char path[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		fail_msg("%s: %s", name, strerror(errno));
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

#endif
