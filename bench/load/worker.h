/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - the loop of a client thread. */
#ifndef LOAD_WORKER_H
#define LOAD_WORKER_H

#include "state.h"

/* Allocates the worker's connections. Returns -1 after a message. */
int worker_init(struct worker *w, struct run *run, uint32_t id);
/* Connects, waits for the other workers, measures. */
void worker_run(struct worker *w);
void worker_free(struct worker *w);

#endif
