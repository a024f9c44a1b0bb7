/* SPDX-License-Identifier: Apache-2.0 */
/* fake_libtoe.c - see fake_libtoe.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "announce.h"
#include "ctx.h"
#include "dispatch.h"
#include "eor.h"
#include "fake_libtoe.h"
#include "host.h"
#include "listen_defer.h"
#include "lock.h"
#include "name.h"
#include "option.h"
#include "ready.h"
#include "record.h"
#include "share_use.h"
#include "sock.h"
#include "turns.h"
#include "urgent.h"
#include "wait.h"

#define SOCKETS 256

_Atomic(struct tobj *) tfd_table[TFD_MAX], tfd_own_table[TFD_OWN_MAX];
struct fake fake;

static struct tsock sockets[SOCKETS];
static uint32_t events_of[SOCKETS];
static unsigned sockets_n;

const char *toe_why_not(int fd)
{
    (void)fd;
    return NULL;
}

void fake_reset(void)
{
    memset(tfd_table, 0, sizeof tfd_table);
    memset(sockets, 0, sizeof sockets);
    memset(events_of, 0, sizeof events_of);
    memset(&fake, 0, sizeof fake);
    sockets_n = 0;
    fake.now = NSEC;
}

struct tsock *fake_socket(int fd, enum tsock_state state)
{
    struct tsock *s = &sockets[sockets_n++];

    s->obj.kind = TOBJ_SOCK;
    s->state = (uint8_t)state;
    tfd_set(fd, &s->obj);
    return s;
}

void fake_events(struct tsock *s, uint32_t events)
{
    events_of[s - sockets] = events;
}

void tfd_set(int fd, struct tobj *o)
{
    o->refs++;
    tfd_table[fd] = o;
}

uint64_t tclock_ns(void)
{
    return fake.now;
}

int thost_ppoll(struct pollfd *fds, nfds_t n, struct timespec *ts, const sigset_t *mask,
                const volatile sig_atomic_t *note)
{
    (void)note;
    return sys_ppoll(fds, n, ts, mask);
}

void tlisten_option(const struct tsock *s, uint16_t option, uint32_t value)
{
    (void)s;
    fake.listener_option = option;
    fake.listener_value = value;
}

void tctx_lock(void)
{
    assert_int_equal(fake.locks++, 0);
}

void tctx_unlock(void)
{
    assert_int_equal(--fake.locks, 0);
}

int tsock_name(const struct tsock *s, bool peer, struct sockaddr *addr, socklen_t *len)
{
    (void)s, (void)peer, (void)addr, (void)len;
    return 0;
}

uint32_t tctx_progress(void)
{
    assert_int_equal(fake.locks, 1);
    return 0;
}

int tinherit_use(int fd)
{
    (void)fd;
    return 0;
}

bool tshare_some;

void tshare_ask(struct tsock *s)
{
    (void)s;
}

bool tlisten_later;

void tlisten_begin_now(void)
{
}

void tsock_use(struct tsock *s)
{
    assert_int_equal(s->state, TS_LISTEN);
    fake.uses++;
}

bool tlisten_some_weak;

void tturn_begin_watched(const struct tepoll *ep)
{
    (void)ep;
}

void tlisten_settle(void)
{
    assert_int_equal(fake.locks, 1);
}

uint32_t tobj_events(struct tobj *o)
{
    assert_int_equal(fake.locks, 1);
    fake.last_look_adds = fake.adds;
    return events_of[(struct tsock *)o - sockets];
}

bool tobj_kernel_too(const struct tobj *o)
{
    const struct tsock *s = (const struct tsock *)o;

    return tsock_kernels(s) || (s->state == TS_LISTEN && s->dual);
}

struct twaiter *twait_begin(size_t most)
{
    static struct twaiter w;

    fake.most_adds = (unsigned)most;
    return &w;
}

void twait_add(struct twaiter *w, struct tobj *o)
{
    (void)w;
    assert_non_null(o);
    assert_true(fake.adds++ < fake.most_adds);
}

void twait_end(struct twaiter *w)
{
    (void)w;
    fake.adds = 0;
    errno = EXDEV; /* its internal changes must not be visible outside */
}

int twait_sleep(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline,
                const sigset_t *mask)
{
    (void)w;
    (void)mask;
    assert_int_equal(fake.locks, 1);
    assert_non_null(fake.sleep);
    assert_true(++fake.sleeps < 100);
    return fake.sleep(kfds, n, deadline);
}

void tsock_option(struct tsock *s, uint16_t option, uint32_t value)
{
    (void)s;
    assert_true(fake.options_n < sizeof fake.options / sizeof fake.options[0]);
    fake.options[fake.options_n].option = option;
    fake.options[fake.options_n++].value = value;
}

void tobj_notify(struct tobj *o, uint32_t events)
{
    (void)o;
    fake.notified |= events;
}

bool tsock_record(const struct tsock *s, struct toedev_flow_record *out)
{
    (void)s;
    *out = fake.record;
    return fake.has_record;
}

int tsock_take_error(struct tsock *s)
{
    int e = s->error;

    s->error = 0;
    return e;
}

void tfast_announce(const struct tsock *s)
{
    (void)s;
}

bool teor_full(const struct tsock *s)
{
    (void)s;
    return false;
}

bool turgent_at_mark(const struct tsock *s)
{
    (void)s;
    return false;
}

uint32_t turgent_queued(const struct tsock *s)
{
    return s->rx_avail;
}
