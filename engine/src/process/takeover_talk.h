/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover_talk.h - the protocol by which a new toed takes over from the running one
 * (docs/UPGRADE.md). The new toed connects to the control socket, receives the whole state, and
 * continues to serve.
 *
 *   new -> old   hello of kind TOEDEV_HELLO_TAKE_OVER
 *   old -> new   welcome, then its options as text; the new one ends the talk when they are others
 *   new -> old   GO: engines stop, all is written down (takeover_save.c), the interface is closed
 *   old -> new   IMAGE with a memfd, then its descriptors, FDS_MOST in each message
 *   new -> old   DONE: all of it has been read (takeover_restore.c), the interface is open
 *   old -> new   YOURS: the point of no return; the old one ends, the new one's engines run
 *
 * Until it sends YOURS, the old toed resumes where it stopped when the new one sends anything else,
 * closes the connection, or takes longer than TAKEOVER_TIME. It then sends BACK, waits for the new
 * one to end (and kills it if it does not), and reopens the interface. If the connection ends after
 * DONE without a message, the old toed was killed, and the new one continues.
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

/* Send and receive one message. talk_send() returns 0, or -1 with errno. talk_receive() receives at
 * most `room` bytes until `until` (by engine_clock()). It returns the length, 0 at the end of the
 * connection, or -1 with errno (EMFILE: more descriptors arrived than this process may open). It
 * stores up to *fd_count descriptors in fds and closes the rest. */
int talk_send(int to, const void *data, size_t n, const int *fds, uint32_t fd_count);
ssize_t talk_receive(int from, void *data, size_t room, int *fds, uint32_t *fd_count,
                     uint64_t until);
/* Returns whether the message is this word. */
int talk_is(const char *text, ssize_t n, const char *word);
/* Sends the image and all its descriptors. Returns 0, or -1 with errno. */
int talk_send_image(int to, const struct takeover *t);
/* Receives them into an empty *t. Returns 0, or -1 with a message in err. */
int talk_receive_image(int from, struct takeover *t, char *err, size_t err_size);
/* Writes the options that must be equal in both, as lines of "name value". */
void talk_options(const struct options *o, char *text, size_t size);

#endif
