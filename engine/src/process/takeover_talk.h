/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover_talk.h - a new toed takes over from the one that runs (docs/UPGRADE.md): it asks on the
 * control socket, is given all that there is, and serves on.
 *
 *   new -> old   hello of kind TOEDEV_HELLO_TAKE_OVER
 *   old -> new   welcome, then its options as text; the new one ends the talk when they are others
 *   new -> old   GO: engines stop, all is written down (takeover_save.c), the interface is closed
 *   old -> new   IMAGE with a memfd, then its descriptors, FDS_MOST in each message
 *   new -> old   DONE: all of it has been read (takeover_restore.c), the interface is open
 *   old -> new   YOURS: the point of no return; the old one ends, the new one's engines run
 *
 * Until it says YOURS the old one goes on where it stopped when the new one says anything else, has
 * gone, or takes longer than TAKEOVER_TIME; it says BACK then, and takes the interface back when
 * the new one has ended: who does not is killed. An end without a word after DONE is that of a
 * process that was killed: the new one goes on.
 */
#ifndef ENGINE_TAKEOVER_TALK_H
#define ENGINE_TAKEOVER_TALK_H

#include <sys/types.h>

#include "base/clock.h"
#include "base/takeover_image.h"
#include "options.h"

#define TAKEOVER_TIME (20 * NS_PER_S)
#define FDS_MOST      200u /* in a message; SCM_MAX_FD of Linux is 253 */
#define TALK_TEXT     4096u

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

#endif
