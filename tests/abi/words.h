/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Macros for rows of commands by write(2): words of 4 bytes; extended commands count in 8. */
#ifndef SOFTHCA_TESTS_ABI_WORDS_H
#define SOFTHCA_TESTS_ABI_WORDS_H

#include "abi.h"

#define HDR(cmd, in, out) (cmd), (uint32_t)(in) | (uint32_t)(out) << 16
#define LO(v) (uint32_t)(v)
#define HI(v) (uint32_t)((uint64_t)(v) >> 32)
#define U64(v) LO(v), HI(v)
#define WORDS(...) .words = {__VA_ARGS__}, .nwords = sizeof((uint32_t[]){__VA_ARGS__}) / 4
#define C(n) IB_USER_VERBS_CMD_##n
/* A command with an answer of `out` words at OUT, and one without an answer. */
#define ASK(n, out, ...) \
	WORDS(HDR(C(n), 4 + sizeof((uint32_t[]){__VA_ARGS__}) / 4, out), U64(OUT), __VA_ARGS__)
#define TELL(n, ...) WORDS(HDR(C(n), 2 + sizeof((uint32_t[]){__VA_ARGS__}) / 4, 0), __VA_ARGS__)
#define EXC(n) (0x80000000u | IB_USER_VERBS_EX_CMD_##n)
/* Extended: quadwords of the command and of the driver's data, in and out; then the data. */
#define EXW(n, in, out, uin, uout, ...)                            \
	WORDS(HDR(EXC(n), in, out), U64((out) + (uout) ? OUT : 0), \
	      (uint32_t)(uin) | (uint32_t)(uout) << 16, 0, __VA_ARGS__)

#endif
