/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the one variable of sys.h. */
#include "util/sys.h"

void (*sys_fd_kept)(int fd, int kept);
