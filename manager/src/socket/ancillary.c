/* SPDX-License-Identifier: Apache-2.0 */
/* ancillary.c - see ancillary.h. */
#include <linux/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "ancillary.h"
#include "host.h"
#include "tsock.h"

#define UNIT_LOG 10 /* DATA_RECEIVED counts in units of 1,024 ns */

/* Times in 64 bits, on every machine. */
struct time64 {
    int64_t seconds, fraction;
};

void tancillary_received(struct tsock *s, uint32_t end, uint32_t at)
{
    struct trxtimes *t = &s->rx_times;

    if (!at) /* a TOE that does not say: now */
        at = (uint32_t)(tclock_ns() >> UNIT_LOG);
    if (t->n == TRXTIMES) /* the oldest reads get the time of later bytes */
        t->n--;
    t->end[t->n] = end;
    t->at[t->n++] = at;
}

/* Forgets times of bytes before `pos`. */
static void forget_before(struct trxtimes *t, uint32_t pos)
{
    uint8_t gone = 0;

    while (gone < t->n && (int32_t)(t->end[gone] - pos) <= 0)
        gone++;
    t->n -= gone;
    memmove(t->end, t->end + gone, t->n * sizeof t->end[0]);
    memmove(t->at, t->at + gone, t->n * sizeof t->at[0]);
}

/* Finds when the byte before `end` was received, by the clock of the machine. False: not known, it
 * came before the option was set. */
static bool time_of(const struct trxtimes *t, uint32_t end, struct timespec *out)
{
    uint64_t now = tclock_ns(), wall;
    uint8_t i = 0;
    uint32_t age;

    while (i < t->n && (int32_t)(t->end[i] - end) < 0)
        i++;
    if (i == t->n)
        return false;
    age = (uint32_t)(now >> UNIT_LOG) - t->at[i];
    clock_gettime(CLOCK_REALTIME, out);
    wall = (uint64_t)out->tv_sec * NSEC + (uint64_t)out->tv_nsec - ((uint64_t)age << UNIT_LOG);
    out->tv_sec = (time_t)(wall / NSEC);
    out->tv_nsec = (long)(wall % NSEC);
    return true;
}

void tancillary_append(struct msghdr *msg, size_t *used, int level, int type, const void *data,
                       size_t len)
{
    size_t room = msg->msg_controllen - *used, whole = CMSG_LEN(len), space = CMSG_SPACE(len);
    struct cmsghdr c = {.cmsg_level = level, .cmsg_type = type};
    uint8_t *to = (uint8_t *)msg->msg_control + *used;

    if (!msg->msg_control || room < sizeof c) {
        msg->msg_flags |= MSG_CTRUNC;
        return;
    }
    if (room < whole) {
        msg->msg_flags |= MSG_CTRUNC;
        whole = room;
    }
    c.cmsg_len = whole;
    memcpy(to, &c, sizeof c);
    memcpy(to + sizeof c, data, whole - sizeof c);
    *used += space < room ? space : room;
}

/* SO_TIMESTAMP, SO_TIMESTAMPNS (tcp_recv_timestamp() of Linux). */
static void put_stamp(const struct tsock *s, struct msghdr *msg, size_t *used,
                      const struct timespec *at)
{
    bool ns = s->opts.stamps & TSTAMP_NS, new = s->opts.stamps &TSTAMP_NEW;
    struct timeval tv = {at->tv_sec, at->tv_nsec / 1000};
    struct time64 wide = {at->tv_sec, ns ? at->tv_nsec : at->tv_nsec / 1000};
    int type = ns ? SO_TIMESTAMPNS : SO_TIMESTAMP;

    if (new)
        tancillary_append(msg, used, SOL_SOCKET, ns ? SO_TIMESTAMPNS_NEW : SO_TIMESTAMP_NEW, &wide,
                          sizeof wide);
    else if (ns)
        tancillary_append(msg, used, SOL_SOCKET, type, at, sizeof *at);
    else
        tancillary_append(msg, used, SOL_SOCKET, type, &tv, sizeof tv);
}

/* SO_TIMESTAMPING: the software stamp is the first of three; there are no hardware stamps. */
static void put_timestamping(const struct tsock *s, struct msghdr *msg, size_t *used,
                             const struct timespec *at)
{
    struct timespec three[3] = {*at};
    struct time64 wide[3] = {{at->tv_sec, at->tv_nsec}};

    if (s->opts.stamps & TSTAMP_NEW)
        tancillary_append(msg, used, SOL_SOCKET, SO_TIMESTAMPING_NEW, wide, sizeof wide);
    else
        tancillary_append(msg, used, SOL_SOCKET, SO_TIMESTAMPING, three, sizeof three);
}

/* As tcp_inq_hint() of Linux: the peer's FIN counts as a byte, read or not. */
static int left_to_read(const struct tsock *s)
{
    return (int)s->rx_avail + (s->eof == TEOF_FIN);
}

void tancillary_put(struct tsock *s, struct msghdr *msg, size_t n, uint32_t end)
{
    struct timespec at;
    size_t used = 0;
    int left;

    if (s->stamped && n && time_of(&s->rx_times, end, &at)) {
        if (s->opts.stamps & TSTAMP_ON)
            put_stamp(s, msg, &used, &at);
        if (s->opts.timestamping & SOF_TIMESTAMPING_SOFTWARE)
            put_timestamping(s, msg, &used, &at);
    }
    forget_before(&s->rx_times, s->rx_pos);
    if (s->opts.inq) {
        left = left_to_read(s);
        tancillary_append(msg, &used, IPPROTO_TCP, TCP_CM_INQ, &left, sizeof left);
    }
    msg->msg_controllen = used;
}
