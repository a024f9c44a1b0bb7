/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_look.c - frames of which hyb_look.sv has read the headers and verified the checksums, for
 * core/: a usual segment as fields, for the flow that the last segment with its hash was for. The
 * processor then reads nothing of the frame but the peer's address. All others go to toec_input(),
 * with the checksums that are verified. Of the complete configuration.
 */
#include "toe.h"

#define IP_ADDRESSES4 26u /* in a frame */
#define IP_ADDRESSES6 22u
#define HEADER4       34u
#define HEADER6       54u

/* Gives the segment to the flow of the agent. Returns 0; or -1: it is another one's. */
static int give(struct agent *a, const struct toec_packet *p, const volatile struct host_look *l,
                uint32_t facts)
{
    uint32_t lengths = l->lengths, fields = l->fields, ports = l->ports;
    uint32_t v6 = facts & HOST_V6;
    struct toec_rx_segment g;

    g.pkt = p;
    g.remote = p->data + (v6 ? IP_ADDRESSES6 : IP_ADDRESSES4);
    g.local = g.remote + (v6 ? 16 : 4);
    g.header = p->data + (v6 ? HEADER6 : HEADER4);
    g.seq = l->seq;
    g.ack = l->ack;
    g.ts_val = l->ts_val;
    g.ts_ecr = l->ts_ecr;
    g.off = lengths & 0xff;
    g.len = lengths >> 8 & 0xfff;
    g.remote_port = (uint16_t)ports;
    g.local_port = (uint16_t)(ports >> 16);
    g.wnd = (uint16_t)(fields >> 16);
    g.flags = (uint8_t)fields;
    g.tos = (uint8_t)(facts >> 8);
    g.v6 = v6 != 0;
    g.stamps = (facts & HOST_STAMPS) != 0;
    return toec_input_flow(toe.stack, a->flow, &g, toe.now);
}

void receive_frame(const uint8_t *data, uint32_t length)
{
    const volatile struct host_look *l = host_look();
    uint32_t facts = l->facts;
    struct toec_packet p = {data, length, length, 0, 0};
    struct agent **expected = &toe.expected[facts >> 16 & 0xff];

    if (facts & HOST_USUAL) {
        if (*expected && (*expected)->flow && give(*expected, &p, l, facts) == 0)
            return;
        toe.active = 0;
    }
    if (facts & HOST_IP_SUM)
        p.flags |= TOEC_RX_IP_CSUM_OK;
    if (facts & HOST_SUM)
        p.flags |= TOEC_RX_L4_CSUM_OK;
    toec_input(toe.stack, &p, toe.now);
    /* The flow of its segment, if it had an event. */
    if ((facts & HOST_USUAL) && toe.active)
        *expected = toe.active;
}
