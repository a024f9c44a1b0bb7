/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c - a process executes another program and keeps its connections (exec.h). */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <toe/number.h>

#include "announce.h"
#include "attach.h"
#include "config.h"
#include "ctx.h"
#include "exec.h"
#include "exec_epoll.h"
#include "exec_relay.h"
#include "fdtab.h"
#include "handle.h"
#include "internal.h"
#include "listen_defer.h"
#include "lock.h"
#include "log.h"
#include "moderation.h"
#include "qp.h"
#include "relay.h"
#include "share_use.h"
#include "tsock.h"

#define IMAGE_NAME  "toehold-exec"
#define IMAGE_LINK  "/memfd:" IMAGE_NAME " (deleted)"
#define IMAGE_MAGIC 0x44455845u
#define SEALS       (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

#define FDS_PER_QP 4u

/* Read by every build of libtoe with this magic number: libtoe's descriptors that outlive the exec.
 * A program that does not take them over must close them, so that toed resets the connections. */
struct image_fds {
    uint32_t magic, n;
    int32_t fds[FDS_PER_QP * TOE_MAX_ENGINES];
};

/* The image consists of this head, a record with its slots for each queue pair, the sockets, the
 * numbers, and the epoll instances. */
struct image_head {
    struct image_fds kept;
    uint32_t version;
    uint32_t sock_size, head_size; /* they differ in another build of libtoe */
    int32_t pid;
    uint32_t qps, socks, numbers;
    uint32_t ip, mask, gw, shared, stays, takes_eor, pad;
    struct tconfig cfg;
};

struct image_qp {
    struct toedev_qp_config cfg;
    struct tmoderation moderation;
    uint32_t engine, qp_id, addresses;
    uint32_t sw_head, hw_tail, belled;
    int32_t doorbell_fd, irq_fd, ctl_fd, mem_fd;
    uint32_t adaptive, pad;
};

struct image_sock {
    struct tsock s;
    uint32_t qp;         /* index + 1, 0: none */
    uint32_t head, next; /* first of its accept queue, next in one: number + 1 */
    uint32_t pad;
};

struct image_number {
    int32_t fd;
    uint32_t sock;
};

_Static_assert(!((sizeof(struct image_head) | sizeof(struct image_qp) | sizeof(struct image_sock) |
                  sizeof(struct image_number)) &
                 7),
               "each part begins where it may");

static int image_fd = -1; /* of a pending exec */

/* ---- writing ---- */

static struct tsock **socks; /* by number */
static uint32_t socks_n, socks_room, numbers_n;
static bool short_of_memory;

static void add(struct tsock *s)
{
    struct tsock **more;

    if (s->at_exec)
        return;
    if (socks_n == socks_room) {
        more = realloc(socks, (2 * socks_room + 64) * sizeof(*socks));
        if (!more) {
            short_of_memory = true;
            return;
        }
        socks = more;
        socks_room = 2 * socks_room + 64;
    }
    socks[socks_n++] = s;
    s->at_exec = socks_n;
    for (struct tsock *q = s->accept_head; q; q = q->accept_next)
        add(q);
}

bool texec_outlives(int fd, const struct tobj *o)
{
    return o->kind == TOBJ_SOCK && !tfd_is_internal(fd) && !tfd_is_own(fd) &&
           !(sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC);
}

static void add_number(int fd, struct tobj *o)
{
    if (!texec_outlives(fd, o))
        return;
    add((struct tsock *)o);
    numbers_n++;
}

static bool is_socket(const struct tsock *s)
{
    return s && s != TSLOT_CLOSING;
}

static void gather(void)
{
    socks_n = numbers_n = 0;
    short_of_memory = false;
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        for (uint32_t i = 0; i < tctx.qps[q]->cfg.slots; i++)
            if (is_socket(tctx.qps[q]->slots[i]))
                add(tctx.qps[q]->slots[i]);
    thandle_each(add);
    tfd_each_number(add_number);
}

static void forget(void)
{
    for (uint32_t i = 0; i < socks_n; i++)
        socks[i]->at_exec = 0;
    free(socks);
    socks = NULL;
    socks_n = socks_room = 0;
}

static size_t slots_size(const struct toedev_qp_config *cfg)
{
    return ((size_t)cfg->slots + 7) & ~(size_t)7;
}

static uint8_t *put_qp(uint8_t *at, const struct tqp *qp)
{
    struct image_qp r = {.cfg = qp->cfg,
                         .moderation = qp->moderation,
                         .engine = qp->engine,
                         .qp_id = qp->qp_id,
                         .addresses = qp->addresses,
                         .sw_head = qp->sw.head,
                         .hw_tail = qp->hw.tail,
                         .belled = qp->belled,
                         .doorbell_fd = qp->doorbell_fd,
                         .irq_fd = qp->irq_fd,
                         .ctl_fd = qp->ctl_fd,
                         .mem_fd = qp->mem_fd,
                         .adaptive = qp->adaptive};

    memcpy(at, &r, sizeof(r));
    at += sizeof(r);
    for (uint32_t i = 0; i < qp->cfg.slots; i++)
        at[i] = qp->slots[i] == TSLOT_CLOSING;
    return at + slots_size(&qp->cfg);
}

static uint32_t number_of(const struct tsock *s)
{
    return s ? s->at_exec : 0;
}

static uint8_t *put_sock(uint8_t *at, const struct tsock *s)
{
    struct image_sock r = {
        .s = *s, .head = number_of(s->accept_head), .next = number_of(s->accept_next)};

    for (uint32_t q = 0; q < tctx.qps_n; q++)
        if (tctx.qps[q] == s->qp)
            r.qp = q + 1;
    memcpy(at, &r, sizeof(r));
    return at + sizeof(r);
}

static uint8_t *put_at; /* for put_number() */

static void put_number(int fd, struct tobj *o)
{
    struct image_number r = {fd, ((struct tsock *)o)->at_exec};

    if (!texec_outlives(fd, o))
        return;
    memcpy(put_at, &r, sizeof(r));
    put_at += sizeof(r);
}

static void put_all(uint8_t *at)
{
    struct image_head h = {.kept = {.magic = IMAGE_MAGIC},
                           .version = TOEDEV_CONTRACT_VERSION,
                           .sock_size = sizeof(struct image_sock),
                           .head_size = sizeof(h),
                           .pid = getpid(),
                           .qps = tctx.qps_n,
                           .socks = socks_n,
                           .numbers = numbers_n,
                           .ip = tctx.ip,
                           .mask = tctx.mask,
                           .gw = tctx.gw,
                           .shared = tctx.shared,
                           .stays = tctx.stays,
                           .takes_eor = tctx.takes_eor,
                           .cfg = tctx.cfg};

    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        const struct tqp *qp = tctx.qps[q];
        const int32_t fds[FDS_PER_QP] = {qp->doorbell_fd, qp->irq_fd, qp->ctl_fd, qp->mem_fd};

        memcpy(h.kept.fds + h.kept.n, fds, sizeof(fds));
        h.kept.n += FDS_PER_QP;
    }
    memcpy(at, &h, sizeof(h));
    at += sizeof(h);
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        at = put_qp(at, tctx.qps[q]);
    for (uint32_t i = 0; i < socks_n; i++)
        at = put_sock(at, socks[i]);
    put_at = at;
    tfd_each_number(put_number);
    texec_epolls_put(put_at);
}

static size_t image_size(void)
{
    size_t n = sizeof(struct image_head) + socks_n * sizeof(struct image_sock) +
               numbers_n * sizeof(struct image_number) + texec_epolls_put(NULL);

    for (uint32_t q = 0; q < tctx.qps_n; q++)
        n += sizeof(struct image_qp) + slots_size(&tctx.qps[q]->cfg);
    return n;
}

/* Writes the image. Returns its descriptor, or -1. */
static int write_image(void)
{
    size_t n = image_size();
    int fd = memfd_create(IMAGE_NAME, MFD_ALLOW_SEALING | MFD_CLOEXEC);
    void *m;

    if (fd < 0 || ftruncate(fd, (off_t)n) < 0) {
        sys_close(fd);
        return -1;
    }
    m = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) {
        sys_close(fd);
        return -1;
    }
    put_all(m);
    munmap(m, n);
    sys_fcntl(fd, F_ADD_SEALS, SEALS);
    return fd;
}

static void keep(int fd, bool on)
{
    if (fd >= 0)
        sys_fcntl(fd, F_SETFD, on ? 0 : FD_CLOEXEC);
}

/* Sets whether our descriptors outlive the exec. */
static void keep_all(bool on)
{
    keep(image_fd, on);
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        const struct tqp *qp = tctx.qps[q];

        keep(qp->doorbell_fd, on);
        keep(qp->irq_fd, on);
        keep(qp->ctl_fd, on);
        keep(qp->mem_fd, on);
    }
}

static bool any_flow(void)
{
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        for (uint32_t i = 0; i < tctx.qps[q]->cfg.slots; i++)
            if (is_socket(tctx.qps[q]->slots[i]))
                return true;
    return false;
}

static bool begin_locked(bool adopts)
{
    int saved = errno;

    if (tctx.state == TC_UP)
        tctx_progress();
    if (tctx.state != TC_UP || !(any_flow() || (adopts && tctx.listeners)))
        return false;
    if (tctx.cfg.place != TPLACE_TOED) {
        tlog_once("exec: the connections of an engine in the program end with the program");
        return false;
    }
    /* Connections relayed for our children need a process that stays behind. */
    if (!adopts || trelay_any())
        return thandover_stay_behind();
    gather();
    image_fd = short_of_memory ? -1 : tfd_internal(write_image());
    if (image_fd < 0) {
        tlog("exec: no memory to pass the connections on; they are reset");
        forget();
        errno = saved;
        return false;
    }
    keep_all(true);
    errno = saved;
    return true;
}

bool texec_begin(bool adopts)
{
    tctx_lock();
    if (begin_locked(adopts)) {
        tlock_leave(); /* runs deferred signal handlers, which end with this program */
        return true;
    }
    tctx_unlock();
    return false;
}

void texec_failed(void)
{
    int saved = errno;

    tlock_enter();
    if (image_fd >= 0) {
        keep_all(false);
        tfd_internal_close(image_fd);
        image_fd = -1;
        forget();
    } else {
        thandover_come_back();
    }
    tctx_unlock();
    errno = saved;
}

/* ---- reading ---- */

static const uint8_t *image;
static size_t image_left;

/* Returns the next n bytes of the image, or NULL. */
static const void *take(size_t n)
{
    const void *at = image;

    if (n > image_left)
        return NULL;
    image += n;
    image_left -= n;
    return at;
}

static bool take_qp(const struct tconfig *cfg)
{
    const struct image_qp *r = take(sizeof(*r));
    const uint8_t *closing = r ? take(slots_size(&r->cfg)) : NULL;
    struct tqp *qp = closing ? tqp_new(cfg, r->engine) : NULL;
    void *area;

    if (!qp)
        return false;
    area = memcmp(&qp->cfg, &r->cfg, sizeof(qp->cfg)) == 0
               ? mmap(NULL, qp->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, r->mem_fd, 0)
               : MAP_FAILED;
    if (area == MAP_FAILED) {
        tqp_forget(qp); /* the queue pair has no descriptors yet */
        return false;
    }
    tctx.qps[tctx.qps_n++] = qp;
    qp->doorbell_fd = tfd_internal_again(r->doorbell_fd);
    qp->irq_fd = tfd_internal_again(r->irq_fd);
    qp->ctl_fd = tfd_internal_again(r->ctl_fd);
    qp->mem_fd = tfd_internal_again(r->mem_fd);
    madvise(area, qp->layout.total, MADV_DONTFORK);
    tqp_use_area(qp, area);
    qp->moderation = r->moderation;
    qp->qp_id = r->qp_id;
    qp->addresses = r->addresses;
    qp->sw.head = r->sw_head;
    qp->sw.tail = toe_ring_load(&qp->status->sw_tail);
    qp->hw.tail = r->hw_tail;
    qp->belled = r->belled;
    qp->adaptive = r->adaptive;
    tqp_register(qp);
    for (uint32_t i = 0; i < qp->cfg.slots; i++)
        if (closing[i])
            qp->slots[i] = TSLOT_CLOSING;
    return true;
}

/* Clears references to the old program's memory. */
static void cleanse(struct tsock *s)
{
    s->obj = (struct tobj){.kind = TOBJ_SOCK};
    s->rx_unreported += s->rx_held; /* its loans have ended */
    s->rx_held = 0;
    s->claims = s->lingering = 0;
    s->zc = NULL;
    s->accept_head = s->accept_tail = s->accept_next = s->listener = NULL;
    s->epoll_reported = s->at_exec = 0;
    s->child_end = 0;
    s->in_turns = 0;
    s->relays = 0;
    s->flow = s->face = NULL;
    s->settled = s->state == TS_SHARED && !s->unasked;
    tshare_some |= s->unasked;
}

static bool take_sock(const struct image_sock *r, struct tsock *s)
{
    struct tqp *qp = r->qp && r->qp <= tctx.qps_n ? tctx.qps[r->qp - 1] : NULL;
    bool has_slot = s->state == TS_OPEN || s->state == TS_DEAD || s->fast;

    cleanse(s);
    s->qp = qp;
    s->rx = s->tx = NULL;
    if (qp && has_slot) {
        if (s->slot >= qp->cfg.slots)
            return false;
        qp->slots[s->slot] = s;
        s->tx = qp->area + toedev_tx_offset(&qp->cfg, &qp->layout, s->slot);
        s->rx = qp->area + toedev_rx_offset(&qp->cfg, &qp->layout, s->slot);
    }
    if (s->handle && !thandle_restore(s->handle, s))
        return false;
    tctx.listeners += s->state == TS_LISTEN;
    if (s->state == TS_LISTEN && s->later)
        tlisten_defer();
    tlisten_restore(s);
    return true;
}

/* Restores a listener's accept queue, in order. */
static void queue_up(struct tsock *l, const struct image_sock *r, uint32_t n, uint32_t head)
{
    for (uint32_t at = head, most = n; at && at <= n && most--; at = r[at - 1].next) {
        struct tsock *s = socks[at - 1];

        s->listener = l;
        s->obj.refs = 1;
        if (l->accept_tail)
            l->accept_tail->accept_next = s;
        else
            l->accept_head = s;
        l->accept_tail = s;
    }
}

static bool take_socks(uint32_t n)
{
    const struct image_sock *r = take(n * sizeof(*r));

    socks = r ? calloc(n + 1u, sizeof(struct tsock *)) : NULL;
    if (!socks)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct tsock *s = tsock_new();

        if (!s)
            return false;
        *s = r[i].s;
        socks[socks_n++] = s;
        if (!take_sock(&r[i], s))
            return false;
    }
    for (uint32_t i = 0; i < n; i++)
        if (socks[i]->state == TS_LISTEN)
            queue_up(socks[i], r, n, r[i].head);
    return true;
}

static bool take_numbers(uint32_t n)
{
    const struct image_number *r = take(n * sizeof(*r));

    for (uint32_t i = 0; r && i < n; i++)
        if (r[i].sock && r[i].sock <= socks_n && (unsigned)r[i].fd < TFD_MAX)
            tfd_set(r[i].fd, &socks[r[i].sock - 1]->obj);
    return r != NULL;
}

/* Ends, as by close(), sockets whose numbers the exec has closed. Holds all of them until then: a
 * listener that ends also ends the connections in its queue. */
static void end_unnumbered(void)
{
    for (uint32_t i = 0; i < socks_n; i++)
        tobj_hold(&socks[i]->obj);
    for (uint32_t i = 0; i < socks_n; i++)
        tobj_put(&socks[i]->obj);
}

static bool take_all(const struct image_head *h)
{
    tctx.cfg = h->cfg;
    tctx.configured = true;
    tctx.ip = h->ip;
    tctx.mask = h->mask;
    tctx.gw = h->gw;
    tctx.shared = h->shared;
    tctx.stays = h->stays;
    tctx.takes_eor = h->takes_eor;
    for (uint32_t q = 0; q < h->qps; q++)
        if (!take_qp(&h->cfg))
            return false;
    if (!take_socks(h->socks) || !take_numbers(h->numbers))
        return false;
    tctx.placeholder_fd =
        tfd_internal(sys_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    tctx.generation++;
    tctx.state = TC_UP;
    if (!texec_epolls_take(image, image_left, socks, socks_n))
        return false;
    end_unnumbered();
    tctx_progress();
    return tctx.placeholder_fd >= 0;
}

/* Closes descriptors that are not taken over, so that toed resets their connections. */
static void drop_kept(const struct image_fds *kept)
{
    for (uint32_t i = 0; i < kept->n && i < FDS_PER_QP * TOE_MAX_ENGINES; i++)
        if (!tfd_is_internal(kept->fds[i]))
            sys_close(kept->fds[i]);
}

/* Handles an image of which a part could not be taken over. The other part ends as when toed dies.
 */
static void give_up(const struct image_fds *kept)
{
    tlog("exec: no memory to take the connections over; they are reset");
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        tctx.qps[q]->breached = true; /* it has been logged */
    if (tctx.qps_n)
        tctx_lost();
    drop_kept(kept);
}

static void adopt_image(bool trusted)
{
    const struct image_head *h = (const void *)image;
    const struct image_fds *kept;

    if (image_left < sizeof(struct image_fds) || h->kept.magic != IMAGE_MAGIC)
        return;
    kept = &h->kept;
    h = take(sizeof(*h));
    if (!h || h->head_size != sizeof(*h) || h->sock_size != sizeof(struct image_sock) ||
        h->version != TOEDEV_CONTRACT_VERSION) {
        tlog("exec: this program's libtoe is another build; the connections it was given are "
             "reset");
        drop_kept(kept);
    } else if (!trusted || h->pid != getpid() || h->qps > TOE_MAX_ENGINES) {
        drop_kept(kept);
    } else if (!take_all(h)) {
        give_up(kept);
    }
}

static void adopt(int fd, bool trusted)
{
    struct stat st;
    void *m;

    if (sys_fcntl(fd, F_GET_SEALS, 0) != SEALS || fstat(fd, &st) < 0)
        return;
    m = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (m == MAP_FAILED)
        return;
    image = m;
    image_left = (size_t)st.st_size;
    tctx_lock();
    adopt_image(trusted);
    free(socks);
    socks = NULL;
    socks_n = 0;
    tctx_unlock();
    munmap(m, (size_t)st.st_size);
}

/* Returns the descriptor of an image, or -1. */
static int find_image(void)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *e;
    int found = -1;
    uint64_t fd;

    while (dir && (e = readdir(dir))) {
        char to[sizeof(IMAGE_LINK)];
        ssize_t n = readlinkat(dirfd(dir), e->d_name, to, sizeof(to));

        if (n == (ssize_t)sizeof(IMAGE_LINK) - 1 && memcmp(to, IMAGE_LINK, (size_t)n) == 0 &&
            toe_number(e->d_name, 0, INT_MAX, &fd, NULL, 0))
            found = (int)fd;
    }
    if (dir)
        closedir(dir);
    return found;
}

void texec_adopt(void)
{
    int saved = errno, fd;

    /* A program with more rights than its caller does not trust an image. */
    while ((fd = find_image()) >= 0) {
        adopt(fd, !getauxval(AT_SECURE));
        sys_close(fd);
    }
    errno = saved;
}
