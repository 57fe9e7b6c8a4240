/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The meanings of what a line of a log says. decode_run.c calls it. */
#include "cli/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli/explain.h"
#include "cli/failed.h"
#include "cli/report.h"
#include "fw/fw.h"
#include "util/num.h"
#include "wire/mad/mad.h"
#include "wire/mad/names.h"

static void put_request(struct json_object *o, const struct report_fact *fact)
{
	if (*fact->remote)
		explain_put(o, "remote", fact->remote);
	if (*fact->local)
		explain_put(o, "local", fact->local);
	if (*fact->peer)
		explain_put(o, "peer", fact->peer);
}

static void put_numbers(struct json_object *list, size_t first, const struct report_fact *fact)
{
	for (size_t i = first; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		explain_put(o, "said by", fact->form);
		if (fact->has & REPORT_HAS_QPN)
			explain_put_number(o, "qpn", fact->qpn, false);
		if (fact->has & REPORT_HAS_CQN)
			explain_put_number(o, "cqn", fact->cqn, false);
		put_request(o, fact);
	}
}

static void completion(struct json_object *list, const struct report_fact *fact)
{
	const struct explain_seen seen = {.has_vendor = fact->has & REPORT_HAS_VENDOR,
					  .vendor_err = fact->vendor,
					  .roce = !(fact->has & REPORT_IB),
					  .op = *fact->op ? fact->op : NULL};
	struct json_object *o;

	if (fact->has & REPORT_HAS_SYNDROME) {
		if (fact->syndrome > UINT8_MAX || !fact->syndrome ||
		    explain_cqe(list, (uint8_t)fact->syndrome, &seen))
			return;
		o = explain_meaning(list, EXPLAIN_CQE, fact->syndrome, "?");
		explain_put(o, "means", "a syndrome that is not documented");
	} else if (fact->has & REPORT_HAS_WC) {
		/* A status of 0 is success: there is no error to explain. */
		if (fact->wc && fact->wc <= INT16_MAX)
			explain_wc_status(list, (int)fact->wc, &seen);
	} else if (fact->has & REPORT_HAS_VENDOR) {
		o = explain_meaning(list, EXPLAIN_VENDOR_ERR, fact->vendor, "?");
		explain_put(o, "means", "the card gave no known status with it");
	}
}

static void put_command(struct json_object *o, const struct report_fact *fact)
{
	char text[128];

	if (fact->has & REPORT_HAS_OPCODE)
		snprintf(text, sizeof(text), "%s (0x%x)", fact->command, fact->opcode);
	else
		snprintf(text, sizeof(text), "%s", fact->command);
	if (*fact->command)
		explain_put(o, "command", text);
}

static void syndrome(struct json_object *list, struct json_object *o, uint32_t number)
{
	char text[128];
	int ours, cards;

	if (!number)
		return;
	ours = explain_syndrome(list, number);
	cards = explain_card_syndrome(list, number);
	if (ours || cards)
		return;
	snprintf(text, sizeof(text), "0x%x: the card's own; no public source that I know says more",
		 number);
	explain_put(o, "syndrome", text);
}

static void command(struct json_object *list, const struct report_fact *fact)
{
	size_t n = json_object_array_length(list);
	struct json_object *o;

	if (!(fact->has & REPORT_HAS_STATUS)) {
		o = explain_meaning(list, EXPLAIN_OPCODE, fact->opcode, fact->command);
		explain_put(o, "means", "the command was refused; the line lacks its status");
		return;
	}
	if (fact->status > UINT8_MAX || !explain_status(list, (uint8_t)fact->status)) {
		o = explain_meaning(list, EXPLAIN_STATUS, fact->status, "?");
		explain_put(o, "means", "a status that is not documented");
	}
	o = json_object_array_get_idx(list, n);
	put_command(o, fact);
	syndrome(list, o, fact->fw);
}

/* UCX's "qp_modify 503": the number is the opcode. */
static void devx_command(struct report_fact *fact)
{
	const char *number = strchr(fact->command, ' ');
	uint16_t opcode = number ? (uint16_t)num_in_base(number + 1, 16, NULL) : 0;

	if (!number || strspn(number + 1, "0123456789abcdef") != strlen(number + 1) ||
	    *fw_opcode_name(opcode) == '?')
		return;
	snprintf(fact->command, sizeof(fact->command), "%s", fw_opcode_name(opcode));
	fact->opcode = opcode;
	fact->has |= REPORT_HAS_OPCODE;
}

static const char *devx_means(const struct report_fact *fact, int err)
{
	if (fact->fw || err == EREMOTEIO)
		return "the firmware refused the command of mlx5dv_devx_*()";
	if (err == ETIMEDOUT || err == ECANCELED)
		return "no answer of the firmware: it hangs or is being reset, see the kernel's "
		       "log";
	if (err == EPROTONOSUPPORT || err == EOPNOTSUPP)
		return "this kernel's driver has no such method: it is older than the library";
	if (fact->has & REPORT_HAS_FW)
		return "syndrome 0: the kernel's driver refused it, and the firmware never saw it";
	return "the command failed; the line does not tell whether the firmware saw it";
}

static void devx(struct json_object *list, const struct report_fact *told)
{
	struct report_fact fact = *told;
	int err = fact.has & REPORT_HAS_ERRNO ? (int)fact.err : failed_errno(fact.error);
	struct json_object *o = explain_meaning(list, EXPLAIN_ERRNO, (uint64_t)err,
						err ? strerrorname_np(err) : "?");

	devx_command(&fact);
	put_command(o, &fact);
	explain_put(o, "means", devx_means(&fact, err));
	explain_put(o, "next",
		    err == EREMOTEIO || fact.fw
			    ? "the kernel's log has the status, if dynamic debug of mlx5_core's "
			      "mlx5_cmd_out_err() is on"
			    : "the kernel's log of the same second");
	syndrome(list, o, fact.fw);
}

static void health(struct json_object *list, const struct report_fact *fact)
{
	struct json_object *o;

	if (fact->has & REPORT_HAS_SYNDROME && fact->syndrome <= UINT8_MAX &&
	    explain_health(list, (uint8_t)fact->syndrome))
		return;
	o = explain_meaning(list, EXPLAIN_HEALTH, fact->syndrome,
			    fact->has & REPORT_HAS_SYNDROME ? "not documented" : EXPLAIN_UNTOLD);
	explain_put(o, "means",
		    fact->has & REPORT_HAS_SYNDROME ? "a health syndrome that is not documented"
						    : "the driver found the card dead or failed");
	explain_put(o, "next", "the lines after it: synd, ext_synd; AER errors before it");
}

static void old_card(struct json_object *list, const struct report_fact *fact)
{
	explain_old_card(list, fact->vendor, fact->about);
	/*
	 * The mcxnex driver (Solaris) logs the CQE's syndrome; mlx4 and mlx5 use the same numbers.
	 */
	if (fact->has & REPORT_HAS_SYNDROME && fact->syndrome <= UINT8_MAX)
		explain_cqe(list, (uint8_t)fact->syndrome, NULL);
	else
		explain_wc_status(list, 2, NULL); /* LOC_QP_OP_ERR */
}

static void qp_error(struct json_object *list, const struct report_fact *fact)
{
	const uint32_t numbers[3] = {fact->vendor, fact->hw[0], fact->hw[1]};

	explain_qp_error(list, (uint8_t)fact->syndrome, numbers);
}

static void mad(struct json_object *list, const struct report_fact *fact)
{
	const char *what = fact->has & REPORT_HAS_OPCODE
				   ? mad_attr_name(MAD_CLASS_SUBN_LID, fact->opcode)
				   : "";

	/* A class is not told: the common statuses, and those of SA. */
	if (!(fact->has & REPORT_HAS_STATUS) ||
	    !explain_mad_status(list, MAD_CLASS_SA, (uint16_t)fact->status))
		explain_mad_error(list, (int)fact->err, what, fact->text);
}

void decode_fact(struct json_object *list, const struct report_fact *fact)
{
	size_t first = json_object_array_length(list);

	switch (fact->kind) {
	case REPORT_NOTHING:
	case REPORT_PART:
		break;
	case REPORT_COMPLETION:
		completion(list, fact);
		break;
	case REPORT_COMMAND:
		command(list, fact);
		break;
	case REPORT_DEVX:
		devx(list, fact);
		break;
	case REPORT_EVENT:
		explain_event(list, (int)fact->event);
		break;
	case REPORT_CQ_ERROR:
		explain_cq_error(list, fact->syndrome);
		break;
	case REPORT_HEALTH:
		health(list, fact);
		break;
	case REPORT_OLD_CARD:
		old_card(list, fact);
		break;
	case REPORT_CALL:
		explain_failed_call(list, fact->command, (int)fact->err, fact->state);
		break;
	case REPORT_TIMEOUT:
		explain_timeout(list, fact->opcode, fact->command, fact->about != NULL);
		break;
	case REPORT_QP_ERROR:
		qp_error(list, fact);
		break;
	case REPORT_CM:
		explain_cm_event(list, fact->command,
				 fact->has & REPORT_HAS_STATUS_OF_CM ? &fact->cm_status : NULL);
		break;
	case REPORT_MAD:
		mad(list, fact);
		break;
	case REPORT_MESSAGE:
		explain_message(list, fact->about);
		break;
	case REPORT_OPENSM:
		explain_opensm(list, fact->command, fact->text);
		break;
	}
	put_numbers(list, first, fact);
}
