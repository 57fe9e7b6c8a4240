/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hardware state in the segment: what a card keeps in its own memory. The firmware (src/fw) makes
 * and changes it, the engine (src/engine) runs it, everybody may read it. Each kind of element has
 * one header; every element starts with gen and flags (see seg_alloc). SEG_ELEM rounds sizes to 64.
 *
 * The locks that protect a field: [fw] the HCA's lock together with the object's own locks; [sq],
 * [rq], [cq] that lock of the object, by the engine. Fields without a mark are set at creation.
 */
#ifndef SOFTHCA_HW_FLAGS_H
#define SOFTHCA_HW_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `flags` of objects that firmware commands make. READY is the maker's last store; without it an
 * element is live but half made (its maker may be dead), invisible to commands, and freed with its
 * file. ZOMBIE: the file is closed, but a stopped process still holds a lock of the object; the
 * device owns it.
 */
enum { HW_F_READY = 1, HW_F_ZOMBIE = 2, HW_F_RESERVED = 4 /* a QPN is reserved, without a QP */ };

/* Is the object complete and its file open? */
static inline bool hw_in_service(const uint32_t *flags)
{
	return (__atomic_load_n(flags, __ATOMIC_ACQUIRE) & (HW_F_READY | HW_F_ZOMBIE)) ==
	       HW_F_READY;
}

#endif
