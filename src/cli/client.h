/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CLI's own requests to a supervisor: status, down. One per connection. */
#ifndef SOFTHCA_CLI_CLIENT_H
#define SOFTHCA_CLI_CLIENT_H

#include "cli/runtime.h"
#include "segment/link.h"

/*
 * Send a request on `sock`, wait at most 10 s for its reply. *fd: a descriptor that came with it,
 * -1 none. 0 or -errno (the supervisor's refusal, or -ETIMEDOUT, -ECONNRESET).
 */
int client_request(int sock, struct link_msg *m, int *fd);

#endif
