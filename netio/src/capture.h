/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - writing frames to a pcap file with nanosecond stamps.
 */
#ifndef TOE_NETIO_CAPTURE_H
#define TOE_NETIO_CAPTURE_H

#include "backend.h"

struct capture;

/* Creates or overwrites the file. On failure returns NULL and a sentence in err that begins with
 * `who`. */
struct capture *capture_open(const char *who, const char *file, const struct netio_err *err);
/* Returns 0, or -1 when the file could not be written (no space). */
int capture_write(struct capture *c, const struct netio_frame *frame, uint64_t now_ns);
int capture_flush(struct capture *c);
void capture_close(struct capture *c);

#endif
