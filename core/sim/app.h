/* SPDX-License-Identifier: Apache-2.0 */
/* app.h - the applications of a flow: what sends and what reads. */
#ifndef SIM_APP_H
#define SIM_APP_H

#include "net.h"

/* Handles EV_APP of an open flow. Returns 1 when the sender must be polled. */
int app_write(struct flow *f);
/* Handles EV_READ; the receiver must be polled afterwards. */
void app_read(struct flow *f);
/* Does what events have requested since the last call. Returns whether there was anything. */
int app_work(struct flow *f);
/* Handles an event of a stack. It must not call back into core/: app_work() does. */
void app_event(struct host *h, enum toec_event ev, uint32_t arg);

#endif
