/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h - the conversation of toe/attach.h, seen from the TOE: socket, hello, welcome. */
#ifndef ENGINE_ATTACH_H
#define ENGINE_ATTACH_H

#include "control.h"

#define HELLO_FDS 2

struct hello_message {
    struct toedev_hello hello;
    uint32_t kind; /* 0: not a hello of this contract; wrong says why */
    const char *wrong;
    int fds[HELLO_FDS]; /* -1: none */
    int fd_count;
};

/* Takes one message. Returns 1, 0 at the end of the connection, -1 when there is none. */
int attach_receive(int fd, struct hello_message *m);
/* Closes the descriptors that came with it. */
void attach_discard(struct hello_message *m);
/* Answers a hello that is no query: attaches, or refuses with a reason. The message's descriptors
 * are taken over. Returns 0, or -1 to end the connection. */
int attach_client(struct control *c, struct client *cl, struct hello_message *m);
/* A queue pair that came from another toed: its user pays. -1: no memory. */
int attach_account(struct control *c, struct qp *qp);
/* Answers TOEDEV_HELLO_TAKE_OVER: why not, or NULL. 0, or -1 to end the connection. */
int attach_answer_take_over(struct control *c, const struct client *cl, const char *why);
/* TOEDEV_HELLO_MOVED. Returns 0, or -1 to end the connection. */
int attach_moved(struct client *cl, struct hello_message *m);
/* Answers TOEDEV_HELLO_REGISTERS. */
void attach_registers(struct control *c, const struct client *cl);
/* Frees a queue pair that nobody serves any more, and gives back what its user had in it. */
void attach_free(struct control *c, struct qp *qp);
/* Our name stands on the socket that another toed has made. 0, or -1 and errno. */
int attach_inherit(struct control *c, int listen_fd);
/* ... on the one that there is. */
int attach_listen(const struct control *c);
/* Takes the socket's file away, if it is still ours. */
void attach_unlink(struct control *c);
/* Takes away what processes that were killed have left: sockets whose paths match the pattern of
 * glob(7), with the process's number as the first digits, and where nobody listens. */
void attach_sweep(const char *pattern);

#endif
