/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that a kernel would have pinned. munmap(2) takes pinned pages from the program, but not
 * from the adapter, which uses them until the last region over them ends. Pages have no other name
 * than their address here, so an unmapping of registered memory is put off until then: munmap()
 * says that it has succeeded, and nothing else can be mapped at that address meanwhile.
 *
 * Addresses and lengths are of whole pages. All functions may be called by any thread and change no
 * errno; pin_unmap() also inside of libc's allocator.
 */
#ifndef SOFTHCA_SEGMENT_PIN_H
#define SOFTHCA_SEGMENT_PIN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A registration of [from, to) begins, or has ended. `owner`: any number but 0 of its own for each
 * file; without memory to note it in, nothing is put off.
 */
void pin_get(uint64_t from, uint64_t to, uint64_t owner);
void pin_put(uint64_t from, uint64_t to, uint64_t owner);
/* All registrations of a file have ended. */
void pin_put_all(uint64_t owner);

/* The program unmaps [from, to). True: it has been done, as far as it can be now. */
bool pin_unmap(uint64_t from, uint64_t to);
/* The program is about to map something else at [from, to). */
void pin_replaced(uint64_t from, uint64_t to);
/* The same where the call replaces nothing that is mapped. */
void pin_make_room(uint64_t from, uint64_t to);
/* In the child of a fork, which has registered nothing. */
void pin_forked(void);

#endif
