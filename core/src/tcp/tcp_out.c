/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_out.c - output of a flow (RFC 9293 3.8.6, RFC 5681, Nagle): data, FIN, ACKs and SYNs.
 * Segments are built in tcp_emit.c.
 */
#include "tcp_out.h"

#include "../cc/tcp_record.h"
#include "tcp.h"
#include "tcp_delack.h"
#include "tcp_emit.h"
#include "tcp_eor.h"
#include "tcp_recover.h"
#include "tcp_runs.h"
#include "tcp_timer.h"
#include "tcp_trace.h"
#include "tcp_undo.h"
#include "tcp_urg.h"

/* For segments without SYN: the window is scaled, also in SYN-RECEIVED (RFC 7323 2.2).
 * RFC 9293 3.8.6.2.2: the right edge advances by at least half the buffer or a full segment, never
 * back. RFC 9293 MUST-39, SHLD-14, MAY-8; R7323-05. */
toec_u32 toec_window_offer(struct toec_stack *s, struct toec_tcb *t)
{
    toec_u32 size = 1u << t->rx_log, limit = t->rcv_read + size, edge = t->rcv_adv;
    toec_u32 step = size / 2 < t->mss ? size / 2 : t->mss;
    unsigned shift = toec_rcv_scale(t);
    toec_u32 field;

    if (TOEC_SEQ_GE(limit, edge + step))
        edge = limit;
    if (TOEC_SEQ_LE(edge, t->rcv_nxt)) {
        if (t->state >= TOEC_ESTABLISHED) /* before, no window is known */
            toec_trace(s, t, TOEC_T_OWN_WINDOW, t->rcv_nxt - t->irs, 0);
        return 0;
    }
    field = (edge - t->rcv_nxt) >> shift;
    /* Round up if rounding down would shrink the advertised window, unless the buffer lacks the
     * room (RFC 7323 2.4). Even then, data up to rcv_adv is accepted. */
    if (TOEC_SEQ_LT(t->rcv_nxt + (field << shift), t->rcv_adv) &&
        TOEC_SEQ_LE(t->rcv_nxt + ((field + 1) << shift), limit))
        field++;
    if (field > 65535u)
        field = 65535u;
    edge = t->rcv_nxt + (field << shift);
    if (TOEC_SEQ_GT(edge, t->rcv_adv))
        t->rcv_adv = edge;
    return field;
}

/* Returns the bytes of new data to send (a FIN counts as one). */
static toec_u32 new_ready(const struct toec_tcb *t)
{
    toec_u32 end = t->snd_end + ((t->flags & TOEC_F_FIN) != 0);

    return TOEC_SEQ_GT(end, t->snd_max) ? end - t->snd_max : 0;
}

/* Returns the bytes of the last segment of len that is smaller than the MSS; 0: there is none. Most
 * sends are at most a segment, and a division is slow on a small processor. */
static toec_u32 short_tail(const struct toec_tcb *t, toec_u32 len)
{
    if (len < t->mss)
        return len;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no flow has an MSS of 0 */
    return len == t->mss ? 0 : len % t->mss;
}

static toec_u32 window_room(const struct toec_tcb *t)
{
    toec_u32 edge = t->snd_una + t->snd_wnd;

    return TOEC_SEQ_GT(edge, t->snd_max) ? edge - t->snd_max : 0;
}

/* Returns not 0 when the application has announced more data: by TCP_CORK, or by not pushing
 * (MSG_MORE), which the next ACK ends. Lasts for 200 ms at most. RFC 9293 MAY-16 */
static int corked(const struct toec_tcb *t)
{
    return !(t->flags & TOEC_F_UNCORK) && ((t->flags & TOEC_F_CORK) || !(t->flags & TOEC_F_PUSH));
}

/* Returns not 0 when the last, small segment of `len` bytes may be sent now. RFC 9293 MUST-17,
 * MUST-38, MUST-60, SHLD-7, SHLD-28, MAY-15, MAY-16. */
static int may_send_small(const struct toec_tcb *t, toec_u32 len, int fin)
{
    if (fin)
        return 1;
    if (t->max_wnd && len >= t->max_wnd / 2)
        return 1; /* RFC 9293 3.8.6.2.1 (3): the peer's buffer is small */
    if (t->rare && toec_urg_waits(t))
        return 1;
    if (corked(t))
        return 0;
    /* Nagle (RFC 9293 3.7.4) in Minshall's form: only an unacknowledged small segment delays the
     * next one, so that the tail of a bulk write does not wait for a delayed ACK. */
    return (t->flags & TOEC_F_NODELAY) || !toec_is_out(t, t->snd_sml);
}

/* Returns the bytes of data after `start` that a segment may hold, of `len`: up to the end of the
 * record. */
static toec_u32 within_record(const struct toec_stack *s, struct toec_tcb *t, toec_u32 start,
                              toec_u32 len)
{
    return t->rare & TOEC_RARE_EOR ? toec_eor_end(s, t, start, start + len) - start : len;
}

/* Returns the bytes of new data for the next segment (or segmentation offload); 0: none now. *fin:
 * it also carries the FIN. */
static toec_u32 new_len(const struct toec_stack *s, struct toec_tcb *t, toec_u32 room, int *fin)
{
    toec_u32 all = TOEC_SEQ_GT(t->snd_end, t->snd_max) ? t->snd_end - t->snd_max : 0;
    toec_u32 data = within_record(s, t, t->snd_max, all);
    toec_u32 wnd = window_room(t), len = data, max = t->mss, tail;

    if (len > max && s->cfg.max_gso > max)
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no flow has an MSS of 0 */
        max = s->cfg.max_gso - s->cfg.max_gso % t->mss;
    if (t->rare && ((t->rare & TOEC_RARE_AO) || toec_urg_waits(t)))
        max = t->mss; /* each segment needs its own urgent pointer or MAC */
    if (toec_pace_rate(t))
        max = toec_pace_most(t, max);
    if ((t->ecn.flags & TOEC_ECN_CWR) || t->pm.no_df)
        max = t->mss; /* offload could repeat CWR, or an IP ID, on several segments */
    *fin = 0;
    if (len > wnd)
        len = wnd;
    if (len > room) {
        t->flags |= TOEC_F_CWND_LIM;
        len = room;
    }
    if (len > max)
        len = max;
    if (len == all && (t->flags & TOEC_F_FIN) && wnd > len)
        *fin = 1;
    tail = short_tail(t, len);
    if (tail == 0)
        return len;
    if (len == data && (data < all || may_send_small(t, tail, *fin)))
        return len; /* nothing can join the end of a record that more data follows */
    if (len < data && room >= t->mss && t->max_wnd && tail == len && len >= t->max_wnd / 2)
        return len; /* limited by a small window, but at least half of the largest seen */
    *fin = 0;
    return len - tail;
}

/* Sends a range of the stream with `flags` and ACK. RFC 9293 MUST-61, SHLD-27: PSH at the end of a
 * write; MAY-4: a retransmission does not keep its IP ID. */
static int send_range(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end,
                      unsigned flags, toec_time now)
{
    toec_u32 len = end - start;
    int r;

    flags |= TOEC_TH_ACK;
    if (TOEC_SEQ_GT(end, t->snd_end)) {
        flags |= TOEC_TH_FIN;
        len--;
    }
    if (len && (t->flags & TOEC_F_PUSH) && start + len == t->snd_end)
        flags |= TOEC_TH_PSH;
    if (TOEC_UNLIKELY(t->rare & TOEC_RARE_EOR) && len && toec_eor_at(s, t, start + len))
        flags |= TOEC_TH_PSH; /* a record ends where a write has ended */
    r = toec_emit(s, t, start, len, flags, now);
    if (r)
        return r;
    if (toec_pace_rate(t))
        toec_pace_sent(t, len, now);
    if (t->flags & TOEC_F_FAST)
        t->rack.episode->prr_out += end - start;
    if (!(t->flags & TOEC_F_RTX)) /* R6298-08 */
        toec_rtx_start(s, t, now);
    return 0;
}

static int send_again(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end,
                      toec_time now)
{
    int r;

    /* The FIN shares the last segment and takes none of its payload. */
    if (end - start - (toec_u32)TOEC_SEQ_GT(end, t->snd_end) > t->mss)
        end = start + t->mss;
    end = start + within_record(s, t, start, end - start);
    r = send_range(s, t, start, end, 0, now);
    if (r)
        return r;
    TOEC_COUNT(s, tcp_retransmits);
    toec_trace(s, t, TOEC_T_RETRANSMIT, start - t->iss, end - start);
    t->tally.retransmits++;
    t->tally.rtx_total++;
    t->tally.rtx_bytes += end - start - (toec_u32)TOEC_SEQ_GT(end, t->snd_end);
    t->flags &= ~TOEC_F_RTT; /* R6298-06: Karn; the next ACK may be measured by its timestamp */
    t->rtt_seq = t->snd_una;
    (void)toec_episode_get(s, t, now); /* a tail loss probe may begin it */
    toec_undo_resent(t, start, now);
    toec_runs_resent(s, t, start, end, now);
    /* The fast retransmit restarts the timer, and so does the next one if that is lost (RFC 6675 6;
     * as in Linux). Otherwise a timeout could occur while it is in flight. */
    if ((t->flags & TOEC_F_FAST) && start == t->snd_una && !t->rack.episode->partial)
        toec_rtx_start(s, t, now);
    t->flags &= ~TOEC_F_RTX_HEAD;
    return 0;
}

static int send_new(struct toec_stack *s, struct toec_tcb *t, toec_u32 len, int fin, unsigned flags,
                    toec_time now)
{
    toec_u32 seq = t->snd_max;
    int r;

    r = send_range(s, t, seq, seq + len + (fin != 0), flags, now);
    if (r)
        return r;
    if (len)
        toec_delack_answer(t, now);
    toec_runs_sent(s, t, seq + len + (fin != 0), now);
    t->snd_max = seq + len + (fin != 0);
    t->snd_nxt = t->snd_max;
    t->flags &=
        ~TOEC_F_CORK_T; /* the cork timer runs only while nothing is in flight, as in Linux */
    toec_pm_sent(t, t->snd_max, TOEC_MIN(len, (toec_u32)t->mss));
    toec_tlp_restart(s, t, now);
    if (short_tail(t, len))
        t->snd_sml = t->snd_max;
    /* until Fast Open's SYN-ACK is acknowledged, that segment is the one timed */
    if (!(t->flags & TOEC_F_RTT) && !(t->fo.flags & TOEC_FO_SYN)) {
        t->flags |= TOEC_F_RTT;
        t->rtt_seq = t->snd_max;
        t->rtt_start = (toec_u32)(now >> 10);
    }
    return 0;
}

/* Handles pending data with nothing in flight: starts the cork timer or the persist timer. */
static void idle_with_data(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (t->flags & TOEC_F_RTX)
        return;
    if (corked(t) && window_room(t) >= new_ready(t)) {
        if (!(t->flags & TOEC_F_CORK_T)) {
            t->flags |= TOEC_F_CORK_T;
            t->cork_at = toec_ticks(now) + TOEC_CORK_MAX;
            toec_due(s, t, t->cork_at, now);
        }
        return;
    }
    toec_persist_start(s, t, now); /* RFC 9293 3.8.6.1 */
}

/* What a step of output_data() returns beside the results of toec_emit(): it has sent a segment, so
 * that all is looked at again; or it does not apply. */
#define STEP_SENT  1
#define STEP_APART 2

/* A timeout has the first segment sent again, whatever the windows say. */
static int resend_head(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 start, end;
    int r;

    if (!(t->flags & TOEC_F_RTX_HEAD))
        return STEP_APART;
    if (!toec_next_rtx(t, 0, &start, &end, now)) {
        t->flags &= ~TOEC_F_RTX_HEAD;
        return STEP_APART;
    }
    r = send_again(s, t, start, end, now);
    return r ? r : STEP_SENT;
}

/* Marks rate samples of what is in flight as limited by the application. */
static void note_app_limited(struct toec_tcb *t)
{
    if (toec_rate_wanted(t) && toec_pipe(t) < t->cwnd)
        toec_rate_app_limited(t, toec_pipe(t));
}

/* There is neither new data nor anything to retransmit: the application is the limit. */
static int application_limited(struct toec_tcb *t, toec_u32 ready)
{
    if (ready || (t->flags & (TOEC_F_FAST | TOEC_F_SACKED)))
        return 0;
    t->flags &= ~TOEC_F_CWND_LIM;
    note_app_limited(t);
    return 1;
}

/* Pacing holds the next segment back. */
static int held_by_pace(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (!toec_pace_rate(t) || toec_pace_ready(s, t, now))
        return 0;
    if (t->cwnd > toec_pipe(t) + t->pace->quantum) /* ... and not the congestion window */
        t->flags &= ~TOEC_F_CWND_LIM;
    return 1;
}

/* Retransmits what is taken for lost (RFC 6675 5 (C)). */
static int resend_lost(struct toec_stack *s, struct toec_tcb *t, toec_u32 ready, toec_time now)
{
    toec_u32 start, end;
    int r;

    if (!(t->flags & (TOEC_F_FAST | TOEC_F_SACKED)) ||
        !toec_next_rtx(t, ready && window_room(t), &start, &end, now))
        return STEP_APART;
    r = send_again(s, t, start, end, now);
    return r ? r : STEP_SENT;
}

/* Sends new data as a probe of a larger path MTU (RFC 4821), when one is due. */
static int probe_path(struct toec_stack *s, struct toec_tcb *t, toec_u32 ready, toec_u32 room,
                      toec_time now)
{
    toec_u32 len = 0;
    int r;

    if (t->pm.low)
        len = toec_pm_probe(t, within_record(s, t, t->snd_max, ready), room, window_room(t), now);

    if (!len)
        return STEP_APART;
    t->pm.sending = 1;
    r = send_new(s, t, len, 0, 0, now);
    t->pm.sending = 0;
    if (r)
        return r;
    toec_pm_probed(s, t, len);
    return STEP_SENT;
}

/* Returns PSH for the last segment of a burst as Linux sets it, so that the receiver's GRO
 * delivers: what leaves together goes in parts of half the congestion window at most, and a part of
 * several segments ends with PSH. A segment that leaves alone has it at the end of a write only
 * (send_range()). `first`: number of the burst's first byte. */
static unsigned burst_push(const struct toec_tcb *t, toec_u32 len, toec_u32 room, toec_u32 first)
{
    toec_u32 left = t->snd_end - t->snd_max - len, mss = t->mss, part;

    if (len > mss)
        return TOEC_TH_PSH;
    if (t->snd_max == first)
        return 0;
    if (left && room - len >= mss && window_room(t) - len >= mss &&
        (left >= mss || may_send_small(t, left, 0)))
        return 0;             /* more follows */
    part = t->cwnd / mss / 2; /* NOLINT(clang-analyzer-core.DivideZero): as in new_len() */
    return part > 1 && (t->snd_max + len - first - 1) / mss % part ? TOEC_TH_PSH : 0;
}

/* Sends a segment of new data, or the FIN, as far as windows and Nagle allow. `first`: where the
 * new data of this burst begins. */
static int send_next(struct toec_stack *s, struct toec_tcb *t, toec_u32 room, toec_u32 first,
                     toec_time now)
{
    int fin, r;
    toec_u32 len = new_len(s, t, room, &fin);

    if (len == 0 && !fin) {
        if (t->snd_una == t->snd_max)
            idle_with_data(s, t, now);
        return 0;
    }
    r = send_new(s, t, len, fin, fin ? 0 : burst_push(t, len, room, first), now);
    return r ? r : STEP_SENT;
}

static int output_data(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 first = t->snd_max;
    int r;

    if (t->snd_una == t->snd_max && new_ready(t))
        toec_cc_restart(s, t, now);
    do {
        toec_u32 pipe, room, ready = new_ready(t);

        r = resend_head(s, t, now);
        if (r != STEP_APART)
            continue;
        if (application_limited(t, ready) || held_by_pace(s, t, now))
            return 0;
        pipe = toec_pipe(t);
        room = t->cwnd > pipe ? t->cwnd - pipe : 0;
        if (t->flags & (TOEC_F_FAST | TOEC_F_LOSS) && room < t->mss) { /* R6675-05 */
            t->flags |= TOEC_F_CWND_LIM;
            return 0;
        }
        r = resend_lost(s, t, ready, now);
        if (r != STEP_APART)
            continue;
        if (ready == 0) { /* ... and all that is lost has been sent again */
            note_app_limited(t);
            return 0;
        }
        t->flags &= ~TOEC_F_CWND_LIM;
        r = probe_path(s, t, ready, room, now);
        if (r == STEP_APART)
            r = send_next(s, t, room, first, now);
    } while (r == STEP_SENT);
    return r;
}

/* Sends what a persist timeout requires (RFC 9293 3.8.6.1): the data that fits a window too small
 * for SWS avoidance, one byte beyond a closed window, or the FIN when there is no data. RFC 9293
 * MUST-35, MUST-36. */
static int output_probe(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 end = t->snd_end + ((t->flags & TOEC_F_FIN) != 0);
    toec_u32 len = TOEC_SEQ_GT(end, t->snd_una) ? end - t->snd_una : 0;
    toec_u32 wnd = t->snd_wnd ? t->snd_wnd : 1;
    int r;

    if (len > wnd)
        len = wnd;
    if (len > t->mss)
        len = t->mss;
    len = within_record(s, t, t->snd_una, len);
    if (len) {
        r = send_range(s, t, t->snd_una, t->snd_una + len, 0, now);
        if (r)
            return r;
        if (TOEC_SEQ_GT(t->snd_una + len, t->snd_max)) {
            toec_runs_sent(s, t, t->snd_una + len, now);
            t->snd_max = t->snd_una + len;
        }
        if (t->snd_wnd == 0)
            toec_persist_start(s, t, now);
    }
    t->snd_nxt = t->snd_max;
    t->flags &= ~(TOEC_F_ZWIN | TOEC_F_RTT);
    return 0;
}

static int output_syn(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    int first = t->snd_max == t->iss, r;

    if (t->fo.flags & TOEC_FO_HOLD)
        return 0;
    if (t->snd_nxt != t->iss) {
        if (t->flags & TOEC_F_ACK_NOW)
            return toec_send_ack(s, t, now);
        return 0;
    }
    r = toec_emit_syn(s, t, now);
    if (r)
        return r;
    t->snd_nxt = t->snd_max = t->iss + 1 + t->fo.syn_len;
    /* R6298-06: of a retransmitted SYN the ACK is ambiguous, also if the peer's SYN caused it */
    t->rtt_start = first ? (toec_u32)(now >> 10) : 0;
    toec_rtx_start(s, t, now);
    return 0;
}

/* Sends the tail loss probe (RFC 8985 7.3): a segment of new data if the peer's window allows it,
 * regardless of the congestion window, else the last segment again. Either elicits a SACK. */
static int output_tail(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 out = t->snd_max - t->snd_una, len = new_ready(t), wnd = window_room(t);
    toec_u32 last = t->mss + (toec_u32)TOEC_SEQ_GT(t->snd_max, t->snd_end);
    toec_u32 start = out > last ? t->snd_max - last : t->snd_una;
    int r = 0, fin = 0;

    if (out == 0 || (t->flags & (TOEC_F_FAST | TOEC_F_LOSS))) {
        t->probe_owed = 0;
        return 0;
    }
    len = within_record(s, t, t->snd_max, len < wnd ? len : wnd);
    if (toec_pace_rate(t) && !toec_pace_ready(s, t, now))
        len = 0; /* pacing does not allow new data now */
    if (len > t->mss) {
        len = t->mss;
    } else if (len && TOEC_SEQ_GT(t->snd_max + len, t->snd_end)) {
        fin = 1;
        len--;
    }
    if (len || fin)
        r = send_new(s, t, len, fin, 0, now);
    else if (t->rare & TOEC_RARE_EOR)
        r = send_again(
            s, t,
            toec_eor_start(s, t, start,
                           TOEC_SEQ_LT(t->snd_max, t->snd_end) ? t->snd_max : t->snd_end),
            t->snd_max, now);
    else
        r = send_again(s, t, start, t->snd_max, now);
    if (r)
        return r;
    toec_tlp_sent(s, t, len == 0 && !fin, now);
    toec_rtx_start(s, t, now); /* the RTO restarts now */
    t->probe_owed = 0;
    return 0;
}

int toec_tcp_output(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    int r = 0;

    if (t->state < TOEC_ESTABLISHED)
        return output_syn(s, t, now);
    if (t->fo.flags & TOEC_FO_SYN) {
        r = toec_tfo_output(s, t, now);
        if (r)
            return r;
    }
    if (TOEC_UNLIKELY(t->pm.gen != s->pmtu.gen))
        toec_pm_sync(s, t);
    if (t->flags & TOEC_F_ZWIN)
        r = output_probe(s, t, now);
    if (r == 0 && t->probe_owed)
        r = output_tail(s, t, now);
    if (r == 0 && !(t->flags & TOEC_F_PERSIST))
        r = output_data(s, t, now);
    if (r == 0) {
        if (t->snd_max == t->snd_end)
            t->flags &= ~TOEC_F_UNCORK;
        if (t->flags & TOEC_F_PROBE) {
            /* RFC 9293 3.8.4: SEG.SEQ = SND.NXT-1 elicits an ACK */
            r = toec_emit(s, t, t->snd_una - 1, 0, TOEC_TH_ACK, now);
            if (r == 0)
                t->flags &= ~TOEC_F_PROBE;
        }
    }
    if (r == 0 && (t->flags & TOEC_F_ACK_NOW))
        r = toec_send_ack(s, t, now);
    return r;
}

int toec_send_ack(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    int r = toec_emit(s, t, toec_bare_seq(t), 0, TOEC_TH_ACK, now);

    if (r) {
        t->flags |= TOEC_F_ACK_NOW;
        toec_pend(s, t);
    }
    return r;
}
