/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe.c - the firmware of the hybrid TOE: core/ does all of TCP, this file connects it with frames,
 * hosts and time. One thread without interrupts: a round handles what waits, then the processor
 * sleeps until something does. An image links one of transmit_software.c, transmit_prototype.c and
 * transmit_complete.c, and one of receive_plain.c and receive_look.c.
 */
#include <stddef.h>

#include "soc.h"
#include "sum.h"
#include "toe.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int c, size_t n);

/* tests/fuzz/firmware.c has others, for a processor of 64 bits; so has the chip, whose memory is
 * smaller and whose main() is in chip_host.c. */
#ifndef STACK_SIZE
#define STACK_SIZE    221184u /* a multiple of 64 */
#define FIRMWARE_MAIN main
#endif
#ifndef RECORDS
#define RECORDS 8u /* of transmissions: flows with many segments in flight at once */
#endif
int FIRMWARE_MAIN(void);
#define BATCH 8u       /* commands of a round */
#define RETRY 1000000u /* ns until events are tried again that had no room */

struct toe toe;
/* toec_init() clears it. */
static uint8_t memory[STACK_SIZE] __attribute__((aligned(64), section(".noinit")));

/* ---- what core/ needs (toe/port.h): owner is a struct agent, listener_owner a struct group;
 * transmit_*.c have toec_port_transmit() ---- */

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    const struct agent *a = owner;

    (void)user;
    if (a->at.slot != NO_SLOT)
        receive_place(a->at, p, p_off, len, off);
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    return sum_bytes(p->data + p_off, len);
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    memcpy(dst, p->data + p_off, len);
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    struct agent *a = listen_pick(listener_owner, info->hash);

    (void)user;
    if (!a)
        return -1;
    out->owner = a;
    out->tx_size = toe.qps[a->at.qp].tx_size;
    out->rx_size = toe.qps[a->at.qp].rx_size;
    return 0;
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    (void)user;
    agent_event(owner, flow, ev, arg);
}

/* ---- start ---- */

static void octets(toec_u8 *to, uint32_t word, unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++)
        to[i] = (toec_u8)(word >> 8 * i);
}

static void number(toec_u8 *to, uint32_t v)
{
    toec_u8 b[4];
    unsigned i;

    octets(b, v, 4);
    for (i = 0; i < 4; i++)
        to[i] = b[3 - i];
}

static void configure(struct toec_config *cfg)
{
    uint32_t own = HOST->OWN;
    unsigned i;

    octets(cfg->mac, HOST->MAC_LOW, 4);
    octets(cfg->mac + 4, HOST->MAC_HIGH, 2);
    number(cfg->ip, HOST->IPV4);
    number(cfg->gateway, HOST->IPV4_GATEWAY);
    cfg->prefix_len = (toec_u8)(own & HYB_HOST_REGS__OWN__PREFIX_bm);
    cfg->mtu = HOST->MTU;
    cfg->cc = own & HYB_HOST_REGS__OWN__NEWRENO_bm ? TOEC_CC_NEWRENO : TOEC_CC_CUBIC;
    if (own & HYB_HOST_REGS__OWN__IP6_bm) {
        cfg->ip6 = TOEC_IP6_STATIC;
        cfg->ip6_prefix_len = (toec_u8)(own >> HYB_HOST_REGS__OWN__IP6_PREFIX_bp);
        for (i = 0; i < 4; i++) {
            octets(cfg->ip6_addr + 4 * i, HOST->IPV6[i], 4);
            octets(cfg->ip6_gateway + 4 * i, HOST->IPV6_GATEWAY[i], 4);
        }
    }
    for (i = 0; i < 8; i++)
        octets(cfg->secret + 4 * i, HOST->SECRET[i], 4);
    cfg->segments = transmit_segments;
    cfg->max_gso = transmit_burst;
    cfg->max_flows = FLOWS;
    cfg->max_records = RECORDS;
    cfg->max_listeners = GROUPS;
    cfg->max_time_wait = 64;
    cfg->max_neighbours = 16;
    cfg->max_datagrams = 1;
}

static void start(void)
{
    static struct toec_config cfg; /* too large for the stack */

    transmit_check();
    configure(&cfg);
    toe.now = host_now();
    toe.refresh_at = TOEC_NEVER;
    if (toec_size(&cfg) > STACK_SIZE) {
        soc_print_number((uint32_t)toec_size(&cfg));
        soc_fail(" bytes are needed for the stack: more than there are");
    }
    toe.stack = toec_init(memory, STACK_SIZE, &cfg, toe.now);
    if (!toe.stack)
        soc_fail("toec_init() refuses the configuration");
    HOST->READY = 1;
}

/* ---- rounds ---- */

/* At most all that RX buffers hold. With fewer, a round that sends leaves ACKs behind for each
 * segment that it sends, until the buffers overflow. */
static void take_frames(void)
{
    const uint8_t *data;
    uint32_t length;
    unsigned n, taken;

    for (n = 0; n < RECEIVE_MOST && (data = host_frame(&length)) != 0; n += taken) {
        taken = receive_frames(data, length);
        host_frame_end(taken);
    }
}

static void take_commands(void)
{
    unsigned n;

    for (n = 0; n < BATCH && (host_pending() & HOST_COMMAND); n++)
        manager_command();
}

/* Returns when the next round is due at the latest. */
static uint64_t round_of_work(void)
{
    uint64_t next;

    toe.now = host_now();
    if (host_pending() & HOST_QUEUE_PAIR)
        manager_queue_pairs();
    take_commands();
    take_frames();
    agents_reset();
    next = toec_poll(toe.stack, toe.now);
    report_refresh();
    if (report_flush() && toe.now + RETRY < next)
        next = toe.now + RETRY;
    return next < toe.refresh_at ? next : toe.refresh_at;
}

int FIRMWARE_MAIN(void)
{
    start();
    for (;;) {
        uint64_t next = round_of_work();

        if (!(host_pending() & (HOST_COMMAND | HOST_FRAME_IN | HOST_QUEUE_PAIR)) && next > toe.now)
            host_sleep(next);
    }
}
