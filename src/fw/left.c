/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells what a program had not destroyed when its last descriptor of a device was closed. Called by
 * the supervisor before it reaps the file.
 */
#include "fw/priv.h"

#include "hw/told.h"
#include "segment/proc.h"
#include "util/cleanup.h"
#include "util/fmt.h"

#define NUMBERS_SHOWN 3

/* What verbs name; the driver makes the rest for its own use, umems and UARs for example. */
static const struct {
	enum seg_table_id table;
	const char *name;
	uint32_t shift; /* from a key to its index */
} shown[] = {
	{SEG_T_QP, "QP", 0},   {SEG_T_CQ, "CQ", 0}, {SEG_T_SRQ, "SRQ", 0},
	{SEG_T_MKEY, "MR", 8}, {SEG_T_PD, "PD", 0}, {SEG_T_XRCD, "XRC domain", 0},
};

/* "2 QPs (0x40, 0x41)"; returns the length of the text. */
static size_t put_kind(struct seg *s, uint32_t owner, size_t row, char *text, size_t size)
{
	char numbers[64] = "";
	uint32_t n = 0;
	size_t at = 0;

	seg_for_each_owned (s, shown[row].table, owner, i)
		if (n++ < NUMBERS_SHOWN)
			at += fmt(numbers + at, sizeof(numbers) - at, "%s0x%x", n > 1 ? ", " : "",
				  i << shown[row].shift);
	if (!n)
		return 0;
	return fmt(text, size, " %u %s%s (%s%s),", n, shown[row].name, n > 1 ? "s" : "", numbers,
		   n > NUMBERS_SHOWN ? "..." : "");
}

bool fw_tell_left(struct seg *s, uint32_t file, const char *comm, char *text, size_t size)
{
	const struct seg_file *f = seg_file(s, file);
	size_t n = fmt(text, size, "%s closed its device with", comm), empty = n;

	for (size_t i = 0; f && i < ARRAY_SIZE(shown); i++)
		n += put_kind(s, file + 1, i, text + n, size - n);
	if (n == empty)
		return false;
	fmt(text + n - 1, size - n + 1, " not destroyed");
	hw_tell_words(s, f->hca, HW_TOLD_LEFT, text);
	return true;
}
