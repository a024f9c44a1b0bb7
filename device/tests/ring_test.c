/* SPDX-License-Identifier: Apache-2.0 */
/* ring_test.c - rings and layout of the device contract: laps, phase, hostile counts, ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <toe/attach.h>
#include <toe/inline.h>
#include <toe/regs.h>
#include <toe/ring.h>

#define COUNT 64u

struct pair {
    struct toe_cmd entries[COUNT];
    uint32_t head, tail; /* shared */
    struct toe_ring_tx tx;
    struct toe_ring_rx rx;
};

static void pair_init(struct pair *p)
{
    memset(p, 0, sizeof(*p));
    toe_ring_tx_init(&p->tx, p->entries, COUNT, &p->tail);
    toe_ring_rx_init(&p->rx, p->entries, COUNT);
}

/* Sets both sides as if `position` commands had already passed. */
static void pair_advance(struct pair *p, uint32_t position)
{
    uint32_t lap_start = position & ~(COUNT - 1), i;

    p->tx.head = p->tx.tail = p->rx.tail = p->head = p->tail = position;
    for (i = 0; i < COUNT; i++) {
        uint32_t at = lap_start + i < position ? lap_start + i : lap_start + i - COUNT;

        p->entries[i].w[0] = toe_le64(toe_ring_phase(at, COUNT));
    }
}

static struct toe_cmd numbered(uint32_t n)
{
    return toe_cmd_make(TOE_CMD_SEND, TOE_F_SEND_PUSH, (uint16_t)n, n, ~n, n * 3);
}

static void assert_numbered(const struct toe_cmd *c, uint32_t n)
{
    assert_int_equal(toe_cmd_type(c), TOE_CMD_SEND);
    assert_int_equal(toe_cmd_flags(c), TOE_F_SEND_PUSH);
    assert_int_equal(toe_cmd_aux(c), (uint16_t)n);
    assert_int_equal(toe_cmd_flow(c), n);
    assert_int_equal(toe_cmd_arg0(c), ~n);
    assert_int_equal(toe_cmd_arg1(c), n * 3);
}

static void test_fields_stand_where_the_contract_says(void **state)
{
    static const uint8_t image[16] = {0x84, 0x05, 0x34, 0x12, 4,  3,  2,  1,
                                      8,    7,    6,    5,    12, 11, 10, 9};
    struct toe_cmd c =
        toe_cmd_make(TOE_CMD_DATA_RECEIVED, 5, 0x1234, 0x01020304, 0x05060708, 0x090a0b0c);
    uint8_t ip[4];

    (void)state;
    assert_memory_equal(&c, image, sizeof(image));
    assert_int_equal(toe_cmd_phase(&c), 0);
    toe_ip4_bytes(0x0a000001, ip);
    assert_memory_equal(ip, ((uint8_t[]){10, 0, 0, 1}), 4);
    assert_int_equal(toe_ip4_number(ip), 0x0a000001);
}

static void test_flags_do_not_reach_the_phase(void **state)
{
    struct toe_cmd c = toe_cmd_make(TOE_CMD_SEND, 0xff, 0, 0, 0, 0);

    (void)state;
    assert_int_equal(toe_cmd_phase(&c), 0);
    assert_int_equal(toe_cmd_flags(&c), 0x7f);
    assert_int_equal(toe_cmd_aux(&c), 0);
}

static void test_a_fresh_area_holds_no_command(void **state)
{
    struct pair p;
    struct toe_cmd c = numbered(0);

    (void)state;
    pair_init(&p);
    assert_int_equal(toe_ring_get(&p.rx, &c), 0);
    assert_int_equal(toe_ring_waiting(&p.rx, &p.head), 0);
    assert_int_equal(toe_ring_room(&p.tx), COUNT);
}

static void run_laps(struct pair *p, uint32_t rounds, unsigned seed)
{
    uint32_t put = p->tx.head, got = put, i;

    srand(seed);
    for (i = 0; i < rounds; i++) {
        uint32_t n = (uint32_t)rand() % (COUNT + 1), room = toe_ring_room(&p->tx);
        struct toe_cmd c = numbered(0);

        assert_int_equal(room, COUNT - (put - got));
        for (; n && room; n--, room--) {
            c = numbered(put++);
            toe_ring_put(&p->tx, &c);
        }
        toe_ring_store(&p->head, p->tx.head);
        assert_int_equal(toe_ring_waiting(&p->rx, &p->head), put - got);
        for (n = (uint32_t)rand() % (COUNT + 1); n && toe_ring_get(&p->rx, &c); n--)
            assert_numbered(&c, got++);
        toe_ring_store(&p->tail, p->rx.tail);
    }
    assert_true(put - got <= COUNT);
}

static void test_laps_keep_order_and_lose_nothing(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    run_laps(&p, 2000, 1);
}

static void test_counts_wrap_at_32_bits(void **state)
{
    struct pair p;

    (void)state;
    pair_init(&p);
    pair_advance(&p, UINT32_MAX - 3 * COUNT + 5);
    run_laps(&p, 200, 2);
    assert_true(p.tx.head < UINT32_MAX / 2); /* it has wrapped */
}

static void test_a_full_ring_has_no_room(void **state)
{
    struct pair p;
    struct toe_cmd c = numbered(0);
    uint32_t i;

    (void)state;
    pair_init(&p);
    for (i = 0; i < COUNT; i++) {
        assert_true(toe_ring_has_room(&p.tx));
        toe_ring_put(&p.tx, &c);
    }
    assert_false(toe_ring_has_room(&p.tx));
    assert_int_equal(toe_ring_room(&p.tx), 0);
    toe_ring_get(&p.rx, &c);
    toe_ring_store(&p.tail, p.rx.tail);
    assert_false(toe_ring_has_room(&p.tx)); /* as last read */
    assert_int_equal(toe_ring_room(&p.tx), 1);
    assert_true(toe_ring_has_room(&p.tx));
}

static void test_the_phase_tells_a_new_lap_from_an_old_one(void **state)
{
    struct pair p;
    struct toe_cmd c = numbered(0);
    uint32_t i;

    (void)state;
    pair_init(&p);
    for (i = 0; i < COUNT; i++) {
        c = numbered(i);
        toe_ring_put(&p.tx, &c);
    }
    for (i = 0; i < COUNT; i++)
        assert_int_equal(toe_ring_get(&p.rx, &c), 1);
    /* the next entry still holds position 0 */
    assert_int_equal(toe_ring_get(&p.rx, &c), 0);
    c = numbered(COUNT);
    toe_ring_put(&p.tx, &c);
    assert_int_equal(toe_ring_get(&p.rx, &c), 1);
    assert_numbered(&c, COUNT);
}

static void test_a_hostile_head_is_named_bad(void **state)
{
    static const uint32_t starts[] = {0, 5, UINT32_MAX - 7};
    struct pair p;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        uint32_t s = starts[i];

        pair_init(&p);
        pair_advance(&p, s);
        p.head = s + COUNT;
        assert_int_equal(toe_ring_waiting(&p.rx, &p.head), COUNT);
        p.head = s + COUNT + 1;
        assert_int_equal(toe_ring_waiting(&p.rx, &p.head), TOE_RING_BAD);
        p.head = s - 1;
        assert_int_equal(toe_ring_waiting(&p.rx, &p.head), TOE_RING_BAD);
        p.head = s + 0x80000000u;
        assert_int_equal(toe_ring_waiting(&p.rx, &p.head), TOE_RING_BAD);
    }
}

static void test_a_hostile_tail_is_named_bad(void **state)
{
    struct toe_cmd c = numbered(1);
    struct pair p;

    (void)state;
    pair_init(&p);
    pair_advance(&p, UINT32_MAX - 1);
    toe_ring_put(&p.tx, &c);
    toe_ring_put(&p.tx, &c);
    toe_ring_put(&p.tx, &c);
    p.tail = p.tx.head + 1; /* past our head */
    assert_int_equal(toe_ring_room(&p.tx), TOE_RING_BAD);
    p.tail = p.tx.head - 4; /* before the position already published */
    assert_int_equal(toe_ring_room(&p.tx), TOE_RING_BAD);
    p.tail = p.tx.head - 1;
    assert_int_equal(toe_ring_room(&p.tx), COUNT - 1);
    p.tail = p.tx.head - 2; /* back again */
    assert_int_equal(toe_ring_room(&p.tx), TOE_RING_BAD);
}

static struct toedev_qp_config good_config(void)
{
    return (struct toedev_qp_config){.sw_entries = 1024,
                                     .hw_entries = 4096,
                                     .slots = 1024,
                                     .tx_size = 65536,
                                     .rx_size = 65536,
                                     .addresses = 16};
}

static void test_the_layout_has_no_overlap(void **state)
{
    struct toedev_qp_config c = good_config();
    struct toedev_layout l;

    (void)state;
    assert_int_equal(toedev_layout(&c, &l), 0);
    assert_int_equal(l.doorbells, 0);
    assert_int_equal(l.status, TOEDEV_PAGE);
    assert_int_equal(l.sw_ring, 2 * TOEDEV_PAGE);
    assert_int_equal(l.hw_ring, l.sw_ring + 1024ul * 16);
    assert_int_equal(l.records, l.hw_ring + 4096ul * 16);
    assert_int_equal(l.addresses, l.records + 1024ul * TOEDEV_RECORD);
    assert_int_equal(l.buffers, l.addresses + TOEDEV_PAGE); /* 16 * 64 rounded up */
    assert_int_equal(toedev_tx_offset(&c, &l, 1), l.buffers + 131072);
    assert_int_equal(toedev_rx_offset(&c, &l, 1), l.buffers + 131072 + 65536);
    assert_int_equal(toedev_rx_offset(&c, &l, 1023) + 65536, l.total);
}

/* Flows that have moved as many bytes are of different sets of a cache, and still within it. */
static void test_buffers_inside_do_not_begin_alike(void **state)
{
    struct toedev_qp_config c = good_config();
    struct toedev_layout l, shared;
    uint32_t i, same = 0;

    (void)state;
    assert_int_equal(toedev_layout(&c, &shared), 0);
    assert_int_equal(toedev_layout_inside(&c, &l), 0);
    assert_int_equal(l.buffers, shared.buffers);
    for (i = 1; i < c.slots; i++) {
        assert_true(toedev_tx_offset(&c, &l, i) >= toedev_rx_offset(&c, &l, i - 1) + c.rx_size);
        assert_int_equal(toedev_tx_offset(&c, &l, i) % 64, 0);
        same += toedev_tx_offset(&c, &l, i) % 65536 == toedev_tx_offset(&c, &l, 0) % 65536;
    }
    assert_int_equal(same, 0);
    assert_true(toedev_rx_offset(&c, &l, c.slots - 1) + c.rx_size <= l.total);
    c.slots = 3;
    assert_int_equal(toedev_layout_inside(&c, &l), -1);
}

/* libtoe and the engine that it loads each compute the layout and may be of different releases: a
 * changed layout needs a new version. */
static void test_the_layout_inside_is_of_this_version(void **state)
{
    struct toedev_qp_config c = good_config();
    struct toedev_layout l;

    (void)state;
    assert_int_equal(toedev_layout_inside(&c, &l), 0);
    assert_int_equal(toedev_tx_offset(&c, &l, 2), l.buffers + 2 * (131072 + 64));
    assert_int_equal(toedev_rx_offset(&c, &l, 2), l.buffers + 2 * (131072 + 64) + 65536);
    assert_int_equal(TOEDEV_INLINE_VERSION, 8);
}

static void test_the_largest_layout_does_not_overflow(void **state)
{
    struct toedev_qp_config c = good_config();
    struct toedev_layout l;

    (void)state;
    c.slots = TOEDEV_SLOTS_MAX;
    c.tx_size = c.rx_size = TOEDEV_BUFFER_MAX;
    assert_int_equal(toedev_layout(&c, &l), 0);
    assert_true(l.total == l.buffers + ((uint64_t)TOEDEV_SLOTS_MAX << 25));
}

static void assert_refused(size_t field, uint32_t value)
{
    struct toedev_qp_config c = good_config();
    struct toedev_layout l;

    memcpy((uint8_t *)&c + field, &value, sizeof(value));
    assert_int_equal(toedev_layout(&c, &l), -1);
}

static void test_the_layout_refuses_what_is_out_of_range(void **state)
{
    struct toedev_qp_config c = good_config();
    struct toedev_layout l;

    (void)state;
    assert_refused(offsetof(struct toedev_qp_config, sw_entries), 32);
    assert_refused(offsetof(struct toedev_qp_config, sw_entries), 131072);
    assert_refused(offsetof(struct toedev_qp_config, sw_entries), 1000);
    assert_refused(offsetof(struct toedev_qp_config, hw_entries), 0);
    assert_refused(offsetof(struct toedev_qp_config, hw_entries), 2097152);
    assert_refused(offsetof(struct toedev_qp_config, slots), 0);
    assert_refused(offsetof(struct toedev_qp_config, slots), 2097152);
    assert_refused(offsetof(struct toedev_qp_config, slots), 3);
    assert_refused(offsetof(struct toedev_qp_config, tx_size), 512);
    assert_refused(offsetof(struct toedev_qp_config, tx_size), 33554432);
    assert_refused(offsetof(struct toedev_qp_config, rx_size), 65535);
    assert_refused(offsetof(struct toedev_qp_config, rx_size), UINT32_MAX);
    assert_refused(offsetof(struct toedev_qp_config, addresses), 8192);
    c.addresses = 0;
    assert_int_equal(toedev_layout(&c, &l), 0);
    assert_int_equal(l.addresses, l.buffers);
}

static void test_registers_and_memory_agree_on_the_doorbells(void **state)
{
    (void)state;
    assert_int_equal(offsetof(toe_regs_t, DOORBELLS), TOEDEV_PAGE);
    assert_int_equal(sizeof(toe_regs__DOORBELLSx__stride1000_t), sizeof(struct toedev_doorbells));
    assert_int_equal(offsetof(toe_regs__DOORBELLSx__stride1000_t, HW_TAIL),
                     offsetof(struct toedev_doorbells, hw_tail));
    assert_int_equal(offsetof(toe_regs__DOORBELLSx__stride1000_t, IRQ_ARM),
                     offsetof(struct toedev_doorbells, irq_arm));
    assert_int_equal(offsetof(toe_regs__DOORBELLSx__stride1000_t, IRQ_SEQ),
                     offsetof(struct toedev_doorbells, irq_seq));
    assert_int_equal(offsetof(toe_regs__DOORBELLSx__stride1000_t, IRQ_COUNT),
                     offsetof(struct toedev_doorbells, irq_count));
    assert_int_equal(offsetof(toe_regs__DOORBELLSx__stride1000_t, IRQ_USEC),
                     offsetof(struct toedev_doorbells, irq_usec));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_stand_where_the_contract_says),
        cmocka_unit_test(test_flags_do_not_reach_the_phase),
        cmocka_unit_test(test_a_fresh_area_holds_no_command),
        cmocka_unit_test(test_laps_keep_order_and_lose_nothing),
        cmocka_unit_test(test_counts_wrap_at_32_bits),
        cmocka_unit_test(test_a_full_ring_has_no_room),
        cmocka_unit_test(test_the_phase_tells_a_new_lap_from_an_old_one),
        cmocka_unit_test(test_a_hostile_head_is_named_bad),
        cmocka_unit_test(test_a_hostile_tail_is_named_bad),
        cmocka_unit_test(test_the_layout_has_no_overlap),
        cmocka_unit_test(test_buffers_inside_do_not_begin_alike),
        cmocka_unit_test(test_the_layout_inside_is_of_this_version),
        cmocka_unit_test(test_the_largest_layout_does_not_overflow),
        cmocka_unit_test(test_the_layout_refuses_what_is_out_of_range),
        cmocka_unit_test(test_registers_and_memory_agree_on_the_doorbells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
