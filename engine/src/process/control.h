/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the slow side of toed: the Unix socket where hosts attach and tools ask, the life of
 * their processes, signals. Everything here runs in the main thread.
 */
#ifndef ENGINE_CONTROL_H
#define ENGINE_CONTROL_H

#include <pthread.h>

#include "hosts/qp.h"
#include "kernel/link.h"
#include "options.h"

struct client {
    int fd, pidfd; /* pidfd -1: not available, the end of fd alone counts */
    int pid;
    uid_t uid;
    struct engine *engine;
    struct qp *qp;     /* NULL: has not said hello */
    uint64_t deadline; /* to say it */
};

struct kernel;

struct control {
    const struct options *options;
    struct engine **engines;
    uint32_t engine_count;
    struct polling *polling; /* their manager (polling.h); NULL: they interrupt themselves */
    struct netio_info info;
    struct link link;
    struct kernel *kernel; /* of a shared address (kernel.h); NULL: it is ours */
    uint64_t started;
    uint32_t mtu;      /* in use */
    uint32_t mtu_seen; /* the interface's when it was last looked at; 0: not yet */
    uint8_t mac[6];

    int listen_fd, lock_fd, signal_fd, wake_fd, regs_fd;
    struct client *clients;
    uint32_t client_count, client_room;
    struct pollfd *polled; /* what the main thread waits for; with room for as many */
    uint32_t next_qp;
    uint64_t memory;    /* bytes of all areas */
    struct user *users; /* who has queue pairs */
    uint64_t refused;   /* greetings of which nothing came */
    uint64_t hung_up;   /* connections ended for what they said or did not say in time */

    pthread_mutex_t lock; /* guards unused, which engines add to */
    struct qp *unused;

    uint64_t netio_seed; /* of the impairing wire */
    /* Asked to hand over to another toed: 1 when that has been done. NULL: it is refused. */
    int (*give)(struct control *c, struct client *cl);
    int given_away; /* another toed has it all (takeover_talk.h): nothing is to be undone */
};

/* Opens the socket at options->socket: it appears there only now. Returns 0, or an exit code with
 * a sentence in err. */
int control_open(struct control *c, char *err, size_t err_size);
/* Serves until SIGTERM, SIGINT or SIGHUP, until the interface is gone, or another toed has taken
 * over (c->given_away). Returns 0 or an exit code. */
int control_run(struct control *c);
/* Tells the hosts (their connections end) and takes the socket away. */
void control_close(struct control *c);
/* As if it had connected; its descriptors are taken over. -1: no memory. */
int control_add_client(struct control *c, const struct client *cl);
/* engine_config.qp_unused; arg is the control. Any engine's thread. */
void control_qp_unused(void *arg, struct qp *qp);

#endif
