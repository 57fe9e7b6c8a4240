/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arrays in field lists: LAYOUT_REP16(F, pkey_table, pkey, 0, 16, 16, LAYOUT_HEX) lists pkey_0 to
 * pkey_15, each 16 bits wide, every 16 bits from bit 0 on. LAYOUT_ITEM_GET(pkey_table, p, pkey, i)
 * and _SET access item i and check i.
 */
#ifndef SOFTHCA_WIRE_MAD_REP_H
#define SOFTHCA_WIRE_MAD_REP_H

#include "wire/layout.h"

/* clang-format off */
#define LAYOUT_REP8(F, l, n, b, step, w, ...) \
	F(l, n##_0, (b) + 0 * (step), w, ##__VA_ARGS__) \
	F(l, n##_1, (b) + 1 * (step), w, ##__VA_ARGS__) \
	F(l, n##_2, (b) + 2 * (step), w, ##__VA_ARGS__) \
	F(l, n##_3, (b) + 3 * (step), w, ##__VA_ARGS__) \
	F(l, n##_4, (b) + 4 * (step), w, ##__VA_ARGS__) \
	F(l, n##_5, (b) + 5 * (step), w, ##__VA_ARGS__) \
	F(l, n##_6, (b) + 6 * (step), w, ##__VA_ARGS__) \
	F(l, n##_7, (b) + 7 * (step), w, ##__VA_ARGS__)

#define LAYOUT_REP15(F, l, n, b, step, w, ...) \
	F(l, n##_0, (b) + 0 * (step), w, ##__VA_ARGS__) \
	F(l, n##_1, (b) + 1 * (step), w, ##__VA_ARGS__) \
	F(l, n##_2, (b) + 2 * (step), w, ##__VA_ARGS__) \
	F(l, n##_3, (b) + 3 * (step), w, ##__VA_ARGS__) \
	F(l, n##_4, (b) + 4 * (step), w, ##__VA_ARGS__) \
	F(l, n##_5, (b) + 5 * (step), w, ##__VA_ARGS__) \
	F(l, n##_6, (b) + 6 * (step), w, ##__VA_ARGS__) \
	F(l, n##_7, (b) + 7 * (step), w, ##__VA_ARGS__) \
	F(l, n##_8, (b) + 8 * (step), w, ##__VA_ARGS__) \
	F(l, n##_9, (b) + 9 * (step), w, ##__VA_ARGS__) \
	F(l, n##_10, (b) + 10 * (step), w, ##__VA_ARGS__) \
	F(l, n##_11, (b) + 11 * (step), w, ##__VA_ARGS__) \
	F(l, n##_12, (b) + 12 * (step), w, ##__VA_ARGS__) \
	F(l, n##_13, (b) + 13 * (step), w, ##__VA_ARGS__) \
	F(l, n##_14, (b) + 14 * (step), w, ##__VA_ARGS__)

#define LAYOUT_REP16(F, l, n, b, step, w, ...) \
	F(l, n##_0, (b) + 0 * (step), w, ##__VA_ARGS__) \
	F(l, n##_1, (b) + 1 * (step), w, ##__VA_ARGS__) \
	F(l, n##_2, (b) + 2 * (step), w, ##__VA_ARGS__) \
	F(l, n##_3, (b) + 3 * (step), w, ##__VA_ARGS__) \
	F(l, n##_4, (b) + 4 * (step), w, ##__VA_ARGS__) \
	F(l, n##_5, (b) + 5 * (step), w, ##__VA_ARGS__) \
	F(l, n##_6, (b) + 6 * (step), w, ##__VA_ARGS__) \
	F(l, n##_7, (b) + 7 * (step), w, ##__VA_ARGS__) \
	F(l, n##_8, (b) + 8 * (step), w, ##__VA_ARGS__) \
	F(l, n##_9, (b) + 9 * (step), w, ##__VA_ARGS__) \
	F(l, n##_10, (b) + 10 * (step), w, ##__VA_ARGS__) \
	F(l, n##_11, (b) + 11 * (step), w, ##__VA_ARGS__) \
	F(l, n##_12, (b) + 12 * (step), w, ##__VA_ARGS__) \
	F(l, n##_13, (b) + 13 * (step), w, ##__VA_ARGS__) \
	F(l, n##_14, (b) + 14 * (step), w, ##__VA_ARGS__) \
	F(l, n##_15, (b) + 15 * (step), w, ##__VA_ARGS__)

#define LAYOUT_REP32(F, l, n, b, step, w, ...) \
	F(l, n##_0, (b) + 0 * (step), w, ##__VA_ARGS__) \
	F(l, n##_1, (b) + 1 * (step), w, ##__VA_ARGS__) \
	F(l, n##_2, (b) + 2 * (step), w, ##__VA_ARGS__) \
	F(l, n##_3, (b) + 3 * (step), w, ##__VA_ARGS__) \
	F(l, n##_4, (b) + 4 * (step), w, ##__VA_ARGS__) \
	F(l, n##_5, (b) + 5 * (step), w, ##__VA_ARGS__) \
	F(l, n##_6, (b) + 6 * (step), w, ##__VA_ARGS__) \
	F(l, n##_7, (b) + 7 * (step), w, ##__VA_ARGS__) \
	F(l, n##_8, (b) + 8 * (step), w, ##__VA_ARGS__) \
	F(l, n##_9, (b) + 9 * (step), w, ##__VA_ARGS__) \
	F(l, n##_10, (b) + 10 * (step), w, ##__VA_ARGS__) \
	F(l, n##_11, (b) + 11 * (step), w, ##__VA_ARGS__) \
	F(l, n##_12, (b) + 12 * (step), w, ##__VA_ARGS__) \
	F(l, n##_13, (b) + 13 * (step), w, ##__VA_ARGS__) \
	F(l, n##_14, (b) + 14 * (step), w, ##__VA_ARGS__) \
	F(l, n##_15, (b) + 15 * (step), w, ##__VA_ARGS__) \
	F(l, n##_16, (b) + 16 * (step), w, ##__VA_ARGS__) \
	F(l, n##_17, (b) + 17 * (step), w, ##__VA_ARGS__) \
	F(l, n##_18, (b) + 18 * (step), w, ##__VA_ARGS__) \
	F(l, n##_19, (b) + 19 * (step), w, ##__VA_ARGS__) \
	F(l, n##_20, (b) + 20 * (step), w, ##__VA_ARGS__) \
	F(l, n##_21, (b) + 21 * (step), w, ##__VA_ARGS__) \
	F(l, n##_22, (b) + 22 * (step), w, ##__VA_ARGS__) \
	F(l, n##_23, (b) + 23 * (step), w, ##__VA_ARGS__) \
	F(l, n##_24, (b) + 24 * (step), w, ##__VA_ARGS__) \
	F(l, n##_25, (b) + 25 * (step), w, ##__VA_ARGS__) \
	F(l, n##_26, (b) + 26 * (step), w, ##__VA_ARGS__) \
	F(l, n##_27, (b) + 27 * (step), w, ##__VA_ARGS__) \
	F(l, n##_28, (b) + 28 * (step), w, ##__VA_ARGS__) \
	F(l, n##_29, (b) + 29 * (step), w, ##__VA_ARGS__) \
	F(l, n##_30, (b) + 30 * (step), w, ##__VA_ARGS__) \
	F(l, n##_31, (b) + 31 * (step), w, ##__VA_ARGS__)

#define LAYOUT_REP64(F, l, n, b, step, w, ...) \
	F(l, n##_0, (b) + 0 * (step), w, ##__VA_ARGS__) \
	F(l, n##_1, (b) + 1 * (step), w, ##__VA_ARGS__) \
	F(l, n##_2, (b) + 2 * (step), w, ##__VA_ARGS__) \
	F(l, n##_3, (b) + 3 * (step), w, ##__VA_ARGS__) \
	F(l, n##_4, (b) + 4 * (step), w, ##__VA_ARGS__) \
	F(l, n##_5, (b) + 5 * (step), w, ##__VA_ARGS__) \
	F(l, n##_6, (b) + 6 * (step), w, ##__VA_ARGS__) \
	F(l, n##_7, (b) + 7 * (step), w, ##__VA_ARGS__) \
	F(l, n##_8, (b) + 8 * (step), w, ##__VA_ARGS__) \
	F(l, n##_9, (b) + 9 * (step), w, ##__VA_ARGS__) \
	F(l, n##_10, (b) + 10 * (step), w, ##__VA_ARGS__) \
	F(l, n##_11, (b) + 11 * (step), w, ##__VA_ARGS__) \
	F(l, n##_12, (b) + 12 * (step), w, ##__VA_ARGS__) \
	F(l, n##_13, (b) + 13 * (step), w, ##__VA_ARGS__) \
	F(l, n##_14, (b) + 14 * (step), w, ##__VA_ARGS__) \
	F(l, n##_15, (b) + 15 * (step), w, ##__VA_ARGS__) \
	F(l, n##_16, (b) + 16 * (step), w, ##__VA_ARGS__) \
	F(l, n##_17, (b) + 17 * (step), w, ##__VA_ARGS__) \
	F(l, n##_18, (b) + 18 * (step), w, ##__VA_ARGS__) \
	F(l, n##_19, (b) + 19 * (step), w, ##__VA_ARGS__) \
	F(l, n##_20, (b) + 20 * (step), w, ##__VA_ARGS__) \
	F(l, n##_21, (b) + 21 * (step), w, ##__VA_ARGS__) \
	F(l, n##_22, (b) + 22 * (step), w, ##__VA_ARGS__) \
	F(l, n##_23, (b) + 23 * (step), w, ##__VA_ARGS__) \
	F(l, n##_24, (b) + 24 * (step), w, ##__VA_ARGS__) \
	F(l, n##_25, (b) + 25 * (step), w, ##__VA_ARGS__) \
	F(l, n##_26, (b) + 26 * (step), w, ##__VA_ARGS__) \
	F(l, n##_27, (b) + 27 * (step), w, ##__VA_ARGS__) \
	F(l, n##_28, (b) + 28 * (step), w, ##__VA_ARGS__) \
	F(l, n##_29, (b) + 29 * (step), w, ##__VA_ARGS__) \
	F(l, n##_30, (b) + 30 * (step), w, ##__VA_ARGS__) \
	F(l, n##_31, (b) + 31 * (step), w, ##__VA_ARGS__) \
	F(l, n##_32, (b) + 32 * (step), w, ##__VA_ARGS__) \
	F(l, n##_33, (b) + 33 * (step), w, ##__VA_ARGS__) \
	F(l, n##_34, (b) + 34 * (step), w, ##__VA_ARGS__) \
	F(l, n##_35, (b) + 35 * (step), w, ##__VA_ARGS__) \
	F(l, n##_36, (b) + 36 * (step), w, ##__VA_ARGS__) \
	F(l, n##_37, (b) + 37 * (step), w, ##__VA_ARGS__) \
	F(l, n##_38, (b) + 38 * (step), w, ##__VA_ARGS__) \
	F(l, n##_39, (b) + 39 * (step), w, ##__VA_ARGS__) \
	F(l, n##_40, (b) + 40 * (step), w, ##__VA_ARGS__) \
	F(l, n##_41, (b) + 41 * (step), w, ##__VA_ARGS__) \
	F(l, n##_42, (b) + 42 * (step), w, ##__VA_ARGS__) \
	F(l, n##_43, (b) + 43 * (step), w, ##__VA_ARGS__) \
	F(l, n##_44, (b) + 44 * (step), w, ##__VA_ARGS__) \
	F(l, n##_45, (b) + 45 * (step), w, ##__VA_ARGS__) \
	F(l, n##_46, (b) + 46 * (step), w, ##__VA_ARGS__) \
	F(l, n##_47, (b) + 47 * (step), w, ##__VA_ARGS__) \
	F(l, n##_48, (b) + 48 * (step), w, ##__VA_ARGS__) \
	F(l, n##_49, (b) + 49 * (step), w, ##__VA_ARGS__) \
	F(l, n##_50, (b) + 50 * (step), w, ##__VA_ARGS__) \
	F(l, n##_51, (b) + 51 * (step), w, ##__VA_ARGS__) \
	F(l, n##_52, (b) + 52 * (step), w, ##__VA_ARGS__) \
	F(l, n##_53, (b) + 53 * (step), w, ##__VA_ARGS__) \
	F(l, n##_54, (b) + 54 * (step), w, ##__VA_ARGS__) \
	F(l, n##_55, (b) + 55 * (step), w, ##__VA_ARGS__) \
	F(l, n##_56, (b) + 56 * (step), w, ##__VA_ARGS__) \
	F(l, n##_57, (b) + 57 * (step), w, ##__VA_ARGS__) \
	F(l, n##_58, (b) + 58 * (step), w, ##__VA_ARGS__) \
	F(l, n##_59, (b) + 59 * (step), w, ##__VA_ARGS__) \
	F(l, n##_60, (b) + 60 * (step), w, ##__VA_ARGS__) \
	F(l, n##_61, (b) + 61 * (step), w, ##__VA_ARGS__) \
	F(l, n##_62, (b) + 62 * (step), w, ##__VA_ARGS__) \
	F(l, n##_63, (b) + 63 * (step), w, ##__VA_ARGS__)

/* clang-format on */

/* An index beyond the last item is a bug; item 0 is used instead. */
static inline uint32_t layout_item_bit(uint32_t i, uint32_t n, uint32_t first, uint32_t step)
{
	return first + (BUG_ON(i >= n) ? 0 : i * step);
}

#define LAYOUT_ITEM__BIT(l, f, i) \
	layout_item_bit((uint32_t)(i), LF_##l##_##f##_N, LF_##l##_##f##_0_BIT, LF_##l##_##f##_STEP)
#define LAYOUT_ITEM_GET(l, p, f, i) \
	layout_get((p), LAYOUT_ITEM__BIT(l, f, i), LF_##l##_##f##_0_WIDTH)
#define LAYOUT_ITEM_SET(l, p, f, i, v) \
	layout_set((p), LAYOUT_ITEM__BIT(l, f, i), LF_##l##_##f##_0_WIDTH, (v))
/* After LAYOUT: the number of items. */
#define LAYOUT_ITEMS(l, f, n)                                                          \
	enum {                                                                         \
		LF_##l##_##f##_N = (n),                                                \
		LF_##l##_##f##_STEP = LF_##l##_##f##_1_BIT - LF_##l##_##f##_0_BIT,     \
	};                                                                             \
	static_assert((int)LF_##l##_##f##_0_BIT + ((n)-1) * (int)LF_##l##_##f##_STEP + \
				      (int)LF_##l##_##f##_0_WIDTH <=                   \
			      (int)LAYOUT_SZ(l) * 8,                                   \
		      #l "." #f " has too many items");

#endif
