/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owned.h - whose memory is whose. Allocations and mappings of the program under test are noted
 * under the owner that is named while they are made (its malloc() and mmap() come here by the
 * linker's
 * --wrap), so that a test can tell whether two owners have a cache line in common, and can take
 * everybody else's memory away while one of them runs.
 */
#ifndef OWNED_H
#define OWNED_H

#include <stddef.h>

#define OWNERS  4u
#define OUTSIDE 0u /* of no interest: the test itself */

enum owned_mode {
    OWNED_LINES, /* the memory is malloc()'s; lines that two owners have at once are counted */
    OWNED_ARENAS /* each owner's is apart from the others', for owned_enter() */
};

void owned_begin(enum owned_mode mode);
void owned_end(void);
/* Who allocates from now on; returns who did. */
unsigned owned_by(unsigned owner);
/* Cache lines that came to belong to two owners, OUTSIDE not counted; and how many ranges were seen
 * of an owner. */
unsigned owned_conflicts(void);
unsigned owned_ranges(unsigned owner);
/* Memory of the test's own, which nothing is ever taken from. */
void *owned_outside(size_t n);

/*
 * owner runs: the memory of the owners whose bits are set in `away` can neither be read nor
 * written, and static data of the program cannot be written, until owned_leave(). Who does it all
 * the same ends the program with a message and exit code OWNED_TRESPASS.
 */
#define OWNED_TRESPASS 77
void owned_enter(unsigned owner, unsigned away);
void owned_leave(void);

#endif
