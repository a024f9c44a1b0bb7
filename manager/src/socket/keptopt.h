/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keptopt.h - the values of options that libtoe does not act on (keptopt.c). Accepted connections
 * are duplicates of one placeholder, which therefore cannot store them. As on Linux, a connection
 * begins with the values of its listener. Lock held.
 */
#ifndef LIBTOE_KEPTOPT_H
#define LIBTOE_KEPTOPT_H

#include "tsock.h"

/* Sets an option on a kernel socket made for this call, which checks it as Linux does. store:
 * stores its value. 0, or -1 with errno; ENOBUFS after TKEPT_MAX different options. */
TOE_HIDDEN int tkept_set(struct tsock *s, int level, int name, const void *value, socklen_t len,
                         bool store);
/* Reads an option; one that was not set from a new kernel socket. 0, or -1 with errno. */
TOE_HIDDEN int tkept_get(const struct tsock *s, int level, int name, void *value, socklen_t *len);
/* Returns the stored value of an option; 0: none. */
TOE_HIDDEN int32_t tkept_value(const struct tsock *s, int level, int name);
/* Stores the value that the kernel socket fd has for an option, if it is an int. Returns false when
 * there is no space for it. */
TOE_HIDDEN bool tkept_note(struct tsock *s, int fd, int level, int name);

#endif
