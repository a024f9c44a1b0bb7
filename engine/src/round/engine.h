/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - one engine: made, freed, and a round of it. A test may own an engine and step it in
 * virtual time without any thread.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "frames/engine_state.h"

/*
 * Makes an engine; on failure returns NULL and puts a sentence for people into err. cfg->netio is
 * closed by engine_free(), not on failure. now: the stack's origin of time.
 */
struct engine *engine_new(const struct engine_config *cfg, uint64_t now, char *err,
                          size_t err_size);
/* Frees it. All queue pairs must have become unused, or they are leaked to their owner. */
void engine_free(struct engine *e);

/*
 * One round: frames, handed-over frames, commands, timers, notifications, transmission. Returns
 * what it found to do (0: nothing).
 */
unsigned engine_step(struct engine *e, uint64_t now);
/* The same by one that looks all the time, and alone: when no frame has come, nothing is due and
 * e->idle_until has not been set to 0 because something else was done, that is all. */
unsigned engine_poll_idle(struct engine *e, uint64_t now);
/* When engine_step() must be called at the latest, given no arrivals. UINT64_MAX: no need. */
uint64_t engine_deadline(const struct engine *e);

/* Calls cfg.side when its time has come. */
void run_side_hook(struct engine *e, uint64_t now);

/* The same without telling its host anything, who knows all. */
int engine_enlist(struct engine *e, struct qp *qp);
/* Without a thread, or paused: another back end from now on; NULL: the one it has is closed, and it
 * is not to be stepped until it has one again. 0, or -1 and errno. */
int engine_set_netio(struct engine *e, struct netio *n);
/* In the engine's thread: takes a queue pair into service; -1 when there are max_qps already. */
int engine_adopt(struct engine *e, struct qp *qp);
/* In the engine's thread: resets every flow, so that peers learn of it. Step until it is idle. */
void engine_stop(struct engine *e);
/* Flows that still live: 0 when engine_stop() has done its work. */
uint32_t engine_flows(const struct engine *e);

#endif
