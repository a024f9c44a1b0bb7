/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h - the TOE's side of the attach protocol (toe/attach.h): socket, hello, welcome. */
#ifndef ENGINE_ATTACH_H
#define ENGINE_ATTACH_H

#include "control.h"

#define HELLO_FDS 2

struct hello_message {
    struct toedev_hello hello;
    uint32_t kind; /* 0: not a valid hello; `wrong` has the reason */
    const char *wrong;
    int fds[HELLO_FDS]; /* -1: none */
    int fd_count;
};

/* Receives one message. Returns 1, 0 at the end of the connection, -1 when there is none. */
int attach_receive(int fd, struct hello_message *m);
/* Closes the descriptors received with the message. */
void attach_discard(struct hello_message *m);
/* Answers a hello that requests an attach: attaches, or refuses with a reason. Owns the message's
 * descriptors. Returns 0, or -1 to end the connection. */
int attach_client(struct control *c, struct client *cl, struct hello_message *m);
/* Charges a queue pair restored from another toed to its user. -1: no memory. */
int attach_account(struct control *c, struct qp *qp);
/* Answers TOEDEV_HELLO_TAKE_OVER; why: the reason of a refusal, or NULL. Returns 0, or -1 to end
 * the connection. */
int attach_answer_take_over(struct control *c, const struct client *cl, const char *why);
/* Handles TOEDEV_HELLO_MOVED. Returns 0, or -1 to end the connection. */
int attach_moved(struct client *cl, struct hello_message *m);
/* Answers TOEDEV_HELLO_REGISTERS. */
void attach_registers(struct control *c, const struct client *cl);
/* Answers TOEDEV_HELLO_CAPTURE. Returns 0 when the capture has begun, or -1 to end the
 * connection. */
int attach_capture(struct control *c, struct client *cl, const char *text);
/* Frees a queue pair that no engine serves any more, and releases its share of the user's
 * limits. */
void attach_free(struct control *c, struct qp *qp);
/* Takes over the socket that another toed has created, and listens. Returns 0, or -1 with errno. */
int attach_inherit(struct control *c, int listen_fd);
/* Calls listen() on the existing socket, so that it has this process's credentials. */
int attach_listen(const struct control *c);
/* Unlinks the socket's file if it is still ours. */
void attach_unlink(struct control *c);
/* Unlinks stale sockets of killed processes: those whose paths match the glob(7) pattern, with the
 * process's pid as the first digits, and which have no listener. */
void attach_sweep(const char *pattern);

#endif
