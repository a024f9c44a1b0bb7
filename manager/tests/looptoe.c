/* SPDX-License-Identifier: Apache-2.0 */
/* looptoe.c - the TOE for tests: its process, attached hosts, its loop (looptoe.h). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "looptoe.h"
#include "loopwire.h"

#define SPINS 200 /* empty rounds before it sleeps */

static void interrupt(struct qp *q)
{
    uint64_t one = 1;
    uint32_t seq;

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    seq = toe_ring_load(&q->db->irq_seq);
    if (!q->dirty || seq == q->irq_seen)
        return;
    q->irq_seen = seq;
    q->dirty = false;
    (void)!write(q->irq, &one, sizeof(one));
}

/* ---- attaching ---- */

static void tell_ip6(struct qp *q)
{
    struct toedev_ip6 *p = &q->st->ip6;

    if (!getenv("LOOPTOE_IP6"))
        return;
    p->flags = TOEDEV_IP6_ON;
    p->count = 2;
    p->scope = 1; /* lo of its namespace */
    memcpy(p->addr, loop_own6, sizeof(loop_own6));
    p->prefix_len[0] = p->prefix_len[1] = 64;
}

static void refuse(int fd, unsigned reason, const char *why)
{
    struct toedev_welcome w = {
        .magic = TOEDEV_MAGIC, .version = TOEDEV_CONTRACT_VERSION, .reason = reason};

    snprintf(w.message, sizeof(w.message), "%s", why);
    (void)!send(fd, &w, sizeof(w), MSG_NOSIGNAL);
    close(fd);
}

static void answer_query(int fd)
{
    struct looptoe_usage u = {0};
    char text[128];

    for (unsigned i = 0; i < QPS; i++) {
        if (!loop_qps[i])
            continue;
        u.queue_pairs++;
        u.listeners += loop_qps[i]->listeners_n;
        for (uint32_t s = 0; s < loop_qps[i]->cfg.slots; s++)
            u.slots_used += loop_qps[i]->flows[s].used;
    }
    snprintf(text, sizeof(text), "%u %u %u %u %u", u.slots_used, u.listeners, u.queue_pairs,
             loop_options, loop_ports_left);
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
    close(fd);
}

static void welcome(struct qp *q)
{
    struct toedev_welcome w = {.magic = TOEDEV_MAGIC,
                               .version = TOEDEV_CONTRACT_VERSION,
                               .qp_id = 1,
                               .engines = loop_engines,
                               .mtu = 1500,
                               .ip = {10, 99, 0, 2},
                               .prefix_len = 24};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    struct iovec v = {&w, sizeof(w)};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fds[2] = {memfd_create("page0", MFD_CLOEXEC), q->bell};

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(fds));
    memcpy(CMSG_DATA(c), fds, sizeof(fds));
    (void)!sendmsg(q->ctl, &m, MSG_NOSIGNAL);
    close(fds[0]);
}

static void attach(int fd)
{
    struct toedev_hello h;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec v = {&h, sizeof(h)};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *rights;
    int fds[2];
    unsigned i = 0;
    struct qp *q;

    if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) != sizeof(h)) {
        close(fd);
        return;
    }
    if (h.kind == TOEDEV_HELLO_QUERY) {
        answer_query(fd);
        return;
    }
    while (i < QPS && loop_qps[i])
        i++;
    if (i == QPS) {
        refuse(fd, TOE_R_NOBUFS, "no queue pair left");
        return;
    }
    rights = CMSG_FIRSTHDR(&m);
    if (!rights) {
        refuse(fd, TOE_R_INVAL, "no descriptors came with the greeting");
        return;
    }
    memcpy(fds, CMSG_DATA(rights), sizeof(fds));
    q = calloc(1, sizeof(*q));
    q->ctl = fd;
    q->irq = fds[1];
    q->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    q->cfg = h.qp;
    q->engine = h.engine;
    if (toedev_layout(&q->cfg, &q->l) < 0) {
        refuse(fd, TOE_R_INVAL, "bad sizes");
        free(q);
        return;
    }
    q->area = mmap(NULL, q->l.total, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
    close(fds[0]);
    q->db = (void *)(q->area + q->l.doorbells);
    q->st = (void *)(q->area + q->l.status);
    toe_ring_tx_init(&q->hw, q->area + q->l.hw_ring, q->cfg.hw_entries, &q->db->hw_tail);
    toe_ring_rx_init(&q->sw, q->area + q->l.sw_ring, q->cfg.sw_entries);
    q->flows = calloc(q->cfg.slots, sizeof(*q->flows));
    loop_qps[i] = q;
    tell_ip6(q);
    welcome(q);
}

static void detach(unsigned i)
{
    struct qp *q = loop_qps[i];

    loop_qps[i] = NULL;
    loop_forget(q);
    munmap(q->area, q->l.total);
    close(q->ctl);
    close(q->irq);
    close(q->bell);
    free(q->flows);
    free(q);
}

/* ---- the loop ---- */

static unsigned serve(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < QPS; i++) {
        struct toe_cmd c;

        while (loop_qps[i] && toe_ring_get(&loop_qps[i]->sw, &c)) {
            loop_handle(loop_qps[i], &c);
            toe_ring_store(&loop_qps[i]->st->sw_tail, loop_qps[i]->sw.tail);
            n++;
        }
    }
    for (unsigned i = 0; i < QPS; i++)
        if (loop_qps[i])
            interrupt(loop_qps[i]);
    return n;
}

static void set_sleeping(uint32_t on)
{
    for (unsigned i = 0; i < QPS; i++)
        if (loop_qps[i])
            toe_ring_store(&loop_qps[i]->st->sleeping, on);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void doze(int listen_fd, int timeout)
{
    struct pollfd p[1 + 2 * QPS] = {{.fd = listen_fd, .events = POLLIN}};
    uint64_t count;

    for (unsigned i = 0; i < QPS; i++) {
        p[1 + 2 * i] = (struct pollfd){.fd = loop_qps[i] ? loop_qps[i]->ctl : -1, .events = POLLIN};
        p[2 + 2 * i] =
            (struct pollfd){.fd = loop_qps[i] ? loop_qps[i]->bell : -1, .events = POLLIN};
    }
    if (poll(p, 1 + 2 * QPS, timeout) <= 0)
        return;
    for (unsigned i = 0; i < QPS; i++) {
        if (p[2 + 2 * i].revents)
            (void)!read(loop_qps[i]->bell, &count, sizeof(count));
        if (p[1 + 2 * i].revents) {
            serve(); /* commands of a process before it died */
            detach(i);
        }
    }
    if (p[0].revents) {
        int fd = accept(listen_fd, NULL, NULL);

        if (fd >= 0)
            attach(fd);
    }
}

static void run(int listen_fd)
{
    unsigned idle = 0;

    for (;;) {
        if (serve()) {
            idle = 0;
            continue;
        }
        if (++idle < SPINS) {
            if (idle % 32 == 0)
                doze(listen_fd, 0);
            continue;
        }
        set_sleeping(1);
        if (!serve())
            doze(listen_fd, -1);
        set_sleeping(0);
        idle = 0;
    }
}

pid_t looptoe_start(const char *path, unsigned engines)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    pid_t pid;

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 16) < 0) {
        perror("looptoe");
        exit(1);
    }
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        loop_engines = engines;
        run(fd);
    }
    close(fd);
    return pid;
}

void looptoe_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void looptoe_freeze(pid_t pid, int frozen)
{
    int status;

    kill(pid, frozen ? SIGSTOP : SIGCONT);
    if (frozen)
        waitpid(pid, &status, WUNTRACED);
}

int looptoe_usage(const char *path, struct looptoe_usage *out)
{
    struct toedev_hello h = {
        .magic = TOEDEV_MAGIC, .version = TOEDEV_CONTRACT_VERSION, .kind = TOEDEV_HELLO_QUERY};
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char text[128] = "";
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), r = -1;

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
        send(fd, &h, sizeof(h), MSG_NOSIGNAL) == sizeof(h) &&
        recv(fd, text, sizeof(text) - 1, 0) > 0 &&
        sscanf(text, "%u %u %u %u %u", &out->slots_used, &out->listeners, &out->queue_pairs,
               &out->options, &out->ports_left) == 5)
        r = 0;
    close(fd);
    return r;
}
