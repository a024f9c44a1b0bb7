/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - the process around engines with threads: its signals, descriptors and end. */
#ifndef ENGINE_PROCESS_H
#define ENGINE_PROCESS_H

#include "control.h"

/* First of all, with *c zeroed: this thread, and those that it starts, take the signals
 * of an end from signal_fd alone. 0, or -1 and errno. */
int control_init(struct control *c, const struct options *o);
/* Resets every flow, so that peers learn of the end; after a second it logs how many are left. */
void control_stop_flows(struct control *c);
/* engine_pause() of all, and of their manager; before they start: they begin so. */
void control_pause(struct control *c);
void control_resume(struct control *c);
/* Ends the engines' threads and frees the engines, with what is left of queue pairs whose flows did
 * not end in time. */
void control_free_engines(struct control *c);

#endif
