/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - flow records, which tools read. */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include "qp.h"

void record_write(struct slot *s);
void record_touch(struct slot *s);
/* Refreshes records whose time has come, a bounded number. */
void records_refresh(struct engine *e);
uint64_t records_deadline(const struct engine *e);

#endif
