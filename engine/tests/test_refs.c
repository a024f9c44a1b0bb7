/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_refs.c - payload by reference (refs.h) against a stream kept in one piece: random
 * references and copied bytes, acknowledged and looked at anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../device/tests/seed.h"
#include "frames/engine_state.h"
#include "frames/gso.h"
#include "hosts/refs.h"

#define SIZE  4096u
#define BYTES 200000u

static uint8_t stream[BYTES]; /* the bytes at the targets of references */
static uint8_t twin[BYTES];   /* the same somewhere else: so that not all of them join */
static struct engine engine;
static struct qp qp;
static struct slot slot;
static uint32_t origin, seed = 1;

static uint32_t random_below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static int set_up(void **state)
{
    (void)state;
    seed = (uint32_t)seed_of_run(1, UINT32_MAX);
    origin = 0;
    qp.engine = &engine;
    qp.cfg = (struct toedev_qp_config){.sw_entries = 64,
                                       .hw_entries = 64,
                                       .slots = 1,
                                       .tx_size = SIZE,
                                       .rx_size = SIZE,
                                       .addresses = 1};
    assert_int_equal(toedev_layout(&qp.cfg, &qp.layout), 0);
    qp.area = calloc(1, qp.layout.total);
    slot = (struct slot){.qp = &qp, .state = SLOT_OPEN};
    for (uint32_t i = 0; i < BYTES; i++)
        stream[i] = twin[i] = (uint8_t)random_below(256);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    refs_free(&slot);
    free(qp.area);
    free(engine.offload.gathered);
    engine.offload.gathered = NULL;
    return 0;
}

/* The next n bytes are announced: by reference, or from the buffer. */
static void announce(uint32_t n, int by_reference)
{
    uint32_t off = slot.una + slot.tx_used, at = off - origin;

    if (!by_reference || refs_add(&slot, off, (random_below(2) ? stream : twin) + at, n) != 0)
        for (uint32_t i = 0; i < n; i++)
            slot_tx(&slot)[(off + i) & (SIZE - 1)] = stream[at + i];
    slot.tx_used += n;
}

static void look(uint32_t from, uint32_t n)
{
    struct offload_payload p;
    uint8_t got[SIZE];
    uint32_t total = 0;

    refs_payload(&engine, &slot, slot.una + from, n, &p);
    assert_in_range(p.count, 1, NETIO_REFS_MAX);
    for (unsigned i = 0; i < p.count; i++)
        total += p.ref[i].len;
    assert_int_equal(total, n);
    gso_gather(got, &p, 0, n);
    assert_memory_equal(got, stream + (slot.una - origin) + from, n);
}

static void acknowledge(uint32_t n)
{
    slot.una += n;
    slot.tx_used -= n;
    if (slot.refs)
        refs_acked(&slot);
}

/* Offsets wrap in the middle of it. */
static void bytes_are_found_wherever_they_lie(void **state)
{
    (void)state;
    slot.una = origin = 0u - BYTES / 2;
    while (slot.una + slot.tx_used - origin < BYTES - SIZE) {
        uint32_t room = SIZE - slot.tx_used, n;

        if (room && random_below(3)) {
            n = 1 + random_below(room < 40 || random_below(30) == 0 ? room : 40);
            announce(n, random_below(4) != 0);
        }
        if (slot.tx_used) {
            n = random_below(slot.tx_used);
            look(n, 1 + random_below(slot.tx_used - n));
            if (random_below(20) == 0)
                acknowledge(random_below(slot.tx_used + 1));
        }
        if (random_below(500) == 0) {
            refs_settle(&slot);
            assert_false(refs_any(&slot));
            if (slot.tx_used)
                look(0, slot.tx_used);
        }
    }
    assert_true(engine.counters[EC_tx_gathered] > 0);
    acknowledge(slot.tx_used);
    assert_false(refs_any(&slot));
}

static void what_cannot_be_announced_is_refused(void **state)
{
    (void)state;
    slot.una = 100;
    assert_int_equal(refs_add(&slot, 99, stream, 1), -1);         /* acknowledged */
    assert_int_equal(refs_add(&slot, 100, stream, 0), -1);        /* nothing */
    assert_int_equal(refs_add(&slot, 100, stream, SIZE + 1), -1); /* more than there is room for */
    assert_int_equal(refs_add(&slot, 101 + SIZE, stream, 1), -1);
    assert_int_equal(refs_add(&slot, 110, stream, 10), 0);
    assert_int_equal(refs_add(&slot, 119, stream, 10), -1); /* over the one before */
    announce(30, 0);
    assert_int_equal(refs_add(&slot, 129, stream, 1), -1); /* announced already */
    slot.state = SLOT_CLOSING;
    assert_int_equal(refs_add(&slot, 130, stream, 1), -1);
}

static void references_are_bounded(void **state)
{
    uint32_t n = 0;

    (void)state;
    while (refs_add(&slot, 2 * n, stream + 3 * n, 2) == 0)
        n++;
    assert_int_equal(n, 1024);
    refs_drop(&slot);
    assert_int_equal(refs_add(&slot, 0, stream, 2), 0);
}

#define REFS_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REFS_TEST(bytes_are_found_wherever_they_lie),
        REFS_TEST(what_cannot_be_announced_is_refused),
        REFS_TEST(references_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
