/* SPDX-License-Identifier: Apache-2.0 */
/* opening.h - CONNECTs that have no answer yet, by cookie. */
#ifndef ENGINE_OPENING_H
#define ENGINE_OPENING_H

#include "qp.h"

void opening_add(struct slot *s);
/* Not in the list: nothing happens. */
void opening_del(struct slot *s);
/* One of this cookie, or NULL. */
struct slot *opening_find(const struct qp *qp, uint32_t cookie);

#endif
