/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_CM_FOR_TESTS_H
#define SOFTHCA_CM_FOR_TESTS_H

#include "cm/cm.h"

uint32_t cm_local_id(const struct cm_id *id);
uint32_t cm_remote_id(const struct cm_id *id);
uint64_t cm_service_id(const struct cm_id *id);
/* Listen for `service_id` on the id's adapter. -EBUSY somebody does, -EINVAL. */
int cm_listen(struct cm_id *id, uint64_t service_id);

#endif
