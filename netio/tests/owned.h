/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owned.h - owners of memory. Records allocations and mappings of the program under test under the
 * current owner (the linker's --wrap redirects its malloc() and mmap() to this file). A test can
 * check whether two owners share a cache line, and can protect the memory of all other owners while
 * one of them runs.
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
/* Sets the owner of later allocations; returns the previous one. */
unsigned owned_by(unsigned owner);
/* Cache lines that came to belong to two owners, OUTSIDE not counted; and how many ranges were seen
 * of an owner. */
unsigned owned_conflicts(void);
unsigned owned_ranges(unsigned owner);
/* Memory of the test itself, which is never protected. */
void *owned_outside(size_t n);

/*
 * `owner` runs: until owned_leave(), the memory of the owners whose bits are set in `away` can be
 * neither read nor written, and static data of the program cannot be written. A violation ends the
 * program with a message and exit code OWNED_TRESPASS.
 */
#define OWNED_TRESPASS 77
void owned_enter(unsigned owner, unsigned away);
void owned_leave(void);

#endif
