/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fds.h - descriptors in the control data of a message over a Unix socket (SCM_RIGHTS, unix(7)).
 * The caller sends and receives the message itself.
 */
#ifndef TOE_FDS_H
#define TOE_FDS_H

#include <stddef.h>
#include <sys/socket.h>

/* Control data for up to n descriptors. */
#define TOE_FDS_ROOM(n)                                                                            \
    union {                                                                                        \
        struct cmsghdr align;                                                                      \
        char bytes[CMSG_SPACE((n) * sizeof(int))];                                                 \
    }

/* Adds the n descriptors to the message; room is a TOE_FDS_ROOM of at least n, which the message
 * refers to from then on. n may be 0: then the message has no control data. */
void toe_fds_put(struct msghdr *m, void *room, const int *fds, size_t n);
/* Takes the descriptors out of a received message: the first `max` into fds, further ones are
 * closed. Returns how many came, so more than `max` when some were closed. */
size_t toe_fds_take(struct msghdr *m, int *fds, size_t max);

#endif
