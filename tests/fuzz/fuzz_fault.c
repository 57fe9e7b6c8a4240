/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules of faults: any text is read, or refused with a place inside it and a reason; what was read
 * is kept as it was written, and says something that can happen.
 */
#include "fuzz.h"

#include "fault/rows.h"

static void check_sel(const struct hw_fault_sel *s)
{
	fz_check(s->moment < HW_ACTS_END);
	if (!s->moment)
		return;
	fz_check(s->where < fault_nwheres && fault_wheres[s->where].at == s->moment);
	/* an event without keys has those of whom the rule is about */
	fz_check(!(s->have & ~fault_wheres[s->where].keys &
		   ~(1u << HW_FK_PID | 1u << HW_FK_HOST | 1u << HW_FK_COMM)));
	fz_check(memchr(s->host, 0, sizeof(s->host)) && memchr(s->comm, 0, sizeof(s->comm)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hw_fault f;
	struct fault_mistake m;
	char text[600];
	size_t n = size < sizeof(text) - 1 ? size : sizeof(text) - 1;

	memcpy(text, data, n);
	text[n] = '\0';
	if (fault_parse(text, &f, &m)) {
		fz_check(m.at <= strlen(text) && m.text[0]);
		return 0;
	}
	fz_check(!strcmp(f.text, text));
	check_sel(&f.sel);
	check_sel(&f.when.after);
	check_sel(&f.when.before);
	fz_check(f.sel.moment && f.does.n && f.does.n <= HW_FAULT_WHATS);
	fz_check(f.when.first && f.when.first <= f.when.last && f.when.step);
	fz_check(f.when.of_2_32 <= UINT64_C(1) << 32);
	return 0;
}
