/* SPDX-License-Identifier: Apache-2.0 */
/* tcpinfo.c - TCP_INFO from a flow record (docs/device-contract.md, flow records; tcp(7)). */
#include <string.h>

#include "record.h"
#include "tcpinfo.h"
#include "tsock.h"

/* Linux's numbers of the states, indexed by those of the flow record (order of RFC 9293 3.3.2). */
static const uint8_t linux_state[] = {
    7,  /* CLOSED */
    2,  /* SYN-SENT */
    3,  /* SYN-RECEIVED */
    1,  /* ESTABLISHED */
    4,  /* FIN-WAIT-1 */
    5,  /* FIN-WAIT-2 */
    8,  /* CLOSE-WAIT */
    11, /* CLOSING */
    9,  /* LAST-ACK */
    6,  /* TIME-WAIT */
};
#define LINUX_ESTABLISHED 1
#define LINUX_SYN_SENT    2
#define LINUX_CLOSE       7
#define LINUX_LISTEN      10

#define RECORD_TIMESTAMPS 1u
#define RECORD_SACK       2u
#define RECORD_WSCALE     4u
#define RECORD_ECN        8u
#define RECORD_ECN_SEEN   16u
#define RECORD_SYN_DATA   32u

#define INFINITE_SSTHRESH 0x7fffffffu /* as Linux before the first loss */

static void from_record(const struct toedev_flow_record *r, struct tcp_info *out)
{
    uint32_t mss = r->mss_send ? r->mss_send : 536;

    out->tcpi_state = r->state < sizeof linux_state ? linux_state[r->state] : (uint8_t)LINUX_CLOSE;
    out->tcpi_options = (r->opts & RECORD_TIMESTAMPS ? TCPI_OPT_TIMESTAMPS : 0) |
                        (r->opts & RECORD_SACK ? TCPI_OPT_SACK : 0) |
                        (r->opts & RECORD_WSCALE ? TCPI_OPT_WSCALE : 0) |
                        (r->opts & RECORD_ECN ? TCPI_OPT_ECN : 0) |
                        (r->opts & RECORD_ECN_SEEN ? TCPI_OPT_ECN_SEEN : 0) |
                        (r->opts & RECORD_SYN_DATA ? TCPI_OPT_SYN_DATA : 0);
    out->tcpi_snd_wscale = r->ws_send & 15;
    out->tcpi_rcv_wscale = r->ws_recv & 15;
    out->tcpi_rto = r->rto_us;
    out->tcpi_snd_mss = mss;
    out->tcpi_rcv_mss = r->mss_recv ? r->mss_recv : 536;
    out->tcpi_advmss = out->tcpi_rcv_mss;
    out->tcpi_pmtu = r->pmtu ? r->pmtu : mss + 40;
    out->tcpi_unacked = (r->in_flight + mss - 1) / mss;
    out->tcpi_rtt = r->srtt_us;
    out->tcpi_rttvar = r->rttvar_us;
    out->tcpi_min_rtt = r->min_rtt_us;
    /* Linux counts these two in segments. */
    out->tcpi_snd_cwnd = r->cwnd / mss ? r->cwnd / mss : 1;
    out->tcpi_snd_ssthresh = r->ssthresh / mss;
    if (r->ssthresh >= TOEDEV_SSTHRESH_NONE || !r->ssthresh)
        out->tcpi_snd_ssthresh = INFINITE_SSTHRESH;
    out->tcpi_rcv_space = r->rcv_wnd;
    out->tcpi_ca_state = r->ca_state;
    out->tcpi_retransmits = r->timeouts;
    out->tcpi_backoff = r->backoff;
    out->tcpi_sacked = (r->sacked + mss - 1) / mss;
    out->tcpi_lost = (r->lost + mss - 1) / mss;
    out->tcpi_retrans = (r->retrans_out + mss - 1) / mss;
    out->tcpi_reordering = r->reordering ? r->reordering : 3;
    out->tcpi_reord_seen = r->reord_seen;
    out->tcpi_dsack_dups = r->dsacks;
    out->tcpi_bytes_retrans = r->bytes_retrans;
    out->tcpi_snd_wnd = r->snd_wnd;
    out->tcpi_total_retrans = r->retransmits;
    out->tcpi_bytes_acked = r->bytes_acked;
    out->tcpi_bytes_received = r->bytes_received;
    out->tcpi_bytes_sent = r->bytes_sent;
    out->tcpi_delivery_rate = r->delivery_rate;
    out->tcpi_delivery_rate_app_limited = r->app_limited != 0;
    out->tcpi_pacing_rate = r->pacing_rate ? r->pacing_rate : UINT64_MAX; /* as Linux: no limit */
}

void tsock_tcp_info(const struct tsock *s, struct tcp_info *out)
{
    struct toedev_flow_record r;

    memset(out, 0, sizeof *out);
    out->tcpi_state = LINUX_CLOSE;
    switch ((enum tsock_state)s->state) {
    case TS_LISTEN:
        /* Linux reports the accept queue and its limit here. */
        out->tcpi_state = LINUX_LISTEN;
        out->tcpi_unacked = s->queued;
        out->tcpi_sacked = (uint32_t)(s->backlog < 0 ? SOMAXCONN : s->backlog);
        break;
    case TS_CONNECTING:
        out->tcpi_state = LINUX_SYN_SENT;
        break;
    case TS_OPEN:
    case TS_DEAD:
        out->tcpi_max_pacing_rate = s->opts.max_pacing ? s->opts.max_pacing : UINT64_MAX;
        if (tsock_record(s, &r))
            from_record(&r, out);
        if (s->abort) /* the TOE is about to reset it: refuse_data() */
            out->tcpi_state = LINUX_CLOSE;
        break;
    case TS_SHARED:
        if (s->flow)
            tsock_tcp_info(s->flow, out);
        else
            out->tcpi_state = LINUX_ESTABLISHED;
        break;
    case TS_NEW:
    case TS_FOREIGN:
        break;
    }
}
