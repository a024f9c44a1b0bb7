/* SPDX-License-Identifier: Apache-2.0 */
/* opening.h - unanswered CONNECTs, by cookie. */
#ifndef ENGINE_OPENING_H
#define ENGINE_OPENING_H

#include "qp.h"

void opening_add(struct slot *s);
/* Removes the slot; no effect when it is not in the list. */
void opening_del(struct slot *s);
/* Returns a slot with this cookie, or NULL. */
struct slot *opening_find(const struct qp *qp, uint32_t cookie);

#endif
