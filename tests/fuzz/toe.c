/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe.c - fuzz target: libtoe over a TOE that is broken or hostile. This file replaces attach.c: a
 * queue pair is memory of this process. The input determines what the TOE writes there while the
 * program makes its calls, none of which blocks.
 *
 * Input: a list of acts, of the program or of the TOE. Checks: calls return only permitted results,
 * nothing beyond the area is touched, everything is freed at the end.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <toe/toe.h>

#include "attach.h"
#include "internal.h"
#include "qp.h"

#include "fuzz.h"

#define MOST_ACTS 300
#define FDS       10u
#define COOKIES   8u
#define SLOTS     8u
#define SIZE      4096u
#define ENTRIES   128u

static struct tqp *the_qp; /* while libtoe has one */
static int far_end = -1;   /* the TOE's end of the control connection */
static unsigned attached;  /* how often */
static struct {
    int fd[FDS];
    int epoll;
    uint32_t cookie[COOKIES];
    unsigned cookies;
    uint32_t seen; /* SW commands looked at */
    struct fuzz_in in;
} st;

/* ---- in place of attach.c ---- */

struct tqp *tqp_attach(const struct tconfig *cfg, uint32_t engine, struct twelcome *w, char *err,
                       size_t err_size)
{
    struct tqp *qp = calloc(1, sizeof(*qp));
    int pair[2];

    (void)cfg;
    if (!qp || attached++ >= 4 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        free(qp);
        snprintf(err, err_size, "no more");
        return NULL;
    }
    qp->engine = engine;
    qp->cfg = (struct toedev_qp_config){.sw_entries = ENTRIES,
                                        .hw_entries = ENTRIES,
                                        .slots = SLOTS,
                                        .tx_size = SIZE,
                                        .rx_size = SIZE,
                                        .addresses = 2 * ENTRIES};
    FUZZ_CHECK(toedev_layout(&qp->cfg, &qp->layout) == 0);
    qp->area = aligned_alloc(TOEDEV_PAGE, qp->layout.total);
    qp->slots = calloc(SLOTS, sizeof(struct tsock *));
    qp->releases = calloc((size_t)TQP_LATER * SLOTS, sizeof(*qp->releases));
    FUZZ_CHECK(qp->area && qp->slots && qp->releases);
    memset(qp->area, 0, qp->layout.total);
    qp->db = (void *)(qp->area + qp->layout.doorbells);
    qp->status = (void *)(qp->area + qp->layout.status);
    toe_ring_tx_init(&qp->sw, qp->area + qp->layout.sw_ring, ENTRIES, &qp->status->sw_tail);
    toe_ring_rx_init(&qp->hw, qp->area + qp->layout.hw_ring, ENTRIES);
    far_end = pair[1];
    qp->ctl_fd = tfd_internal(pair[0]);
    qp->doorbell_fd = tfd_internal(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    qp->irq_fd = tfd_internal(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    qp->mem_fd = -1;
    w->engines = 1;
    w->ip = htonl(0x0a630002);
    w->mask = htonl(0xffffff00);
    w->gw = 0;
    the_qp = qp;
    st.seen = 0;
    return qp;
}

void tqp_moved(const struct tqp *qp, int pidfd)
{
    (void)qp;
    (void)pidfd;
}

void tqp_detach(struct tqp *qp)
{
    FUZZ_CHECK(qp == the_qp);
    the_qp = NULL;
    close(far_end);
    far_end = -1;
    free(qp->area);
    qp->area = NULL;
    tqp_forget(qp);
}

void tqp_forget(struct tqp *qp)
{
    tfd_internal_close(qp->doorbell_fd);
    tfd_internal_close(qp->irq_fd);
    tfd_internal_close(qp->ctl_fd);
    free(qp->slots);
    free(qp->releases);
    free(qp);
}

bool tqp_gone(const struct tqp *qp)
{
    struct pollfd p = {.fd = qp->ctl_fd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

/* Its messages for people would be most of the time of a run (meson.build: --wrap). */
void __wrap_tlog(const char *fmt, ...);
void __wrap_tlog_info(const char *fmt, ...);
void __wrap_tlog_once(const char *fmt, ...);
void __wrap_tlog(const char *fmt, ...)
{
    (void)fmt;
}
void __wrap_tlog_info(const char *fmt, ...)
{
    (void)fmt;
}
void __wrap_tlog_once(const char *fmt, ...)
{
    (void)fmt;
}

/* ---- the TOE ---- */

static struct toedev_status *status(void)
{
    return (void *)(the_qp->area + the_qp->layout.status);
}

/* Records the numbers that the program assigned to its listeners and connects. */
static void look(void)
{
    for (; st.seen != the_qp->sw.head; st.seen++) {
        struct toe_cmd *c = &the_qp->sw.entries[st.seen & (ENTRIES - 1)];

        if (toe_cmd_type(c) == TOE_CMD_CONNECT || toe_cmd_type(c) == TOE_CMD_LISTEN)
            st.cookie[st.cookies++ % COOKIES] = toe_cmd_flow(c);
    }
}

static void take_commands(void)
{
    look();
    toe_ring_store(&status()->sw_tail, the_qp->sw.head);
}

static uint32_t number(void)
{
    static const uint32_t likely[] = {0,    1,    2,     3,     SLOTS - 1,  SLOTS,     100,
                                      1460, 4095, 4096,  4097,  8192,       65535,     65536,
                                      104,  111,  40000, 50000, 0x7fffffff, 0xffffffff};
    unsigned how = fuzz_u8(&st.in);

    if (how < 96)
        return how % SLOTS;
    if (how < 160)
        return st.cookie[how % COOKIES];
    how -= 160;
    return how < sizeof(likely) / sizeof(likely[0]) ? likely[how] : fuzz_u32(&st.in);
}

static void emit(unsigned type)
{
    unsigned flags = fuzz_u8(&st.in);
    uint16_t aux = (uint16_t)number();
    uint32_t flow = number(), arg0 = number(), arg1 = number();
    struct toe_cmd c = toe_cmd_make((uint8_t)type, (uint8_t)(flags < 128 ? flags & 1 : flags), aux,
                                    flow, arg0, arg1);
    struct toe_cmd *e;
    uint64_t w0;
    static uint32_t head;

    /* The TOE's head: the host's read position plus the entries that it has not read yet. */
    head = the_qp->hw.tail;
    while (((toe_le64(the_qp->hw.entries[head & (ENTRIES - 1)].w[0]) & TOE_CMD_PHASE) ==
            toe_ring_phase(head, ENTRIES)) &&
           head - the_qp->hw.tail < ENTRIES - 1)
        head++;
    e = (struct toe_cmd *)(the_qp->area + the_qp->layout.hw_ring) + (head & (ENTRIES - 1));
    w0 = (toe_le64(c.w[0]) & ~TOE_CMD_PHASE) | toe_ring_phase(head, ENTRIES);
    e->w[1] = c.w[1];
    e->w[0] = toe_le64(w0);
}

static void scribble(void)
{
    uint64_t at = fuzz_u32(&st.in) % the_qp->layout.total;
    size_t n, i;
    const uint8_t *p = fuzz_bytes(&st.in, 1 + (fuzz_u8(&st.in) & 31), &n);

    for (i = 0; i < n; i++)
        the_qp->area[(at + i) % the_qp->layout.total] = p[i];
}

/* The TOE's IPv6 state: addresses in fd00::/8, and any count of them. */
static void tell_ip6(void)
{
    struct toedev_ip6 *p = &status()->ip6;
    unsigned i, what = fuzz_u8(&st.in);

    p->flags = what & 1 ? TOEDEV_IP6_ON : what >> 1;
    p->count = what & 64 ? fuzz_u32(&st.in) : what >> 2 & 15;
    p->scope = fuzz_u8(&st.in);
    for (i = 0; i < TOEDEV_IP6_ADDRS; i++) {
        memset(p->addr[i], 0, 16);
        p->addr[i][0] = what & 128 && i == 1 ? 0xfe : 0xfd;
        p->addr[i][1] = what & 128 && i == 1 ? 0x80 : 0;
        p->addr[i][15] = (uint8_t)(i + 2);
        p->prefix_len[i] = (uint8_t)(i ? fuzz_u8(&st.in) : 64);
    }
}

static void toe_act(unsigned what)
{
    static const uint8_t types[] = {
        TOE_CMD_DATA_RECEIVED,  TOE_CMD_SEND_COMPLETE, TOE_CMD_LISTEN_ESTABLISHED,
        TOE_CMD_CONNECT_FAILED, TOE_CMD_CLOSE_EVENT,   TOE_CMD_CONNECT_ESTABLISHED,
        TOE_CMD_ERROR,          TOE_CMD_DATA_RECEIVED};

    if (!the_qp)
        return;
    look();
    switch (what & 15) {
    case 8:
        take_commands();
        break;
    case 9:
        scribble();
        break;
    case 10:
        toe_ring_store(&status()->sw_tail, number());
        break;
    case 11:
        toe_ring_store(&status()->halted, fuzz_u8(&st.in) & 1);
        break;
    case 12:
        if (what > 0x70)
            shutdown(far_end, SHUT_RDWR); /* dies */
        break;
    case 13:
        toe_ring_store(&status()->sleeping, fuzz_u8(&st.in) & 1);
        break;
    case 14:
        emit(fuzz_u8(&st.in));
        break;
    case 15:
        tell_ip6();
        break;
    default:
        emit(types[what & 7]);
    }
}

/* While libtoe waits for its commands to be read, the TOE acts, even one that does nothing else
 * (meson.build: --wrap). */
void __wrap_thost_yield(unsigned looks);
void __wrap_thost_yield(unsigned looks)
{
    (void)looks;
    if (the_qp)
        take_commands();
}

/* ---- the program ---- */

static void note(unsigned i, int fd)
{
    if (fd < 0)
        return;
    if (st.fd[i] >= 0)
        toe_close(st.fd[i]);
    st.fd[i] = fd;
}

static struct sockaddr_in address(uint32_t ip, unsigned port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    a.sin_addr.s_addr = htonl(ip);
    return a;
}

static void new_socket(unsigned i)
{
    note(i, toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
}

/* A socket of IPv6: one that listens, or one that connects on the link or link-local. */
static void six(unsigned i, unsigned what)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(5000)};
    int on = 1;

    note(i, toe_socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0));
    a.sin6_addr.s6_addr[0] = what & 1 ? 0xfe : 0xfd;
    a.sin6_addr.s6_addr[1] = what & 1 ? 0x80 : 0;
    a.sin6_addr.s6_addr[15] = (uint8_t)(1 + (what >> 1 & 1));
    a.sin6_scope_id = what & 1;
    if (what & 4) {
        toe_connect(st.fd[i], (struct sockaddr *)&a, sizeof(a));
        return;
    }
    toe_setsockopt(st.fd[i], IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (toe_bind(st.fd[i], (struct sockaddr *)&a, sizeof(a)) == 0)
        toe_listen(st.fd[i], 4);
}

static void names(int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof(a);

    if (toe_getsockname(fd, (struct sockaddr *)&a, &n) == 0)
        FUZZ_CHECK(n <= sizeof(a));
    n = sizeof(a);
    if (toe_getpeername(fd, (struct sockaddr *)&a, &n) == 0)
        FUZZ_CHECK(n == sizeof(struct sockaddr_in) || n == sizeof(struct sockaddr_in6));
}

static void info(int fd)
{
    struct tcp_info ti;
    socklen_t n = sizeof(ti);
    int error, unread;

    names(fd);
    toe_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &n);
    n = sizeof(error);
    toe_getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
    if (toe_ioctl(fd, FIONREAD, &unread) == 0)
        FUZZ_CHECK(unread >= 0 && unread <= (int)SIZE);
}

static void bytes(int fd, int sending)
{
    size_t n = fuzz_u16(&st.in) % (3 * SIZE);
    char *exact = calloc(1, n ? n : 1);
    ssize_t done;

    done = sending ? toe_send(fd, exact, n, MSG_NOSIGNAL | MSG_DONTWAIT)
                   : toe_recv(fd, exact, n, MSG_DONTWAIT | (n & 1 ? MSG_PEEK : 0));
    FUZZ_CHECK(done <= (ssize_t)n && (sending || done <= (ssize_t)SIZE));
    free(exact);
}

static void wait_none(void)
{
    struct epoll_event e[4];
    struct pollfd p[FDS];
    unsigned i;
    int n = toe_epoll_wait(st.epoll, e, 4, 0);

    FUZZ_CHECK(n >= -1 && n <= 4);
    for (i = 0; i < FDS; i++)
        p[i] = (struct pollfd){.fd = st.fd[i], .events = POLLIN | POLLOUT};
    toe_poll(p, FDS, 0);
}

static void program_act(unsigned what)
{
    unsigned i = fuzz_u8(&st.in) % FDS, k;
    struct sockaddr_in a = address(0x0a630001, 5000 + (what >> 5));
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | (what & 64 ? EPOLLET : 0)};
    int on = 1, fd = st.fd[i];

    switch (what & 15) {
    case 0:
        new_socket(i);
        break;
    case 1:
        new_socket(i);
        toe_connect(st.fd[i], (struct sockaddr *)&a, sizeof(a));
        break;
    case 2:
        new_socket(i);
        a = address(0x0a630002, 80);
        toe_setsockopt(st.fd[i], SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (toe_bind(st.fd[i], (struct sockaddr *)&a, sizeof(a)) == 0)
            toe_listen(st.fd[i], 4);
        break;
    case 3:
        k = fuzz_u8(&st.in) % FDS;
        note(k, toe_accept4(fd, NULL, NULL, SOCK_NONBLOCK));
        break;
    case 4:
    case 5:
        bytes(fd, 1);
        break;
    case 6:
    case 7:
        bytes(fd, 0);
        break;
    case 8:
        toe_shutdown(fd, (int)(what >> 5) % 3);
        break;
    case 9:
        if (fd >= 0)
            toe_close(fd);
        st.fd[i] = -1;
        break;
    case 10:
        e.data.u32 = i;
        toe_epoll_ctl(st.epoll, what & 16 ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, fd, &e);
        break;
    case 11:
        info(fd);
        break;
    case 12:
        toe_setsockopt(fd, IPPROTO_TCP, (int)(fuzz_u8(&st.in) % 40), &on, sizeof(on));
        break;
    case 13: /* connects that one again */
        toe_connect(fd, (struct sockaddr *)&a, sizeof(a));
        break;
    case 14:
        six(i, what >> 4);
        break;
    default:
        wait_none();
    }
}

static void act(void)
{
    unsigned what = fuzz_u8(&st.in);

    if (what & 128) {
        toe_act(what & 127);
        return;
    }
    program_act(what);
}

static void end(void)
{
    unsigned i;

    for (i = 0; i < FDS; i++) {
        if (the_qp)
            take_commands();
        if (st.fd[i] >= 0)
            toe_close(st.fd[i]);
    }
    if (the_qp)
        take_commands();
    toe_close(st.epoll);
    if (the_qp)
        the_qp->broken = true; /* or it would wait 100 ms for its last commands to be read */
    toe_terminate();
    FUZZ_CHECK(the_qp == NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("TOEHOLD_SOCKET", "/nonexistent", 1);
    /* Nothing may answer the connections that libtoe hands to the kernel. */
    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
        perror("unshare");
        exit(1);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned acts, i;

    memset(&st, 0, sizeof(st));
    st.in.p = data;
    st.in.left = size;
    for (i = 0; i < FDS; i++)
        st.fd[i] = -1;
    attached = 0;
    FUZZ_CHECK(toe_init(NULL) == 0);
    st.epoll = toe_epoll_create1(0);
    FUZZ_CHECK(st.epoll >= 0);
    for (acts = 0; st.in.left && acts < MOST_ACTS; acts++)
        act();
    end();
    return 0;
}
