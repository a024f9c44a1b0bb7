/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - the thread of an engine, and calls from others. */
#ifndef ENGINE_THREAD_H
#define ENGINE_THREAD_H

#include "frames/engine_state.h"

/* Start and end the thread. engine_start() returns 0 or an errno. */
int engine_start(struct engine *e);
void engine_join(struct engine *e);
/* Stops the thread between two rounds. The caller then owns the engine as if it had no thread; no
 * thread may use engine_call(). Called before engine_start(), the thread begins paused. */
void engine_pause(struct engine *e);
/* Lets the thread continue. */
void engine_resume(struct engine *e);
/* Runs fn in the engine's thread and waits for it; runs it directly when the engine has no
 * thread. */
void engine_call(struct engine *e, engine_fn fn, void *arg);
/* Wakes the engine when it sleeps. Any thread. */
void engine_wake(struct engine *e);
/* For the watcher: interrupts an interrupt write that has blocked since before `before`. */
void engine_unblock(struct engine *e, uint64_t before);

#endif
