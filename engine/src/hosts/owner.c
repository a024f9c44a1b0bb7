/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - see owner.h. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listen.h"
#include "owner.h"

/* Reads a process's parent and start time (proc_pid_stat(5)). Returns 0, or -1 when there is no
 * such process. */
static int look_up(int pid, int *parent, uint64_t *born)
{
    char path[32], text[512];
    const char *at;
    unsigned long long start;
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    f = fopen(path, "re");
    if (!f)
        return -1;
    n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = 0;
    at = strrchr(text, ')'); /* the name before it may contain any character */
    if (!at || sscanf(at + 1,
                      " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                      "%*d %*d %llu",
                      parent, &start) != 2)
        return -1;
    *born = start;
    return 0;
}

static int has_ended(int pidfd)
{
    struct pollfd p = {pidfd, POLLIN, 0};

    return pidfd >= 0 && poll(&p, 1, 0) != 0;
}

static void read_kin(struct owner *o, int pid)
{
    int parent = 0, next;
    unsigned i;

    if (pid <= 0 || look_up(pid, &parent, &o->self.born) != 0)
        return;
    for (i = 0; i < OWNER_KIN && parent > 1; i++, parent = next) {
        o->parent[i].pid = parent;
        if (look_up(parent, &next, &o->parent[i].born) != 0)
            return;
    }
}

void owner_read(struct owner *o, int pid, int pidfd)
{
    const struct owner none = {.self = {.pid = pid}};

    *o = none;
    read_kin(o, pid);
    if (has_ended(pidfd))
        *o = none;
}

int owner_is_child_of(const struct owner *o, const struct process_id *p)
{
    unsigned i;

    for (i = 0; p->born && i < OWNER_KIN; i++)
        if (o->parent[i].pid == p->pid && o->parent[i].born == p->born)
            return 1;
    return 0;
}

struct entry {
    const struct qp *qp; /* only compared, never dereferenced */
    uid_t uid;
    struct process_id self;
    uint16_t port;
    struct entry *next;
};

struct owners {
    pthread_mutex_t lock;
    struct entry *first;
};

struct owners *owners_new(void)
{
    struct owners *o = calloc(1, sizeof(*o));

    if (o)
        pthread_mutex_init(&o->lock, NULL);
    return o;
}

static int is_free_for(const struct owners *o, const struct qp *qp, uint16_t port)
{
    const struct entry *at;

    for (at = o->first; at && qp->uid != 0; at = at->next)
        if (at->port == port && at->uid != qp->uid && !owner_is_child_of(&qp->owner, &at->self))
            return 0;
    return 1;
}

int owners_add(const struct qp *qp, uint16_t port, int ask)
{
    struct owners *o = qp->engine->cfg.owners;
    struct entry *e;
    int rc = 0;

    if (!o)
        return 0;
    e = malloc(sizeof(*e));
    if (!e)
        return TOE_R_NOBUFS;
    *e = (struct entry){.qp = qp, .uid = qp->uid, .self = qp->owner.self, .port = port};
    pthread_mutex_lock(&o->lock);
    if (ask && !is_free_for(o, qp, port)) {
        rc = TOE_R_ADDRINUSE;
    } else {
        e->next = o->first;
        o->first = e;
        e = NULL;
    }
    pthread_mutex_unlock(&o->lock);
    free(e);
    return rc;
}

void owners_del(const struct qp *qp, uint16_t port)
{
    struct owners *o = qp->engine->cfg.owners;
    struct entry **at, *e;

    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    for (at = &o->first; (e = *at) && (e->qp != qp || e->port != port); at = &e->next)
        ;
    if (e)
        *at = e->next;
    pthread_mutex_unlock(&o->lock);
    free(e);
}

static int others_let(const struct qp *qp, uint16_t port)
{
    struct owners *o = qp->engine->cfg.owners;
    int may;

    if (!o)
        return 1;
    pthread_mutex_lock(&o->lock);
    may = is_free_for(o, qp, port);
    pthread_mutex_unlock(&o->lock);
    return may;
}

int owner_may_use(const struct qp *qp, uint16_t port)
{
    const struct listen_group *g;
    uint32_t i;

    if (qp->uid == 0)
        return 1;
    if (!others_let(qp, port))
        return 0;
    for (g = qp->engine->groups; g; g = g->next)
        for (i = 0; g->port == port && i < g->count; i++) {
            const struct qp *has = g->members[i]->qp;

            if (has->uid != qp->uid && !owner_is_child_of(&qp->owner, &has->owner.self))
                return 0;
        }
    return 1;
}
