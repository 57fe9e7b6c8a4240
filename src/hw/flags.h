/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hardware state in the segment: what a card keeps in its own memory. Made and changed by the
 * firmware (src/fw), run by the engine (src/engine), read by everybody. Every element starts with
 * gen, flags (see seg_alloc). SEG_ELEM rounds their sizes to 64. One header per kind.
 *
 * Who may write what: fields marked [fw] change under the HCA's lock together with the object's own
 * locks; [sq]/[rq]/[cq] under that lock by the engine; unmarked are set at creation.
 */
#ifndef SOFTHCA_HW_FLAGS_H
#define SOFTHCA_HW_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `flags` of what firmware commands make: READY is its maker's last store. An element without it is
 * live but half made (its maker may be dead): invisible to commands, freed when its file goes.
 * ZOMBIE: its file is closed, but a stopped process still holds a lock of it; owned by the device.
 */
enum { HW_F_READY = 1, HW_F_ZOMBIE = 2, HW_F_RESERVED = 4 /* a QPN that was taken, no QP */ };

/* Made whole, and its file is not closed. */
static inline bool hw_in_service(const uint32_t *flags)
{
	return (__atomic_load_n(flags, __ATOMIC_ACQUIRE) & (HW_F_READY | HW_F_ZOMBIE)) ==
	       HW_F_READY;
}

#endif
