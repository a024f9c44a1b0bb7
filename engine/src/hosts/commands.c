/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - checks and executes the SW commands of hosts (docs/ARCHITECTURE.md rule 5;
 * docs/device-contract.md, SW command).
 *
 * A command is copied to private memory first and checked there, so the host cannot change it
 * between check and use. A bad command is answered with ERROR and counted, and has no other effect.
 * A command that crossed the final CLOSE_EVENT of its flow is not an error and is ignored.
 */
#include <string.h>

#include "base/pace.h"
#include "commands.h"
#include "events.h"
#include "exchange.h"
#include "listen.h"
#include "opening.h"
#include "record.h"
#include "relieve.h"
#include "rx_hold.h"
#include "shared.h"
#include "trace.h"

/* The most commands taken from a queue pair in one turn. */
#define COMMAND_BUDGET 64u

/* Each returns 0, CROSSED or a TOE_R_*. */
typedef int (*command_fn)(struct qp *qp, const struct command *c);

/* Reads an address: IPv4 from arg0, or with V6 the table entry that arg0 selects. local: the local
 * address of that entry, may be NULL. */
static int read_address(const struct qp *qp, const struct command *c, int v6, struct toec_addr *out,
                        struct toec_addr *local)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    struct toedev_address entry;

    memset(out, 0, sizeof(*out));
    if (local)
        memset(local, 0, sizeof(*local));
    if (!v6) {
        memcpy(out->b, mapped, sizeof(mapped));
        toe_ip4_bytes(c->arg0, out->b + 12);
        return 0;
    }
    if (c->arg0 >= qp->cfg.addresses)
        return TOE_R_INVAL;
    memcpy(&entry, qp->area + qp->layout.addresses + (uint64_t)c->arg0 * sizeof(entry),
           sizeof(entry));
    memcpy(out->b, entry.addr, sizeof(out->b));
    if (local)
        memcpy(local->b, entry.local, sizeof(local->b));
    return 0;
}

/* Converts a refusal by core/ of a command that is valid as far as the engine can check. */
static int from_core(int rc)
{
    return rc < 0 ? -rc : 0;
}

static int do_listen(struct qp *qp, const struct command *c)
{
    struct toec_addr addr;
    int reason = read_address(qp, c, c->flags & TOE_F_LISTEN_V6, &addr, NULL);
    int v6only = !!(c->flags & TOE_F_LISTEN_V6ONLY);

    if (reason == 0 && (c->aux == 0 || (v6only && !(c->flags & TOE_F_LISTEN_V6))))
        reason = TOE_R_INVAL;
    if (reason)
        return reason;
    reason =
        listen_add(qp, &addr, v6only, c->aux, c->flow, c->arg1, !!(c->flags & TOE_F_LISTEN_WEAK));
    if (reason == 0 && !(c->flags & TOE_F_LISTEN_WEAK))
        events_write(qp); /* flows that waited for it, before the tail passes the command */
    return reason;
}

static int do_bind(struct qp *qp, const struct command *c)
{
    unsigned how = (c->flags & TOE_F_BIND_REUSEADDR ? TOEC_REUSE_ADDR : 0) |
                   (c->flags & TOE_F_BIND_REUSEPORT ? TOEC_REUSE_PORT : 0) |
                   (c->flags & TOE_F_BIND_V6ONLY ? TOEC_BIND_V6ONLY : 0);
    struct toec_addr addr;
    int reason = read_address(qp, c, c->flags & TOE_F_BIND_V6, &addr, NULL);

    if (reason == 0 &&
        (c->aux == 0 || (c->flags & (TOE_F_BIND_V6 | TOE_F_BIND_V6ONLY)) == TOE_F_BIND_V6ONLY))
        reason = TOE_R_INVAL;
    return reason ? reason : from_core(toec_bind_ok(qp->engine->stack, &addr, c->aux, how));
}

static int do_unlisten(struct qp *qp, const struct command *c)
{
    return listen_remove(qp, c->flow);
}

/* Answers a valid CONNECT by CONNECT_FAILED with its cookie. The slot may be NULL. */
static void connect_failed(struct qp *qp, struct slot *s, uint32_t cookie, int reason)
{
    struct toe_cmd c = toe_cmd_make(TOE_CMD_CONNECT_FAILED, 0, (uint16_t)reason, 0, cookie, 0);

    engine_count(qp->engine, EC_connect_failed);
    event_put(qp, &c);
    if (s) {
        trace_end(s, (uint32_t)reason);
        slot_free(s);
    }
}

/* Announces the slot to the host, since `room` bytes may be sent with the SYN, which waits for the
 * host's SEND. */
static void connect_ready(struct qp *qp, struct slot *s, uint32_t room)
{
    struct toe_cmd c = toe_cmd_make(TOE_CMD_CONNECT_READY, 0, 0, s->index, s->cookie, room);

    s->fast = 1;
    s->announced = 1;
    opening_del(s);
    event_put(qp, &c);
}

static int do_connect(struct qp *qp, const struct command *c)
{
    struct engine *e = qp->engine;
    struct toec_buffers bufs;
    struct toec_addr addr, local;
    struct slot *s;
    int rc, room = 0, reason = read_address(qp, c, c->flags & TOE_F_CONNECT_V6, &addr, &local);

    if (reason == 0 && (c->aux == 0 || (c->arg1 > 0xffff && (c->arg1 & 0xffff) > c->arg1 >> 16)))
        reason = TOE_R_INVAL;
    if (reason)
        return reason;
    s = slot_take(qp);
    if (!s) {
        connect_failed(qp, NULL, c->flow, TOE_R_NOBUFS);
        return 0;
    }
    s->active = 1;
    s->accepted = 1;
    s->cookie = c->flow;
    opening_add(s);
    trace_begin(s, TRACE_CONNECT, c->aux);
    bufs.owner = s;
    bufs.tx_size = qp->cfg.tx_size;
    bufs.rx_size = qp->cfg.rx_size;
    rc = shared_connect(s, &local, &addr, c->aux, c->arg1, &bufs);
    if (rc < 0)
        connect_failed(qp, s, c->flow, -rc);
    else if (c->flags & TOE_F_CONNECT_FAST)
        room = toec_fastopen(e->stack, s->flow, !!(c->flags & TOE_F_CONNECT_NOCOOKIE), e->now);
    if (room > 0)
        connect_ready(qp, s, (uint32_t)room);
    return 0;
}

/* Cancels the CONNECT with this cookie, whatever its outcome, if that is not announced yet. */
static int do_cancel(struct qp *qp, const struct command *c)
{
    struct engine *e = qp->engine;
    struct slot *s = opening_find(qp, c->flow);

    if (!s)
        return CROSSED;
    opening_del(s); /* with equal cookies, the next CANCEL is for another */
    if (s->state != SLOT_GONE) {
        s->state = SLOT_OPENING; /* not announced: it ends as a failed one */
        s->pending = 0;
        trace_put(s, TRACE_ABORT, 0);
        return from_core(toec_abort(e->stack, s->flow, e->now));
    }
    s->pending = PEND_FAILED; /* ended after it was established, or failed: pending answer */
    s->reason = TOE_R_ABORTED;
    return 0;
}

/*
 * Reports the local port of a CONNECT without an answer; its address in the flow record. An answer
 * that is still to be written comes later: the host that waits for the tail needs the port before.
 */
static int do_port(struct qp *qp, const struct command *c)
{
    struct slot *s = opening_find(qp, c->flow);
    struct toe_cmd answer;

    if (!s || s->state == SLOT_GONE)
        return CROSSED;
    record_write(s);
    answer = toe_cmd_make(TOE_CMD_CONNECT_PORT, 0, record_port(s), s->index, s->cookie, 0);
    event_put(qp, &answer);
    return 0;
}

/* Finds the slot that a command names, if the host may name it. */
static int named_slot(struct qp *qp, const struct command *c, struct slot **out)
{
    if (c->flow >= qp->cfg.slots || !qp->slots[c->flow].announced)
        return TOE_R_BADF;
    *out = &qp->slots[c->flow];
    return 0;
}

/* ... and checks that its flow exists. */
static int named_flow(struct qp *qp, const struct command *c, struct slot **out)
{
    int reason = named_slot(qp, c, out);

    if (reason)
        return reason;
    return (*out)->state == SLOT_GONE ? CROSSED : 0;
}

/* Returns whether the slot is announced to its host, but not open yet. */
static int is_fast(const struct slot *s)
{
    return s->state == SLOT_OPENING && s->fast;
}

static int do_send(struct qp *qp, const struct command *c)
{
    struct engine *e = qp->engine;
    struct slot *s;
    int reason = named_flow(qp, c, &s);

    if (reason)
        return reason;
    if ((s->state != SLOT_OPEN && !is_fast(s)) || s->half_closed)
        return TOE_R_NOTCONN;
    if (c->arg0 == 0 && !is_fast(s))
        return TOE_R_INVAL;
    if (c->arg0 > slot_tx_size(s) - s->tx_used)
        return TOE_R_MSGSIZE;
    if (__builtin_expect(s == e->timed, 0))
        exchange_send(e, c->arg0);
    /* before the call, which subtracts what is acknowledged during it */
    s->tx_used += c->arg0;
    reason =
        from_core(toec_send(e->stack, s->flow, c->arg0, !!(c->flags & TOE_F_SEND_PUSH), e->now));
    if (reason)
        s->tx_used -= c->arg0;
    else
        trace_call(s, TRACE_SENT, c->arg0);
    if (reason == 0 && (c->flags & TOE_F_SEND_URGENT))
        reason = from_core(toec_urgent(e->stack, s->flow, e->now));
    if (reason == 0 && (c->flags & TOE_F_SEND_EOR))
        (void)toec_eor(e->stack, s->flow); /* a boundary too many is counted there */
    e->stream = 0;
    return reason;
}

static int do_recv(struct qp *qp, const struct command *c)
{
    struct engine *e = qp->engine;
    struct slot *s;
    int reason = named_flow(qp, c, &s);

    if (reason)
        return reason;
    if (s->state != SLOT_OPEN)
        return TOE_R_NOTCONN;
    if (c->arg0 == 0)
        return TOE_R_INVAL;
    if (c->arg0 > s->rx_reported)
        return TOE_R_MSGSIZE;
    s->rx_reported -= c->arg0;
    trace_call(s, TRACE_READ, c->arg0);
    return from_core(toec_recv(e->stack, s->flow, c->arg0, e->now));
}

/* Suppresses every notification from now on except the final CLOSE_EVENT. what: the call. */
static void closing(struct slot *s, enum trace_event_kind what)
{
    trace_put(s, what, 0);
    record_touch(s); /* the state of the flow changes */
    s->state = SLOT_CLOSING;
    hold_drop(s); /* the host reads no more */
    s->pending &= (uint8_t) ~(PEND_ESTABLISHED | PEND_URGENT | PEND_DATA | PEND_ACKED | PEND_HALF);
    s->accepted = 1;
    listen_leave(s);
}

static int do_close(struct qp *qp, const struct command *c)
{
    struct engine *e = qp->engine;
    struct slot *s;
    int reason = named_flow(qp, c, &s);

    if (reason)
        return reason;
    switch (c->flags) {
    case TOE_F_CLOSE_ABORT: /* also for a closing flow, when its end takes too long */
        closing(s, TRACE_ABORT);
        return from_core(toec_abort(e->stack, s->flow, e->now));
    case TOE_F_CLOSE_HALF:
        if (s->state != SLOT_OPEN || s->half_closed)
            return TOE_R_NOTCONN;
        s->half_closed = 1;
        trace_put(s, TRACE_SHUTDOWN, 0);
        record_touch(s);
        return from_core(toec_shutdown(e->stack, s->flow, e->now));
    case 0:
        if (s->state != SLOT_OPEN && !is_fast(s))
            return TOE_R_NOTCONN;
        closing(s, TRACE_CLOSE);
        return from_core(toec_close(e->stack, s->flow, e->now));
    default:
        return TOE_R_INVAL;
    }
}

void command_close_left(struct slot *s)
{
    struct engine *e = s->qp->engine;
    uint32_t unreported = s->rx_reported + s->pend_data;

    closing(s, TRACE_CLOSE);
    if (unreported && unreported <= s->qp->cfg.rx_size >> 2)
        toec_recv(e->stack, s->flow, unreported, e->now);
    toec_close(e->stack, s->flow, e->now);
}

/* Finds the flow of an OPTION. Returns 0, CROSSED or a TOE_R_*. */
static int option_flow(struct qp *qp, const struct command *c, struct slot **out)
{
    int reason;

    if (c->flags & TOE_F_OPTION_CONNECT) {
        *out = opening_find(qp, c->flow);
        return *out && (*out)->state != SLOT_GONE ? 0 : CROSSED;
    }
    reason = named_flow(qp, c, out);
    if (reason)
        return reason;
    return (*out)->state == SLOT_OPEN || is_fast(*out) ? 0 : TOE_R_NOTCONN;
}

static int do_option(struct qp *qp, const struct command *c)
{
    struct engine *e = qp->engine;
    struct slot *s;
    int reason;

    if (c->flags & TOE_F_OPTION_LISTEN) {
        if (c->flags & TOE_F_OPTION_CONNECT)
            return TOE_R_INVAL;
        return listen_option(qp, c->flow, c->aux, c->arg0, c->arg1);
    }
    reason = option_flow(qp, c, &s);
    if (reason)
        return reason;
    if (c->aux == TOE_OPT_NOTSENT_LOWAT) {
        s->current = c->arg0 != 0;
        return 0;
    }
    if (c->aux < TOE_OPT_NODELAY || (c->aux > TOE_OPT_ADV_UTO && c->aux < TOE_OPT_MAX_PACING))
        return TOE_R_NOPROTOOPT;
    if (toec_set_option(e->stack, s->flow, (enum toec_option)c->aux, c->arg0, e->now) < 0)
        return TOE_R_NOPROTOOPT;
    return 0;
}

static int do_accept(struct qp *qp, const struct command *c)
{
    struct slot *s;
    int reason = named_flow(qp, c, &s);

    if (reason)
        return reason;
    if (s->active || s->accepted)
        return TOE_R_NOTCONN;
    s->accepted = 1;
    trace_put(s, TRACE_ACCEPT, 0);
    listen_accepted(s);
    return 0;
}

static int do_release(struct qp *qp, const struct command *c)
{
    struct slot *s;
    int reason = named_slot(qp, c, &s);

    if (reason)
        return reason;
    if (s->state != SLOT_GONE || s->pending)
        return TOE_R_NOTCONN; /* the final CLOSE_EVENT is still pending */
    slot_free(s);
    listen_heard(qp);
    return 0;
}

static const struct {
    command_fn fn;
    uint8_t flags;
} table[] = {
    [TOE_CMD_LISTEN] = {do_listen, TOE_F_LISTEN_ALL},
    [TOE_CMD_UNLISTEN] = {do_unlisten, TOE_F_UNLISTEN_ALL},
    [TOE_CMD_CONNECT] = {do_connect, TOE_F_CONNECT_ALL},
    [TOE_CMD_SEND] = {do_send, TOE_F_SEND_ALL},
    [TOE_CMD_RECV] = {do_recv, TOE_F_RECV_ALL},
    [TOE_CMD_CLOSE] = {do_close, TOE_F_CLOSE_ALL},
    [TOE_CMD_OPTION] = {do_option, TOE_F_OPTION_ALL},
    [TOE_CMD_ACCEPT] = {do_accept, TOE_F_ACCEPT_ALL},
    [TOE_CMD_RELEASE] = {do_release, TOE_F_RELEASE_ALL},
    [TOE_CMD_CANCEL] = {do_cancel, TOE_F_CANCEL_ALL},
    [TOE_CMD_BIND] = {do_bind, TOE_F_BIND_ALL},
    [TOE_CMD_PORT] = {do_port, TOE_F_PORT_ALL},
};

static int run_one(struct qp *qp, const struct command *c)
{
    if (c->type >= sizeof(table) / sizeof(table[0]) || !table[c->type].fn)
        return TOE_R_NOSYS;
    if (c->flags & ~table[c->type].flags)
        return TOE_R_INVAL;
    return table[c->type].fn(qp, c);
}

static enum engine_counter counter_of(int reason)
{
    switch (reason) {
    case CROSSED:
        return EC_cmd_crossed;
    case TOE_R_NOSYS:
        return EC_cmd_bad_type;
    case TOE_R_BADF:
        return EC_cmd_bad_flow;
    case TOE_R_MSGSIZE:
        return EC_cmd_bad_length;
    case TOE_R_NOTCONN:
        return EC_cmd_bad_state;
    case TOE_R_INVAL:
    case TOE_R_NOPROTOOPT:
    case TOE_R_NOENT:
    case TOE_R_AFNOSUPPORT:
        return EC_cmd_bad_value;
    default:
        return EC_cmd_refused;
    }
}

int command_can_answer(struct qp *qp)
{
    uint32_t room;

    if (event_has_room(qp))
        return 1;
    room = event_room(qp);
    if (room == TOE_RING_BAD)
        qp_halt(qp, TOE_R_PROTO);
    else if (room == 0)
        event_full(qp);
    return room != TOE_RING_BAD && room > 0;
}

void command_run(struct qp *qp, const struct toe_cmd *raw, uint32_t position)
{
    struct command c = {toe_cmd_type(raw), toe_cmd_flags(raw), toe_cmd_aux(raw),
                        toe_cmd_flow(raw), toe_cmd_arg0(raw),  toe_cmd_arg1(raw)};
    int reason = run_one(qp, &c);

    if (reason)
        engine_count(qp->engine, counter_of(reason));
    if (reason > 0)
        event_error(qp, (uint16_t)reason, c.flow, position, c.type);
}

unsigned commands_run(struct qp *qp)
{
    uint32_t waiting = toe_ring_waiting(&qp->sw, &qp->doorbells->sw_head);
    unsigned n = 0, most;
    struct toe_cmd raw;

    if (waiting == TOE_RING_BAD) {
        qp_halt(qp, TOE_R_PROTO);
        return 1;
    }
    most =
        pace_room(&qp->pace, waiting < COMMAND_BUDGET ? waiting : COMMAND_BUDGET, qp->engine->now);
    if (waiting && !most && !qp->paced)
        engine_count(qp->engine, EC_commands_paced);
    qp->paced = waiting && !most;
    for (; n < most && command_can_answer(qp); n++) {
        uint32_t position = qp->sw.tail;

        if (!toe_ring_get(&qp->sw, &raw)) {
            qp_halt(qp, TOE_R_PROTO); /* the head counts it, but its phase bit is wrong */
            break;
        }
        command_run(qp, &raw, position);
    }
    qp->sw_commands += n;
    pace_took(&qp->pace, n, qp->engine->now);
    /* An ERROR must be in the HW ring before the tail passes its command. */
    if (n)
        event_sw_tail(qp);
    return n;
}
