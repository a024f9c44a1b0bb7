/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - the thread of an engine, and calls from others. */
#ifndef ENGINE_THREAD_H
#define ENGINE_THREAD_H

#include "frames/engine_state.h"

/* Starts and ends the thread. engine_start() returns 0 or an errno. */
int engine_start(struct engine *e);
void engine_join(struct engine *e);
/* Its thread stops between two rounds, and the engine is the caller's, as if it had none; nobody
 * may call it. Before engine_start(): the thread begins so. */
void engine_pause(struct engine *e);
/* ... goes on. */
void engine_resume(struct engine *e);
/* Runs fn in the engine's thread and waits for it; directly when the engine has no thread. */
void engine_call(struct engine *e, engine_fn fn, void *arg);
/* Wakes the engine when it sleeps. Any thread. */
void engine_wake(struct engine *e);
/* For the one who watches: ends an interrupt write that has blocked since before `before`. */
void engine_unblock(struct engine *e, uint64_t before);

#endif
