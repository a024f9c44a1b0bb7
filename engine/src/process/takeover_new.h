/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_new.h - the toed that takes over. */
#ifndef ENGINE_TAKEOVER_NEW_H
#define ENGINE_TAKEOVER_NEW_H

#include "base/takeover_image.h"
#include "control.h"
#include "takeover_restore.h"

struct heir {
    struct takeover image;
    int fd;  /* of the talk; -1: none */
    int pid; /* of the other */
    int listen_fd, lock_fd, heir_fd;
    uint64_t began; /* the other's engines have stopped; 0: not yet */
    struct takeover_tally tally;
};

/* Asks the toed at o->socket, compares options, and has it stop. -1 to go on, or an exit code with
 * a sentence in err. */
int heir_ask(struct heir *h, const struct options *o, char *err, size_t err_size);
/* Engines have been made: they, and who is attached. As above. */
int heir_restore(struct heir *h, struct control *c, char *err, size_t err_size);
/* The running toed is told why nothing comes of it. */
void heir_refuse(const struct heir *h, const char *why);
/* All is there, engines too, which are paused: from here on it is ours, or it is not. As above. */
int heir_settle(struct heir *h, struct control *c, char *err, size_t err_size);

#endif
