/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile.c - attaches to a toed as libtoe does, then breaks every rule of the device contract, at
 * random from a seed; tests/system/test_hostile.py runs it beside well-behaved ones.
 *
 *   hostile SOCKET SEED LIVES PEER_IP PORT PEER_PORT MARK
 *
 * PEER_IP, PEER_PORT: a server; PORT: the listener of a well-behaved program here.
 * Each life is a process, killed by its parent at a random moment unless it exits first. All the
 * time, and before it exits, a life searches for MARK in everything that it can read: well-behaved
 * programs send and receive data full of it. One line of JSON reports the outcome of all lives.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <toe/attach.h>
#include <toe/ring.h>

#include "argument.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* The actions and findings of lives, in memory shared with their parent. */
struct tally {
    uint32_t attached, refused, halted, acts, leaks, resized, written;
};

struct host {
    int ctl, area_fd, irq, doorbell, regs;
    struct toedev_qp_config cfg;
    struct toedev_layout layout;
    uint8_t *area;
    struct toedev_doorbells *db;
    struct toedev_status *status;
    struct toe_ring_tx sw;
    struct toe_ring_rx hw;
};

static struct tally *tally;
static const char *path, *mark;
static uint32_t peer_ip;
static uint16_t honest_port, peer_port;
static uint64_t state;

static uint32_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static uint32_t below(uint32_t n)
{
    return any() % n;
}

static void count(uint32_t *what)
{
    __atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

static void rubbish(void *to, size_t n)
{
    uint8_t *p = to;

    while (n--)
        *p++ = (uint8_t)any();
}

/* ---- attaching ---- */

static int reach(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = 5};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void say(int to, const void *what, size_t n, const int *fds, unsigned fd_count)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(32 * sizeof(int))];
    } control = {0};
    struct iovec v = {(void *)what, n};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

    if (fd_count) {
        struct cmsghdr *c;

        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, fd_count * sizeof(int));
    }
    (void)!sendmsg(to, &m, MSG_NOSIGNAL);
}

/* The answer: 1 with the descriptors when we are in. */
static int hear(int from, struct toedev_welcome *w, int fds[2])
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec v = {w, sizeof(*w)};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

    if (n != (ssize_t)sizeof(*w) || w->reason || !c || c->cmsg_len != CMSG_LEN(2 * sizeof(int)))
        return 0;
    memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
    return 1;
}

static struct toedev_hello hello(const struct toedev_qp_config *cfg)
{
    return (struct toedev_hello){.magic = TOEDEV_MAGIC,
                                 .version = TOEDEV_CONTRACT_VERSION,
                                 .kind = TOEDEV_HELLO_ATTACH,
                                 .qp = *cfg,
                                 .name = "hostile"};
}

static int make_area(uint64_t size, unsigned flags, int seals)
{
    int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

    if (fd >= 0 && (ftruncate(fd, (off_t)size) != 0 || fcntl(fd, F_ADD_SEALS, seals) != 0)) {
        close(fd);
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    }
    return fd;
}

static int attach(struct host *h)
{
    struct toedev_welcome w;
    struct toedev_hello m;
    int fds[2];

    memset(h, 0, sizeof(*h));
    h->cfg = (struct toedev_qp_config){.sw_entries = 64u << below(3),
                                       .hw_entries = 64u << below(3),
                                       .slots = 1u << below(6),
                                       .tx_size = 4096u << below(3),
                                       .rx_size = 4096u << below(3),
                                       .addresses = below(2) * 4};
    toedev_layout(&h->cfg, &h->layout);
    assert(h->layout.total);
    h->ctl = reach();
    h->area_fd = make_area(h->layout.total, 0, SEALS);
    h->irq = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    h->area = mmap(NULL, h->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, h->area_fd, 0);
    if (h->ctl < 0 || h->area == MAP_FAILED)
        return -1;
    m = hello(&h->cfg);
    say(h->ctl, &m, sizeof(m), (int[]){h->area_fd, h->irq}, 2);
    if (!hear(h->ctl, &w, fds)) {
        count(&tally->refused);
        return -1;
    }
    h->regs = fds[0];
    h->doorbell = fds[1];
    h->db = (void *)(h->area + h->layout.doorbells);
    h->status = (void *)(h->area + h->layout.status);
    toe_ring_tx_init(&h->sw, h->area + h->layout.sw_ring, h->cfg.sw_entries, &h->status->sw_tail);
    toe_ring_rx_init(&h->hw, h->area + h->layout.hw_ring, h->cfg.hw_entries);
    count(&tally->attached);
    return 0;
}

/* ---- greetings that are none ---- */

/* An invalid descriptor. */
static int wrong_fd(uint64_t size)
{
    int ends[2];

    switch (below(8)) {
    case 0:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 1:
        return pipe2(ends, O_CLOEXEC) == 0 ? ends[below(2)] : -1;
    case 2:
        return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    case 3:
        return make_area(size, 0, F_SEAL_SHRINK);
    case 4:
        return make_area(size, 0, SEALS | F_SEAL_WRITE);
    case 5:
        return make_area(size + 4096, 0, SEALS);
    case 6:
        return make_area(size, MFD_HUGETLB, SEALS);
    default:
        return eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC); /* blocks */
    }
}

static void wrong_greeting(void)
{
    struct toedev_qp_config cfg = {64, 64, 4, 4096, 4096, 0};
    struct toedev_hello m;
    struct toedev_layout l;
    struct toedev_welcome w;
    uint8_t bytes[300];
    int to = reach(), fds[32], got[2];
    unsigned n = below(4) ? 2 : below(20), i;

    if (to < 0)
        return;
    toedev_layout(&cfg, &l);
    if (below(3) == 0)
        rubbish(&cfg, sizeof(cfg));
    m = hello(&cfg);
    if (below(3) == 0)
        rubbish((uint8_t *)&m + below(sizeof(m) - 4), 4);
    m.magic = below(8) ? TOEDEV_MAGIC : any();
    for (i = 0; i < n; i++)
        fds[i] = i == 0 && below(2) ? make_area(l.total, 0, SEALS) : wrong_fd(l.total);
    rubbish(bytes, sizeof(bytes));
    if (below(4))
        say(to, &m, below(6) ? sizeof(m) : below(sizeof(m)), fds, n);
    else
        say(to, bytes, below(sizeof(bytes)), fds, n);
    if (below(4) && !hear(to, &w, got))
        count(&tally->refused);
    for (i = 0; i < n; i++)
        close(fds[i]);
    close(to);
}

/* ---- commands ---- */

static uint32_t number(const struct host *h)
{
    const uint32_t likely[] = {0,          1,           2,         h->cfg.slots - 1, h->cfg.slots,
                               peer_ip,    peer_port,   1000,      h->cfg.tx_size,   h->cfg.rx_size,
                               0x7fffffff, honest_port, UINT32_MAX};

    return below(3) ? likely[below(sizeof(likely) / sizeof(likely[0]))] : any() >> below(32);
}

/* Whether there is room or not. */
static void put(struct host *h, struct toe_cmd c)
{
    toe_ring_put(&h->sw, &c);
    if (below(8))
        toe_ring_store(&h->db->sw_head, h->sw.head);
}

static void command(struct host *h)
{
    if (h->sw.head - toe_ring_load(&h->status->sw_tail) >= h->cfg.sw_entries && below(50))
        return; /* seldom, or each life would end here */
    switch (below(5)) {
    case 0: /* a valid one, so that there are flows to misuse */
        put(h, toe_cmd_make(TOE_CMD_CONNECT, 0, peer_port, any(), peer_ip, 0));
        break;
    case 1:
        put(h, toe_cmd_make(TOE_CMD_LISTEN, 0, below(2) ? honest_port : 4000 + below(50), any(), 0,
                            below(20)));
        break;
    case 2:
        put(h, toe_cmd_make(TOE_CMD_SEND, TOE_F_SEND_PUSH, 0, below(h->cfg.slots), below(3000), 0));
        break;
    case 3:
        put(h, toe_cmd_make((uint8_t)(1 + below(10)), (uint8_t)below(8), (uint16_t)number(h),
                            number(h), number(h), number(h)));
        break;
    default:
        put(h, toe_cmd_make((uint8_t)any(), (uint8_t)any(), (uint16_t)any(), any(), any(), any()));
    }
}

static void take_events(struct host *h)
{
    struct toe_cmd c;
    unsigned n = below(64);

    while (n-- && toe_ring_get(&h->hw, &c)) {
        if (toe_cmd_type(&c) == TOE_CMD_CLOSE_EVENT && below(2))
            put(h, toe_cmd_make(TOE_CMD_RELEASE, 0, 0, toe_cmd_flow(&c), 0, 0));
        if (toe_cmd_type(&c) == TOE_CMD_DATA_RECEIVED && below(2))
            put(h, toe_cmd_make(TOE_CMD_RECV, 0, 0, toe_cmd_flow(&c), toe_cmd_arg0(&c), 0));
    }
    toe_ring_store(&h->db->hw_tail, h->hw.tail);
}

/* Rings the bell when that does not wait for ever. */
static void ring_once(const struct host *h)
{
    uint64_t one = 1;

    if (fcntl(h->doorbell, F_GETFL) & O_NONBLOCK)
        (void)!write(h->doorbell, &one, sizeof(one));
}

/* Returns the slot of a requested connection, or -1. */
static int opened(struct host *h)
{
    struct toe_cmd c;
    unsigned i;

    for (i = 0; i < 500; i++, usleep(100))
        while (toe_ring_get(&h->hw, &c)) {
            toe_ring_store(&h->db->hw_tail, h->hw.tail);
            if (toe_cmd_type(&c) == TOE_CMD_CONNECT_ESTABLISHED)
                return (int)toe_cmd_flow(&c);
        }
    return -1;
}

/* One of each kind of rejection, on a valid connection. */
static void misuse(struct host *h)
{
    const struct toe_cmd first[] = {toe_cmd_make(TOE_CMD_CONNECT, 0, peer_port, 1, peer_ip, 0),
                                    toe_cmd_make(TOE_CMD_LISTEN, 0, honest_port, 1, 0, 4)};
    uint32_t f;
    int flow;

    toe_ring_put(&h->sw, &first[0]);
    toe_ring_put(&h->sw, &first[1]);
    toe_ring_store(&h->db->sw_head, h->sw.head);
    ring_once(h);
    flow = opened(h);
    f = (uint32_t)flow;
    if (flow >= 0) {
        const struct toe_cmd wrong[] = {toe_cmd_make(TOE_CMD_ACCEPT, 0, 0, f, 0, 0),
                                        toe_cmd_make(TOE_CMD_RECV, 0, 0, f, 1 << 30, 0),
                                        toe_cmd_make(TOE_CMD_SEND, 0, 0, f, 0, 0),
                                        toe_cmd_make(TOE_CMD_SEND, 0, 0, f, h->cfg.tx_size + 1, 0),
                                        toe_cmd_make(TOE_CMD_RELEASE, 0, 0, f, 0, 0),
                                        toe_cmd_make(TOE_CMD_CLOSE, 0, 0, h->cfg.slots, 0, 0),
                                        toe_cmd_make(99, 0, 0, f, 0, 0),
                                        toe_cmd_make(TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, f, 0, 0),
                                        toe_cmd_make(TOE_CMD_SEND, 0, 0, f, 1, 0)};
        unsigned i;

        for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
            toe_ring_put(&h->sw, &wrong[i]);
        toe_ring_store(&h->db->sw_head, h->sw.head);
        ring_once(h);
    }
}

/* ---- memory ---- */

static void scribble(struct host *h)
{
    uint64_t at = any() % h->layout.total;
    size_t n = 1 + below(64);

    if (at + n > h->layout.total)
        n = (size_t)(h->layout.total - at);
    rubbish(h->area + at, n);
}

static void doorbells(struct host *h)
{
    uint32_t *const words[] = {&h->db->sw_head, &h->db->hw_tail,   &h->db->irq_arm,
                               &h->db->irq_seq, &h->db->irq_count, &h->db->irq_usec};
    unsigned which = below(12);

    if (which < 2 && below(20))
        return; /* mostly the end of a queue pair */
    toe_ring_store(words[which < 6 ? which : 2 + which % 4], below(2) ? any() : below(100));
}

static void ring(struct host *h)
{
    uint64_t most = UINT64_MAX - 1;

    switch (below(4)) {
    case 0: /* a write that would wait */
        (void)!write(below(2) ? h->irq : h->doorbell, &most, sizeof(most));
        break;
    case 1:
        fcntl(below(2) ? h->irq : h->doorbell, F_SETFL, below(2) ? O_NONBLOCK : 0);
        break;
    default:
        ring_once(h);
    }
}

/* None of it may work. */
static void resize(struct host *h)
{
    uint8_t byte = 0;
    void *p;

    if (ftruncate(h->area_fd, (off_t)(below(2) ? 0 : h->layout.total * 2)) == 0 ||
        fcntl(h->area_fd, F_ADD_SEALS, F_SEAL_WRITE) == 0)
        count(&tally->resized);
    p = mmap(NULL, TOEDEV_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, h->regs, 0);
    if (p != MAP_FAILED || pwrite(h->regs, &byte, 1, 0) == 1)
        count(&tally->written);
    (void)!fallocate(h->area_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     (off_t)(any() % h->layout.total & ~4095ull), 8192);
}

/* Changes entries of the ring while the TOE may be reading them. */
static void *meddle(void *arg)
{
    struct host *h = arg;
    uint32_t n = any() | 1;

    for (;;) {
        uint64_t *w = (uint64_t *)(void *)(h->area + h->layout.sw_ring);

        n = n * 1664525u + 1013904223u;
        w += n % (h->cfg.sw_entries * 2);
        /* mostly not the phase: the type, the flow, the lengths */
        __atomic_xor_fetch(w, (uint64_t)1 << (n >> 8 & 63) & ~(n >> 30 ? TOE_CMD_PHASE : 0),
                           __ATOMIC_RELAXED);
        if (n >> 28 == 0)
            usleep(50);
    }
    return NULL;
}

static void look(const struct host *h)
{
    if (memmem(h->area, h->layout.total, mark, strlen(mark)))
        count(&tally->leaks);
}

static void act(struct host *h)
{
    struct toedev_hello m;

    count(&tally->acts);
    switch (below(32)) {
    case 0:
        scribble(h);
        break;
    case 1:
    case 2:
        doorbells(h);
        break;
    case 3:
        ring(h);
        break;
    case 4:
        resize(h);
        break;
    case 5:
        look(h);
        break;
    case 6:
        if (below(10) == 0) { /* the end of it */
            m = hello(&h->cfg);
            say(h->ctl, &m, sizeof(m), (int[]){h->area_fd, h->irq}, 2);
        }
        break;
    case 7:
    case 8:
    case 9:
        take_events(h);
        break;
    case 10:
        usleep(below(500));
        break;
    default:
        command(h);
    }
}

static void life(void)
{
    struct host h;
    pthread_t meddler;
    unsigned n = 200 + below(3000);

    alarm(10);
    while (below(3))
        wrong_greeting();
    if (attach(&h) != 0)
        _exit(1);
    if (below(2))
        pthread_create(&meddler, NULL, meddle, &h);
    if (below(3) == 0)
        misuse(&h);
    if (below(8) == 0 && fork() == 0) { /* a child keeps all descriptors */
        alarm(2);
        usleep(100000);
    }
    while (n-- && !toe_ring_load(&h.status->halted))
        act(&h);
    if (toe_ring_load(&h.status->halted))
        count(&tally->halted);
    look(&h);
    _exit(0);
}

int main(int argc, char **argv)
{
    unsigned lives, n;

    if (argc != 8) {
        fprintf(stderr, "usage: hostile SOCKET SEED LIVES PEER_IP PORT PEER_PORT MARK\n");
        return 2;
    }
    path = argv[1];
    state = argument("SEED", argv[2], 0, UINT64_MAX) * 0x9e3779b97f4a7c15u + 1;
    lives = (unsigned)argument("LIVES", argv[3], 1, UINT32_MAX);
    peer_ip = ntohl(inet_addr(argv[4]));
    honest_port = port_argument(argv[5]);
    peer_port = port_argument(argv[6]);
    mark = argv[7];
    printf("seed %s\n", argv[2]);
    fflush(stdout);
    tally = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGPIPE, SIG_IGN);
    for (n = 0; n < lives; n++) {
        pid_t child;

        (void)any();
        child = fork();
        if (child == 0)
            life();
        if (child < 0)
            return 1;
        usleep(1000 + below(150000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    printf("{\"attached\": %u, \"refused\": %u, \"halted\": %u, \"acts\": %u, \"leaks\": %u, "
           "\"resized\": %u, \"written\": %u}\n",
           tally->attached, tally->refused, tally->halted, tally->acts, tally->leaks,
           tally->resized, tally->written);
    return 0;
}
