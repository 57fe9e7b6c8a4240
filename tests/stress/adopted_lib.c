/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A library with data that a program registers (adopted.c). */
char adopted_data[1u << 20] __attribute__((visibility("default"), aligned(4096)));
