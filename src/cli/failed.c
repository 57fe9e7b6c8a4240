/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Meanings of what fails outside of completions. decode_fact.c and explain_words.c call it. */
#include "cli/failed.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/explain.h"
#include "fw/fw.h"
#include "util/cleanup.h"
#include "wire/mad/names.h"
#include "wire/wqe/cqe.h"
#include "util/num.h"

#define ERRNOS 134
#define TEXT 512

static void put_step(struct json_object *likely, const char *cause, const char *next)
{
	char text[TEXT];

	snprintf(text, sizeof(text), "%zu. %s. Next: %s", json_object_array_length(likely) + 1,
		 cause, next);
	json_object_array_add(likely, json_object_new_string(text));
}

/* ---- calls */

/* Other names of the calls in the table: variants, and what programs call them. */
static const struct alias {
	const char *name, *call;
} aliases[] = {
	{"create_cq_ex", "create_cq"},
	{"create_qp_ex", "create_qp"},
	{"create_srq_ex", "create_srq"},
	{"reg_mr_iova", "reg_mr"},
	{"reg_mr_iova2", "reg_mr"},
	{"reg_dmabuf_mr", "reg_mr"},
	{"register_mr", "reg_mr"},
	{"register_memory", "reg_mr"},
	{"register_memory_region", "reg_mr"},
	{"create_mr", "reg_mr"},
	{"allocate_mr", "reg_mr"},
	{"post_a_send", "post_send"},
	{"post_a_recv", "post_recv"},
};

static const char *const call_prefixes[] = {"ibv_", "mlx5dv_", "rdma_"};

static const char *without_prefix(const char *call)
{
	for (size_t i = 0; i < ARRAY_SIZE(call_prefixes); i++)
		if (!strncasecmp(call, call_prefixes[i], strlen(call_prefixes[i])))
			return call + strlen(call_prefixes[i]);
	return call;
}

static const char *table_name(const char *call)
{
	const char *name = without_prefix(call);

	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcasecmp(aliases[i].name, name))
			return aliases[i].call;
	return name;
}

void failed_call_name(const char *word, char *out, size_t size)
{
	char name[64];
	size_t n = 0;

	for (; word[n] && n < sizeof(name) - 1; n++)
		name[n] = isspace((unsigned char)word[n]) ? '_'
							  : (char)tolower((unsigned char)word[n]);
	name[n] = '\0';
	if (without_prefix(name) != name)
		snprintf(out, size, "%s", name);
	else
		snprintf(out, size, "ibv_%s", table_name(name));
}

bool failed_is_known(const char *call)
{
	for (const struct failed_call *c = failed_calls; c->cause; c++)
		if (c->call && !strcasecmp(without_prefix(c->call), table_name(call)))
			return true;
	return false;
}

int failed_errno(const char *text)
{
	int found = 0;
	size_t longest = 0;

	for (int e = 1; e < ERRNOS; e++) {
		const char *const names[] = {strerrorname_np(e) ? strerrordesc_np(e) : NULL,
					     strerrorname_np(e)};

		for (size_t i = 0; i < ARRAY_SIZE(names) && names[i]; i++) {
			size_t n = strlen(names[i]);

			if (n > longest && !strncasecmp(text, names[i], n) &&
			    !isalnum((unsigned char)text[n])) {
				longest = n;
				found = e;
			}
		}
	}
	return found;
}

static bool call_row_fits(const struct failed_call *c, const char *name, int err, const char *state)
{
	if (c->call && strcasecmp(without_prefix(c->call), name))
		return false;
	if (c->state && *state && strcasecmp(c->state, state))
		return false;
	return err ? c->err == err : c->call != NULL;
}

/* Without an errno, all causes that the table has of this call are possible, each once. */
static bool is_told(struct json_object *likely, const char *cause)
{
	for (size_t i = 0; i < json_object_array_length(likely); i++)
		if (strstr(json_object_get_string(json_object_array_get_idx(likely, i)), cause))
			return true;
	return false;
}

/* Rows for any call hold where the call has none of its own for this errno. */
static void put_call_rows(struct json_object *likely, const char *name, int err, const char *state)
{
	bool own = false;

	for (const struct failed_call *c = failed_calls; c->cause; c++) {
		if (!call_row_fits(c, name, err, state) || (own && !c->call) ||
		    is_told(likely, c->cause))
			continue;
		own = own || c->call;
		put_step(likely, c->cause, c->next);
	}
}

int explain_failed_call(struct json_object *list, const char *call, int err, const char *state)
{
	struct json_object *o = explain_meaning(list, EXPLAIN_CALL, (uint64_t)err, call);
	struct json_object *likely = json_object_new_array();
	char text[TEXT];

	if (*state)
		explain_put(o, "state", state);
	if (err && strerrorname_np(err))
		snprintf(text, sizeof(text), "%s, %s", strerrorname_np(err), strerrordesc_np(err));
	else
		snprintf(text, sizeof(text), "the line does not tell the errno");
	explain_put(o, "error", text);
	put_call_rows(likely, table_name(call), err, state);
	if (json_object_array_length(likely)) {
		json_object_object_add(o, "likely", likely);
		return 1;
	}
	json_object_put(likely);
	snprintf(text, sizeof(text), "softhca explain %s",
		 err && strerrorname_np(err) ? strerrorname_np(err) : "ERRNO");
	explain_put(o, "next", text);
	return 1;
}

/* ---- rdma_cm */

static const struct failed_cm_event *cm_event(const char *name)
{
	static const char prefix[] = "RDMA_CM_EVENT_";

	if (!strncasecmp(name, prefix, sizeof(prefix) - 1))
		name += sizeof(prefix) - 1;
	for (const struct failed_cm_event *e = failed_cm_events; e->means; e++)
		if (!strcasecmp(e->name, name))
			return e;
	return NULL;
}

bool failed_is_cm_error(const char *name)
{
	const struct failed_cm_event *e = cm_event(name);

	return e && e->error;
}

static void put_cm_status(struct json_object *o, const struct failed_cm_event *e, int status)
{
	const struct failed_cm_status *s = failed_cm_statuses;
	char text[TEXT];

	if (status < 0 && strerrorname_np(-status))
		snprintf(text, sizeof(text), "%d, %s", status, strerrorname_np(-status));
	else
		snprintf(text, sizeof(text), "%d", status);
	explain_put(o, "status", text);
	while (s->means && (strcmp(s->event, e->name) || s->status != status))
		s++;
	if (!s->means)
		return;
	explain_put(o, "says", s->means);
	json_object_object_del(o, "next");
	explain_put(o, "next", s->next);
}

int explain_cm_event(struct json_object *list, const char *name, const int *status)
{
	const struct failed_cm_event *e = cm_event(name);
	struct json_object *o;

	if (!e)
		return 0;
	o = explain_meaning(list, EXPLAIN_CM, (uint64_t)e->event, e->name);
	explain_put(o, "means", e->means);
	explain_put(o, "next", e->next);
	if (status)
		put_cm_status(o, e, *status);
	return 1;
}

/* ---- OpenSM and MADs */

static const struct failed_opensm *opensm_row(const char *code, const char *text)
{
	for (const struct failed_opensm *s = failed_opensms; s->means; s++)
		if ((!s->code || !strcasecmp(s->code, code)) &&
		    (!text || !s->text || strcasestr(text, s->text)) && (text || s->code))
			return s;
	return NULL;
}

bool failed_is_opensm(const char *code, const char *text)
{
	return opensm_row(code, text) != NULL;
}

int explain_opensm(struct json_object *list, const char *code, const char *text)
{
	const struct failed_opensm *s = opensm_row(code, text);
	struct json_object *o;

	if (!s)
		return 0;
	o = explain_meaning(list, EXPLAIN_OPENSM, num_in_base(code, 16, NULL),
			    s->code ? s->code : code);
	if (text)
		explain_put(o, "text", text);
	explain_put(o, "means", s->means);
	explain_put(o, "next", s->next);
	return 1;
}

int explain_message(struct json_object *list, const char *name)
{
	for (const struct failed_message *m = failed_messages; m->means; m++) {
		struct json_object *o;

		if (strcmp(m->name, name))
			continue;
		o = explain_meaning(list, EXPLAIN_MESSAGE, 0, m->name);
		explain_put(o, "means", m->means);
		explain_put(o, "next", m->next);
		return 1;
	}
	return 0;
}

int explain_mad_error(struct json_object *list, int err, const char *what, const char *where)
{
	struct json_object *o = explain_meaning(list, EXPLAIN_MAD_ERROR, (uint64_t)err,
						err ? strerrorname_np(err) : EXPLAIN_UNTOLD);

	if (*what)
		explain_put(o, "attribute", what);
	if (*where)
		explain_put(o, "to", where);
	if (err == ETIMEDOUT)
		explain_put(o, "means", "no answer to a MAD after all retries");
	else if (err)
		explain_put(o, "means", "the kernel could not send the MAD or take the answer");
	else
		explain_put(o, "means", "a MAD failed; the line before it may say how");
	explain_put(
		o, "next",
		!err || err == ETIMEDOUT
			? "the node of this path or LID is down, hangs or is protected by its "
			  "M_Key, or the last link of the path is bad: ibtracert, ibqueryerrors, "
			  "the same again with -t 5000"
			: "ibstat: the port's state; was the device reset?");
	return 1;
}

/* ---- the driver */

int explain_timeout(struct json_object *list, uint32_t opcode, const char *command, bool recovered)
{
	struct json_object *o = explain_meaning(list, EXPLAIN_TIMEOUT, opcode, command);

	explain_put(o, "means",
		    recovered ? "the command was done, but its completion was seen only after the "
				"timeout: a lost or late interrupt"
			      : "the firmware gave no answer to the command in time, mostly 60 s: "
				"it hangs or is overloaded; the command's slot is lost until a "
				"reload");
	explain_put(o, "next",
		    recovered ? "CPUs that are stalled, interrupts: /proc/interrupts; the driver"
			      : "lines of health before it; then `devlink dev reload` or "
				"mlxfwreset; update the firmware if it returns");
	explain_put(o, "programs", "their calls fail with ETIMEDOUT, later ones with ECANCELED");
	return 1;
}

static const struct failed_qp *qp_row(uint8_t syndrome, const uint32_t numbers[3])
{
	for (const struct failed_qp *q = failed_qps; q->seen; q++)
		if (q->syndrome == syndrome && q->vendor_err == numbers[0] &&
		    q->hw_type == numbers[2])
			return q;
	return NULL;
}

/*
 * The driver asks the QP for its error state after an asynchronous event, so this end was mostly
 * the responder. It prints ib_wc_status_msg() of a CQE's syndrome: from 0x10 on, the text is of
 * another error.
 */
int explain_qp_error(struct json_object *list, uint8_t syndrome, const uint32_t numbers[3])
{
	const char *name = syndrome ? cqe_syndrome_name(syndrome) : EXPLAIN_UNTOLD;
	struct json_object *o = explain_meaning(list, EXPLAIN_QP_ERROR, syndrome, name);
	const struct failed_qp *q = qp_row(syndrome, numbers);
	char text[TEXT];

	explain_put(o, "means",
		    "the error state of a QP after an asynchronous event: this end was the "
		    "responder, mostly without a completion");
	if (syndrome >= CQE_SYND_BAD_RESP)
		explain_put(o, "text",
			    "the driver prints the text of another error: the CQE syndrome counts");
	if (!syndrome)
		explain_put(o, "text",
			    "the driver has no text for it: the CQE syndrome is 0x16, 0x22 or not "
			    "documented");
	snprintf(text, sizeof(text), "0x%x 0x%x 0x%x: vendor_err, hw_error, hw_type", numbers[0],
		 numbers[1], numbers[2]);
	explain_put(o, "numbers", text);
	if (q) {
		explain_put(o, "seen", q->seen);
		explain_put(o, "source", q->source);
	} else {
		explain_put(o, "seen", "no public log that I know has these numbers");
	}
	explain_put(o, "next",
		    "the requester's completion at the other end; the program's asynchronous "
		    "event (QP_ACCESS_ERR, QP_REQ_ERR, QP_FATAL)");
	return 1;
}

/* ---- by a word */

static int calls_by_word(struct json_object *list, const char *word)
{
	const char *name = table_name(word);
	int errs[ERRNOS] = {0}, found = 0;
	char call[64];

	for (const struct failed_call *c = failed_calls; c->cause; c++) {
		if (!c->call || strcasecmp(without_prefix(c->call), name) || errs[c->err]++)
			continue;
		failed_call_name(c->call, call, sizeof(call));
		found += explain_failed_call(list, call, c->err, "");
	}
	return found;
}

static int qp_numbers_by_word(struct json_object *list, const char *word)
{
	uint32_t n = (uint32_t)num_in_base(word, 16, NULL);
	int found = 0;

	if (strncasecmp(word, "0x", 2))
		return 0;
	for (const struct failed_qp *q = failed_qps; q->seen; q++) {
		const uint32_t numbers[3] = {q->vendor_err, 0, q->hw_type};

		if (n && (q->hw_type == n || q->vendor_err == n))
			found += explain_qp_error(list, q->syndrome, numbers);
	}
	return found;
}

int explain_failed_word(struct json_object *list, const char *word)
{
	const char *code = strncasecmp(word, "ERR ", 4) ? word : word + 4;
	int found = calls_by_word(list, word) + explain_cm_event(list, word, NULL) +
		    qp_numbers_by_word(list, word);

	return strlen(code) == 4 ? found + explain_opensm(list, code, NULL) : found;
}

void failed_each_word(void (*f)(void *ctx, const char *kind, const char *word), void *ctx)
{
	const char *last = "";
	char text[80];

	for (const struct failed_call *c = failed_calls; c->cause; c++) {
		if (!c->call || !strcmp(c->call, last))
			continue;
		last = c->call;
		failed_call_name(c->call, text, sizeof(text));
		f(ctx, "failed call", text);
	}
	for (const struct failed_cm_event *e = failed_cm_events; e->means; e++) {
		snprintf(text, sizeof(text), "RDMA_CM_EVENT_%s", e->name);
		f(ctx, "rdma_cm event", text);
	}
	for (const struct failed_opensm *s = failed_opensms; s->means; s++)
		if (s->code)
			f(ctx, "OpenSM error", s->code);
}
