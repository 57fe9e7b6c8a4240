/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CPUs near a device, in the two forms in which sysfs shows them. */
#ifndef SOFTHCA_FABRIC_CPUMASK_H
#define SOFTHCA_FABRIC_CPUMASK_H

#include <stddef.h>

/* The machine's own online CPUs: mask ("ff,ffffffff") and list ("0-39"), without newline. */
void cpumask_local(char *mask, size_t mask_size, char *list, size_t list_size);
#endif
