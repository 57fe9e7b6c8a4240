/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Thread-local storage of the library. The first use in a thread must not allocate, as it may be in
 * a signal handler.
 */
#ifndef SOFTHCA_UTIL_TLS_H
#define SOFTHCA_UTIL_TLS_H

#define TLS_IE _Thread_local __attribute__((tls_model("initial-exec")))

#endif
