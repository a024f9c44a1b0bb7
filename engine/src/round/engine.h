/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - makes, frees and steps one engine. A test may own an engine and step it in virtual
 * time without any thread.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "frames/engine_state.h"

/*
 * Makes an engine. On failure returns NULL with a message in err. engine_free() closes cfg->netio;
 * a failing engine_new() does not. now: the stack's origin of time.
 */
struct engine *engine_new(const struct engine_config *cfg, uint64_t now, char *err,
                          size_t err_size);
/* Frees the engine. All queue pairs must be unused, or their owner must free them. */
void engine_free(struct engine *e);

/*
 * Runs one round: frames, handed-over frames, commands, timers, notifications, transmission.
 * Returns work done (0: none).
 */
unsigned engine_step(struct engine *e, uint64_t now);
/* engine_step() for a thread that polls continuously and alone. Returns at once when no frame has
 * arrived, nothing is due, and no other work has set e->idle_until to 0. */
unsigned engine_poll_idle(struct engine *e, uint64_t now);
/* Returns when engine_step() must be called at the latest, given no arrivals. UINT64_MAX: no
 * need. */
uint64_t engine_deadline(const struct engine *e);

/* Calls cfg.side when it is due. */
void run_side_hook(struct engine *e, uint64_t now);

/* Like engine_adopt(), without notifying the host, which knows everything already. */
int engine_enlist(struct engine *e, struct qp *qp);
/* Replaces the back end of an engine that is paused or has no thread. NULL: closes the back end;
 * the engine must not be stepped until it has one again. Returns 0, or -1 with errno. */
int engine_set_netio(struct engine *e, struct netio *n);
/* In the engine's thread: starts serving a queue pair; -1 when there are max_qps already. */
int engine_adopt(struct engine *e, struct qp *qp);
/* In the engine's thread: resets every flow, so that the peers are notified. Step until it is
 * idle. */
void engine_stop(struct engine *e);
/* Returns the number of flows left: 0 when engine_stop() has completed. */
uint32_t engine_flows(const struct engine *e);

#endif
