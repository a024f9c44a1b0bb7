/* SPDX-License-Identifier: Apache-2.0 */
/* capture_area.h - the memory that a capture shares with a tool (toe/capture.h), and the capture's
 * lifetime. A TOE has at most one. The main thread. */
#ifndef ENGINE_CAPTURE_AREA_H
#define ENGINE_CAPTURE_AREA_H

#include "control.h"

/*
 * Begins a capture for a client. text: "SNAPLEN MIB", the bytes recorded of a frame and the MiB of
 * each engine's ring. Returns 0 with the descriptor for the tool in *fd, which the caller closes;
 * or -1 with the reason in err.
 */
int capture_begin(struct control *c, const struct client *cl, const char *text, int *fd, char *err,
                  size_t err_size);
/* Ends the capture, if there is one, and frees its memory. */
void capture_end(struct control *c);

#endif
