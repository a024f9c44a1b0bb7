/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.h - the socket buffers of the kernel's TCP: net.ipv4.tcp_rmem and tcp_wmem. */
#ifndef TOE_CLI_TUNE_BUFFERS_H
#define TOE_CLI_TUNE_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

/* least, default and most bytes, as in the files of /proc/sys */
struct tune_buffers {
    uint64_t receive[3], send[3];
};

/* Both return false with errno, and *what names the file. */
bool tune_buffers_read(struct tune_buffers *b, const char **what);
bool tune_buffers_write(const struct tune_buffers *b, const char **what);

/* Returns whether this process may write them. */
bool tune_buffers_permitted(void);

bool tune_buffers_same(const struct tune_buffers *a, const struct tune_buffers *b);

/* Sets the most that a buffer grows to; one that begins with more begins with that. */
void tune_buffers_limit(struct tune_buffers *b, uint64_t most);

#endif
