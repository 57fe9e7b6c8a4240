/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CPUs near a device, in the two forms in which sysfs shows them. */
#ifndef SOFTHCA_FABRIC_CPUMASK_H
#define SOFTHCA_FABRIC_CPUMASK_H

#include <stddef.h>
#include <stdint.h>

/* The machine's own online CPUs: mask ("ff,ffffffff") and list ("0-39"), without newline. */
void cpumask_local(char *mask, size_t mask_size, char *list, size_t list_size);
/* The same for the CPUs of one of n NUMA nodes, which have equal shares of the machine's CPUs. */
void cpumask_node(uint32_t node, uint32_t n, char *mask, size_t mask_size, char *list,
		  size_t list_size);
#endif
