/* SPDX-License-Identifier: Apache-2.0 */
/* reach.c - see reach.h. */
#include "reach.h"

static void syn_received(struct talk *t)
{
    struct tseg g;

    craft_start(&t->s);
    sim_listen(&t->s, 0, t->own_port, 0, 0);
    g = talk_seg(t, F_SYN, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    craft_say(&t->s, &g);
    g = craft_expect(&t->s);
    t->iss = g.seq;
    t->c = t->s.host[0].conns;
}

static void syn_sent(struct talk *t)
{
    struct tseg g;

    talk_connect(t);
    craft_poll(&t->s);
    g = craft_expect(&t->s);
    t->iss = g.seq;
}

/* The program closes; the peer has not answered yet. */
static void fin_wait(struct place *p)
{
    conn_close(p->t.c);
    craft_poll(&p->t.s);
    p->ack = 1;
}

static void peer_closes(struct place *p, uint32_t ack)
{
    talk_say(&p->t, F_FIN | F_ACK, p->seq, ack, 0);
    p->seq++;
}

void reach(struct place *p, enum toec_state state)
{
    reach_as(p, state, 0);
}

void reach_as(struct place *p, enum toec_state state, unsigned rfc1337)
{
    struct talk *t = &p->t;

    talk_init(t);
    t->s.host[0].cfg.rfc1337 = rfc1337;
    p->seq = p->ack = 0;
    if (state == TOEC_SYN_SENT)
        syn_sent(t);
    else if (state == TOEC_SYN_RECEIVED)
        syn_received(t);
    else
        talk_passive(t);
    switch (state) {
    case TOEC_FIN_WAIT_1:
        fin_wait(p);
        break;
    case TOEC_FIN_WAIT_2:
        fin_wait(p);
        talk_say(t, F_ACK, 0, 1, 0);
        break;
    case TOEC_CLOSE_WAIT:
        peer_closes(p, 0);
        break;
    case TOEC_CLOSING:
        fin_wait(p);
        peer_closes(p, 0);
        break;
    case TOEC_LAST_ACK:
        peer_closes(p, 0);
        fin_wait(p);
        break;
    case TOEC_TIME_WAIT:
        fin_wait(p);
        peer_closes(p, 1);
        break;
    default:
        break;
    }
    craft_pass(&t->s, 100 * MSEC); /* ACKs that may be delayed */
    talk_skip(t);
    assert_int_equal(place_state(p), state);
}

enum toec_state place_state(struct place *p)
{
    const struct conn *c = p->t.c;
    struct toec_usage u;
    struct toec_info i;

    if (c->flow) {
        toec_flow_info(c->host->stack, c->flow, &i);
        return (enum toec_state)i.state;
    }
    toec_usage(c->host->stack, &u);
    if (u.half_open)
        return TOEC_SYN_RECEIVED; /* its flow is not reported before it is established */
    return u.time_wait ? TOEC_TIME_WAIT : TOEC_CLOSED;
}

void strike(struct place *p, unsigned flags, int64_t seq, int64_t ack, uint32_t len)
{
    talk_say(&p->t, flags, p->seq + (uint32_t)seq, p->ack + (uint32_t)ack, len);
}

void place_end(struct place *p)
{
    talk_end(&p->t);
}
