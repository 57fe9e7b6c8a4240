/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_HW_FOR_TESTS_H
#define SOFTHCA_HW_FOR_TESTS_H

#include "hw/evq.h"

/* Takes an event as evq_take() does; there is room for any data, and never -EOVERFLOW. */
int evq_pop(struct seg *s, uint32_t evq, uint32_t gen, int fd, struct seg_evrec *rec);
/* The place of the queue's FIFO. */
void evq_path(const struct seg *s, uint32_t evq, uint32_t gen, char path[320]);

#endif
