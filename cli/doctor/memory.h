/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - checks of memory: memory files, huge pages, overcommit. */
#ifndef TOE_CLI_DOCTOR_MEMORY_H
#define TOE_CLI_DOCTOR_MEMORY_H

#include "facts.h"

/* Adds memory.memfd, memory.control_group, memory.transparent, memory.huge_pages and
 * memory.overcommit. */
void check_memory(struct facts *f);

#endif
