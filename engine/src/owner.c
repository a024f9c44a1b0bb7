/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - see owner.h. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "listen.h"
#include "owner.h"

/* Its parent, and when it began (proc_pid_stat(5)). 0, or -1 when there is none. */
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
    at = strrchr(text, ')'); /* the name before it may hold anything */
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

static int is_child_of(const struct owner *o, const struct process_id *p)
{
    unsigned i;

    for (i = 0; p->born && i < OWNER_KIN; i++)
        if (o->parent[i].pid == p->pid && o->parent[i].born == p->born)
            return 1;
    return 0;
}

int owner_may_use(const struct qp *qp, uint16_t port)
{
    const struct listen_group *g;
    uint32_t i;

    if (qp->uid == 0)
        return 1;
    for (g = qp->engine->groups; g; g = g->next)
        for (i = 0; g->port == port && i < g->count; i++) {
            const struct qp *has = g->members[i]->qp;

            if (has->uid != qp->uid && !is_child_of(&qp->owner, &has->owner.self))
                return 0;
        }
    return 1;
}
