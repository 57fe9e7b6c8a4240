/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CLI's own requests to a supervisor: status, down. One per connection. */
#ifndef SOFTHCA_CLI_CLIENT_H
#define SOFTHCA_CLI_CLIENT_H

#include "cli/cli.h"
#include "segment/suplink.h"

/*
 * Only a supervisor that hangs takes longer. An answer that waits for a sweep may take half of this
 * on a busy machine.
 */
#define CLIENT_LIMIT_S 60

/*
 * Send a request on `sock`, wait at most CLIENT_LIMIT_S for its reply, and not for a supervisor
 * that is stopped, which a message tells. *fd: a descriptor that came with it, -1 none. 0 or -errno
 * (the supervisor's refusal, or -ETIMEDOUT, -ECONNRESET).
 */
int client_request(int sock, struct link_msg *m, int *fd);
/*
 * The same with a descriptor that is sent along, -1 none. Several requests may follow on one
 * connection.
 */
int client_send(int sock, struct link_msg *m, int send_fd, int *fd);
/* The same with bytes behind the message, and an answer without a descriptor. */
int client_send_more(int sock, struct link_msg *m, const void *more, size_t n);
/*
 * Asks for a status (LINK_STATUS) and leaves the connection open. Returns the parsed answer, or
 * NULL and *err.
 */
struct json_object;
struct json_object *client_status(int sock, struct link_msg *m, int *err);
/* Connects to the fabric that SHIM_ENV_DIR names. A socket; PROG_FAILED after a message. */
int client_here(const char *verb);
/*
 * Connects to the fabric that --fabric names; else to the one that this process runs on, else to
 * the only one. A socket, >= 3 (main() ensures it); PROG_FAILED after a message that begins with
 * `verb`.
 */
int client_connect(const struct cli_options *o, const char *verb);

#endif
