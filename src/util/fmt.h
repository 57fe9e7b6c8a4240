/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of printf(3) that traces need, for code that may run inside a trapped doorbell: no
 * malloc, no locale, no locks. Conversions d i u x X p c s %, flags # and 0 and -, width, a
 * precision for s, lengths hh h l ll z j. Any other conversion ends the text.
 */
#ifndef SOFTHCA_UTIL_FMT_H
#define SOFTHCA_UTIL_FMT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes written, at most size - 1, and a NUL behind them. size > 0. */
size_t fmt_v(char *buf, size_t size, const char *fmt, va_list ap);
size_t fmt(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
