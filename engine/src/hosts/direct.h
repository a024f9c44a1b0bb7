/* SPDX-License-Identifier: Apache-2.0 */
/* direct.h - a host in the engine's own thread. */
#ifndef ENGINE_DIRECT_H
#define ENGINE_DIRECT_H

#include "qp.h"

void direct_command(struct qp *qp, const struct toe_cmd *raw);
/* Delivers pending notifications. Returns how many. */
unsigned direct_notify(struct qp *qp);

#endif
