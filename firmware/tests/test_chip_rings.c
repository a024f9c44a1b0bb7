/* SPDX-License-Identifier: Apache-2.0 */
/* test_chip_rings.c - the TOE's end of the chip's queue pair, against a host that writes its memory
 * by hand, well and badly (docs/device-contract.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <toe/chip.h>
#include <toe/cmd.h>
#include <toe/device.h>

#include "chip_rings.h"
#include "host.h"

#define PHASE 0x8000u
#define N     TOECHIP_ENTRIES

uint8_t test_area[TOECHIP_PAGE] __attribute__((aligned(64)));
static unsigned bells;
static uint64_t now;

void chip_ring_bell(void)
{
    bells++;
}

uint64_t host_now(void)
{
    return now;
}

static struct toedev_doorbells *doorbells(void)
{
    return (struct toedev_doorbells *)(void *)test_area;
}

static struct toedev_status *status(void)
{
    return (struct toedev_status *)(void *)(test_area + TOECHIP_STATUS);
}

static uint32_t *entry(uint32_t ring, uint32_t at)
{
    return (uint32_t *)(void *)(test_area + ring) + 4 * (at % N);
}

static uint32_t phase(uint32_t at)
{
    return at & N ? 0 : PHASE;
}

static int start(void **state)
{
    (void)state;
    memset(test_area, 0, sizeof(test_area));
    bells = 0;
    now = 0;
    rings_start();
    return 0;
}

/* Writes the next command. */
static void give(uint32_t type_aux, uint32_t flow, uint32_t arg0)
{
    uint32_t at = doorbells()->sw_head, *e = entry(TOECHIP_SW_RING, at);

    e[0] = type_aux | phase(at);
    e[1] = flow;
    e[2] = arg0;
    e[3] = 0;
    doorbells()->sw_head = at + 1;
}

static void check_event(uint32_t at, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3)
{
    const uint32_t *e = entry(TOECHIP_HW_RING, at);

    assert_int_equal(e[0], w0 | phase(at));
    assert_int_equal(e[1], w1);
    assert_int_equal(e[2], w2);
    assert_int_equal(e[3], w3);
    assert_int_equal(status()->hw_head, at + 1);
}

static void test_layout_is_the_contracts(void **state)
{
    const struct toedev_qp_config cfg = {TOECHIP_ENTRIES, TOECHIP_ENTRIES, TOECHIP_SLOTS,
                                         TOECHIP_TX,      TOECHIP_RX,      0};
    struct toedev_layout l;

    (void)state;
    assert_int_equal(toedev_layout(&cfg, &l), 0);
    assert_int_equal(l.doorbells, 0);
    assert_int_equal(l.status, TOECHIP_STATUS);
    assert_int_equal(l.sw_ring, TOECHIP_SW_RING);
    assert_int_equal(l.hw_ring, TOECHIP_HW_RING);
    assert_int_equal(l.records, TOECHIP_RECORDS);
    assert_int_equal(l.buffers, TOECHIP_BUFFERS);
    assert_int_equal(l.total, TOECHIP_PAGE);
}

static void test_commands_in_order_over_three_laps(void **state)
{
    uint32_t i;

    (void)state;
    for (i = 0; i < 3 * N; i++) {
        struct host_command c;

        assert_int_equal(rings_command(), 0);
        give(TOE_CMD_SEND | TOE_F_SEND_PUSH << 8, i % TOECHIP_SLOTS, i);
        assert_int_equal(rings_command(), 1);
        assert_int_equal(rings_command(), 1); /* it stays until it is done */
        host_command(&c);
        assert_int_equal(c.type, TOE_CMD_SEND);
        assert_int_equal(c.flags, TOE_F_SEND_PUSH);
        assert_int_equal(c.flow, i % TOECHIP_SLOTS);
        assert_int_equal(c.arg0, i);
        assert_int_equal(c.position, i);
        assert_int_equal(status()->sw_tail, i);
        host_done();
        assert_int_equal(status()->sw_tail, i + 1);
    }
    assert_int_equal(status()->halted, 0);
}

static void test_malformed_commands_are_refused(void **state)
{
    static const struct {
        uint32_t type, flags, flow, reason;
    } cases[] = {
        {0, 0, 0, TOE_R_NOSYS},
        {TOE_CMD_BIND, 0, 0, TOE_R_NOSYS},
        {TOE_CMD_PORT, 0, 0, TOE_R_NOSYS},
        {TOE_CMD_DATA_RECEIVED, 0, 0, TOE_R_NOSYS},
        {TOE_CMD_SEND, TOE_F_SEND_EOR, 0, TOE_R_INVAL},
        {TOE_CMD_RECV, 1, 0, TOE_R_INVAL},
        {TOE_CMD_SEND, 0, TOECHIP_SLOTS, TOE_R_BADF},
        {TOE_CMD_CLOSE, 0, 0xffffffffu, TOE_R_BADF},
        {TOE_CMD_LISTEN, TOE_F_LISTEN_V6, 0, TOE_R_INVAL},
        {TOE_CMD_CONNECT, TOE_F_CONNECT_V6, 0, TOE_R_INVAL},
    };
    uint32_t i, n = sizeof(cases) / sizeof(cases[0]);
    struct host_command c;

    (void)state;
    for (i = 0; i < n; i++)
        give(cases[i].type | cases[i].flags << 8, cases[i].flow, 7);
    give(TOE_CMD_UNLISTEN, 99, 0); /* not a slot: a listener's number */
    assert_int_equal(rings_command(), 1);
    host_command(&c);
    assert_int_equal(c.type, TOE_CMD_UNLISTEN);
    assert_int_equal(status()->sw_tail, n);
    assert_int_equal(status()->hw_head, n);
    for (i = 0; i < n; i++) {
        const uint32_t *e = entry(TOECHIP_HW_RING, i);

        assert_int_equal(e[0], TOE_CMD_ERROR | cases[i].reason << 16 | PHASE);
        assert_int_equal(e[1], cases[i].flow);
        assert_int_equal(e[2], i);
        assert_int_equal(e[3], cases[i].type);
    }
}

static void test_established_names_the_peer(void **state)
{
    const struct host_peer peer = {0xc0000201u, 4000, 80};
    const struct host_flow f = {0, 3};

    (void)state;
    assert_int_equal(host_event(f, TOE_CMD_LISTEN_ESTABLISHED, 0, 17, &peer), 0);
    check_event(0, TOE_CMD_LISTEN_ESTABLISHED | 4000u << 16, 3, 0xc0000201u, 17);
    assert_int_equal(host_event(f, TOE_CMD_CONNECT_ESTABLISHED, 18, 0, &peer), 0);
    check_event(1, TOE_CMD_CONNECT_ESTABLISHED | 80u << 16, 3, 18, 0);
    assert_int_equal(host_event(f, TOE_CMD_DATA_RECEIVED, 5, 0, 0), 0);
    check_event(2, TOE_CMD_DATA_RECEIVED, 3, 5, 0);
}

static void test_a_full_ring_takes_no_event_and_no_command(void **state)
{
    const struct host_flow f = {0, 0};
    uint32_t i;

    (void)state;
    for (i = 0; i < N; i++)
        assert_int_equal(host_event(f, TOE_CMD_DATA_RECEIVED, i + 1, 0, 0), 0);
    assert_int_equal(host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0), -1);
    give(TOE_CMD_RECV, 0, 1);
    assert_int_equal(rings_command(), 0);
    doorbells()->hw_tail = 1;
    assert_int_equal(rings_command(), 1);
    assert_int_equal(host_event(f, TOE_CMD_DATA_RECEIVED, 65, 0, 0), 0);
    check_event(N, TOE_CMD_DATA_RECEIVED, 0, 65, 0);
    assert_int_equal(status()->halted, 0);
}

static void check_halted(void)
{
    uint32_t head = status()->hw_head;

    assert_int_equal(status()->halted, TOE_R_PROTO);
    assert_int_equal(rings_broken(), 1);
    assert_int_equal(bells, 1);
    assert_int_equal(entry(TOECHIP_HW_RING, head - 1)[0] & 0xffff00ffu,
                     TOE_CMD_ERROR | TOE_R_PROTO << 16);
    give(TOE_CMD_RECV, 0, 1);
    assert_int_equal(rings_command(), 0);
    assert_int_equal(host_event((struct host_flow){0, 0}, TOE_CMD_DATA_RECEIVED, 1, 0, 0), -1);
    assert_int_equal(status()->hw_head, head);
}

static void test_a_head_too_far_halts(void **state)
{
    (void)state;
    doorbells()->sw_head = N + 1;
    assert_int_equal(rings_command(), 0);
    check_halted();
}

static void test_a_missing_entry_halts(void **state)
{
    (void)state;
    doorbells()->sw_head = 1;
    assert_int_equal(rings_command(), 0);
    check_halted();
}

static void test_a_tail_past_the_head_halts(void **state)
{
    (void)state;
    doorbells()->hw_tail = 1;
    give(TOE_CMD_RECV, 0, 1);
    assert_int_equal(rings_command(), 0);
    check_halted();
}

static void test_a_tail_that_goes_back_halts(void **state)
{
    const struct host_flow f = {0, 0};

    (void)state;
    assert_int_equal(host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0), 0);
    assert_int_equal(host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0), 0);
    doorbells()->hw_tail = 2;
    assert_int_equal(host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0), 0);
    doorbells()->hw_tail = 1;
    assert_int_equal(host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0), -1);
    check_halted();
}

static void test_an_arming_is_one_interrupt(void **state)
{
    const struct host_flow f = {0, 0};

    (void)state;
    host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0);
    assert_int_equal(bells, 0); /* not armed */
    doorbells()->irq_arm = 1;
    doorbells()->irq_seq = 1;
    host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0);
    host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0);
    assert_int_equal(bells, 1);
    doorbells()->irq_seq = 2;
    host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0);
    assert_int_equal(bells, 2);
}

static void test_moderation(void **state)
{
    const struct host_flow f = {0, 0};

    (void)state;
    doorbells()->irq_arm = 1;
    doorbells()->irq_seq = 1;
    doorbells()->irq_count = 3;
    doorbells()->irq_usec = 50;
    now = 1000;
    assert_int_equal(rings_interrupt_due(), UINT64_MAX);
    host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0);
    assert_int_equal(bells, 0);
    assert_int_equal(rings_interrupt_due(), 51000);
    now = 50999;
    rings_interrupt();
    assert_int_equal(bells, 0);
    now = 51000;
    rings_interrupt();
    assert_int_equal(bells, 1);
    assert_int_equal(rings_interrupt_due(), UINT64_MAX);
    doorbells()->irq_seq = 2;
    doorbells()->hw_tail = 1;
    host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0);
    host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0);
    assert_int_equal(bells, 1);
    host_event(f, TOE_CMD_DATA_RECEIVED, 1, 0, 0); /* the third */
    assert_int_equal(bells, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_layout_is_the_contracts, start),
        cmocka_unit_test_setup(test_commands_in_order_over_three_laps, start),
        cmocka_unit_test_setup(test_malformed_commands_are_refused, start),
        cmocka_unit_test_setup(test_established_names_the_peer, start),
        cmocka_unit_test_setup(test_a_full_ring_takes_no_event_and_no_command, start),
        cmocka_unit_test_setup(test_a_head_too_far_halts, start),
        cmocka_unit_test_setup(test_a_missing_entry_halts, start),
        cmocka_unit_test_setup(test_a_tail_past_the_head_halts, start),
        cmocka_unit_test_setup(test_a_tail_that_goes_back_halts, start),
        cmocka_unit_test_setup(test_an_arming_is_one_interrupt, start),
        cmocka_unit_test_setup(test_moderation, start),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
