/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_new.h - the toed that takes over (docs/UPGRADE.md). */
#ifndef ENGINE_TAKEOVER_NEW_H
#define ENGINE_TAKEOVER_NEW_H

#include "base/takeover_image.h"
#include "control.h"
#include "takeover_restore.h"

struct heir {
    struct takeover image;
    int fd;  /* the connection to the other toed; -1: none */
    int pid; /* of the other toed */
    int listen_fd, lock_fd, heir_fd;
    struct address_claims addresses;
    uint64_t began; /* when the other's engines stopped; 0: not yet */
    struct takeover_tally tally;
};

/* Connects to the toed at o->socket, compares options, and makes it stop. Returns -1 to continue,
 * or an exit code with a message in err. */
int heir_ask(struct heir *h, const struct options *o, char *err, size_t err_size);
/* Called when the engines exist: restores them and the attached hosts. Returns as above. */
int heir_restore(struct heir *h, struct control *c, char *err, size_t err_size);
/* Aborts the take-over and reports the reason to the running toed. */
void heir_refuse(const struct heir *h, const char *why);
/* Completes the take-over when all is restored and the engines are paused: afterwards either this
 * toed serves, or the other does. Returns as above. */
int heir_settle(struct heir *h, struct control *c, char *err, size_t err_size);

#endif
