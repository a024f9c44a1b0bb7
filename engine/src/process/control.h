/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - toed's slow path: the Unix socket for attaches and queries, the lifetime of host
 * processes, signals. Everything here runs in the main thread.
 */
#ifndef ENGINE_CONTROL_H
#define ENGINE_CONTROL_H

#include <pthread.h>

#include "address.h"
#include "hosts/qp.h"
#include "kernel/link.h"
#include "kernel/port_range.h"
#include "options.h"
#include "socket_file.h"

struct client {
    int fd, pidfd; /* pidfd -1: not available, only the end of fd is noticed */
    int pid;
    uid_t uid;
    struct engine *engine;
    struct qp *qp;     /* NULL: no hello received, or it captures */
    int captures;      /* the connection is the lifetime of c->capture */
    uint64_t deadline; /* ... by which it must arrive */
};

struct kernel;
struct capture_area;
struct reload;

struct control {
    const char *toe; /* for people: "toed", "inline" or "thread" */
    const struct options *options;
    struct engine **engines;
    uint32_t engine_count;
    struct polling *polling; /* the polling manager (polling.h); NULL: engines interrupt */
    struct netio_info info;
    struct link link;
    struct port_range ports[2]; /* engines use the one of ports_at; the other is for the next */
    unsigned ports_at;
    uint64_t ports_next;   /* when the settings are read again */
    struct kernel *kernel; /* with a shared address (kernel.h); NULL: not shared */
    uint64_t started;
    uint32_t mtu;      /* in use */
    uint32_t mtu_seen; /* the interface's when last checked; 0: not yet */
    uint8_t mac[6];

    struct address_claims addresses;
    int listen_fd, lock_fd, signal_fd, wake_fd, regs_fd;
    struct socket_file socket_file; /* of listen_fd */
    struct client *clients;
    uint32_t client_count, client_room;
    struct pollfd *polled; /* poll set of the main thread, with room for all clients */
    uint32_t next_qp;
    uint64_t memory;    /* total size of all areas, in bytes */
    struct user *users; /* the users that have queue pairs */
    uint64_t refused;   /* hellos that were refused */
    uint64_t hung_up;   /* connections closed for an invalid message or a timeout */
    uint64_t evicted;   /* silent connections closed for a newer one (silent.h) */

    pthread_mutex_t lock; /* guards unused, which engines add to */
    struct qp *unused;

    uint64_t netio_seed; /* seed of the impairing wire */
    /* Hands over to another toed on request; returns 1 when done. NULL: requests are refused. */
    int (*give)(struct control *c, struct client *cl);
    struct capture_area *capture; /* NULL: none */
    /* Reads the settings again; NULL: SIGHUP does nothing. */
    void (*reload)(struct control *c, const struct reload *r);
    const struct reload *reloaded; /* the argument */
    int given_away; /* another toed has taken over (takeover_talk.h): clean up nothing */
};

/* Returns whether no hello has been received that keeps the connection. */
static inline int client_is_silent(const struct client *cl)
{
    return !cl->qp && !cl->captures;
}

/* Opens the socket at options->socket, which does not exist before. Returns 0, or an exit code with
 * a message in err. */
int control_open(struct control *c, char *err, size_t err_size);
/* Serves until SIGTERM or SIGINT, until the interface is gone, or another toed has taken
 * over (c->given_away). Returns 0 or an exit code. */
int control_run(struct control *c);
/* Reads the signals that have arrived. Returns non-zero when one of them ends the process. */
int control_signalled(struct control *c);
/* Closes the hosts' connections and unlinks the socket. */
void control_close(struct control *c);
/* Adds a client of another toed; owns its descriptors. -1: no memory. */
int control_add_client(struct control *c, const struct client *cl);
/* engine_config.qp_unused; arg is the struct control. Any engine's thread. */
void control_qp_unused(void *arg, struct qp *qp);

#endif
