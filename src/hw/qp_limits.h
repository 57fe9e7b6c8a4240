/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits of queue pairs that capabilities report. */
#ifndef SOFTHCA_HW_QP_LIMITS_H
#define SOFTHCA_HW_QP_LIMITS_H

/*
 * log2 of the most bytes that one MMO copies, as capability log_dma_mmo_max_size says: the 2 MiB
 * that DOCA's guides give for the cards.
 */
#define HW_LOG_MAX_MMO 21

/* DC initiators: log2 of the most streams that are handled side by side, and may be in error. */
#define HW_LOG_MAX_DCI_STREAMS 4
#define HW_LOG_MAX_DCI_ERRORED 4

#endif
