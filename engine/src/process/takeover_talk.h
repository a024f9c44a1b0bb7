/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_talk.h - the talk of takeover.h between two processes, and what each does in it. */
#ifndef ENGINE_TAKEOVER_TALK_H
#define ENGINE_TAKEOVER_TALK_H

#include "control.h"
#include "takeover.h"

/* ---- takeover_talk.c ---- */

#define TALK_TEXT 4096u

/* One message, as bytes. Send: 0, or -1 and errno. Receive, at most `room`, until the time (of
 * engine_clock()): its length, 0 at the end of the connection, -1 and errno (EMFILE: this process
 * may not have as many descriptors as came). fds: up to *fd_count come into it, the rest is closed.
 */
int talk_send(int to, const void *data, size_t n, const int *fds, uint32_t fd_count);
ssize_t talk_receive(int from, void *data, size_t room, int *fds, uint32_t *fd_count,
                     uint64_t until);
/* Is it this word? */
int talk_is(const char *text, ssize_t n, const char *word);
/* The image and all its descriptors. 0, or -1 and errno. */
int talk_send_image(int to, const struct takeover *t);
/* ... into an empty *t; -1 and a sentence. */
int talk_receive_image(int from, struct takeover *t, char *err, size_t err_size);
/* What must be the same in both: lines of "name value". */
void talk_options(const struct options *o, char *text, size_t size);

/* ---- takeover_old.c ---- */

/* The client asks to take over: the whole talk, in which nobody else is served. 1: it has, and
 * this process is to end, undoing nothing; 0: it has not. */
int takeover_give(struct control *c, struct client *cl);

/* ---- takeover_new.c ---- */

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
