/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - the process that runs engines in threads: its signals, descriptors and shutdown. */
#ifndef ENGINE_PROCESS_H
#define ENGINE_PROCESS_H

#include "control.h"

/* Called first, with *c zeroed: makes this thread, and those it starts, receive termination signals
 * through signal_fd only. Returns 0, or -1 with errno. */
int control_init(struct control *c, const struct options *o);
/* Resets every flow to inform the peers; after a second, logs how many flows remain. */
void control_stop_flows(struct control *c);
/* Pauses all engines (engine_pause()) and the polling manager. Called before they start, they begin
 * paused. */
void control_pause(struct control *c);
void control_resume(struct control *c);
/* Ends the engines' threads and frees the engines, including queue pairs whose flows did not end in
 * time. */
void control_free_engines(struct control *c);

#endif
