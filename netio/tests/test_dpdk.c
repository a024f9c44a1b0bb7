/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dpdk.c - the dpdk back end over net_ring, whose ports receive the frames that they send.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <linux/pci_regs.h>
#include <rte_dev.h>

#include "../src/dpdk_pci.h"
#include "toe/netio.h"

#define BATCH 64u

static struct netio *open_ok(const char *spec)
{
    const struct netio_config cfg = {.ip = {10, 0, 0, 1}};
    char err[256] = "";
    struct netio *n = netio_open(spec, &cfg, err, sizeof(err));

    if (!n)
        fail_msg("%s: %s", spec, err);
    return n;
}

static void refused(const char *spec, const char *word)
{
    const struct netio_config cfg = {.ip = {10, 0, 0, 1}};
    char err[256] = "";

    assert_null(netio_open(spec, &cfg, err, sizeof(err)));
    if (!strstr(err, word))
        fail_msg("%s: '%s' does not say '%s'", spec, err, word);
}

/* Sends a frame of len bytes that begins with number. */
static int send_one(struct netio *n, uint32_t number, uint32_t len)
{
    struct netio_frame f;

    if (netio_tx_alloc(n, &f))
        return -1;
    assert_true(f.cap >= 1514);
    memset(f.data, (int)number, len);
    memcpy(f.data, &number, sizeof(number));
    f.len = len;
    f.flags = 0;
    netio_tx_submit(n, &f, 0);
    return 0;
}

/* Receives the pending frames, which must be numbered from `from`; returns their number. */
static uint32_t take_all(struct netio *n, uint32_t from, uint32_t len)
{
    struct netio_frame f[BATCH];
    uint32_t got = 0, number;
    unsigned count, i;

    while ((count = netio_rx(n, f, BATCH, 0)) > 0) {
        for (i = 0; i < count; i++, got++) {
            memcpy(&number, f[i].data, sizeof(number));
            assert_int_equal(number, from + got);
            assert_int_equal(f[i].len, len);
            assert_int_equal(f[i].data[len - 1], number & 0xff);
        }
        netio_rx_release(n, f, count);
    }
    return got;
}

static void what_is_sent_arrives(void **state)
{
    struct netio *n = open_ok("dpdk:net_ring0");
    struct netio_stats stats;
    struct netio_info info;
    uint32_t i, round;

    (void)state;
    netio_get_info(n, &info);
    assert_int_equal(info.mtu, 1500);
    assert_int_equal(info.queues, 1);
    assert_non_null(strstr(info.mode, "net_ring"));
    for (round = 0; round < 200; round++) { /* more than the number of frames */
        for (i = 0; i < 60; i++)
            assert_int_equal(send_one(n, round * 60 + i, 60 + round), 0);
        netio_tx_flush(n, 0);
        assert_int_equal(take_all(n, round * 60, 60 + round), 60);
    }
    netio_get_stats(n, &stats);
    assert_int_equal(stats.tx_frames, 12000);
    assert_int_equal(stats.rx_frames, 12000);
    assert_int_equal(stats.rx_dropped, 0);
    netio_close(n);
}

/* netio_tx_alloc() reports a full ring; submitted frames are sent later. */
static void a_full_ring_holds_back(void **state)
{
    struct netio *n = open_ok("dpdk:net_ring1");
    uint32_t sent = 0, got = 0;

    (void)state;
    while (send_one(n, sent, 100) == 0)
        sent++;
    assert_in_range(sent, 1000, 3000);
    assert_true(netio_next_event(n) != UINT64_MAX);
    while (got < sent) {
        uint32_t more = take_all(n, got, 100);

        assert_true(more > 0);
        got += more;
        netio_tx_flush(n, 0);
    }
    assert_int_equal(netio_next_event(n), UINT64_MAX);
    assert_int_equal(send_one(n, sent, 100), 0);
    netio_tx_flush(n, 0);
    assert_int_equal(netio_prepare_sleep(n), 1); /* one waits, and is not lost */
    assert_int_equal(take_all(n, sent, 100), 1);
    assert_int_equal(netio_prepare_sleep(n), 0);
    netio_close(n);
}

/* Header and references are sent in several segments and arrive as one frame. */
static void pieces_are_joined(void **state)
{
    static uint8_t bytes[60000];
    struct netio *n = open_ok("dpdk:net_ring2");
    struct netio_ref refs[3] = {{bytes, 1}, {bytes + 1, 30000}, {bytes + 30001, 29999}};
    struct netio_frame f;
    uint32_t i, round;

    (void)state;
    for (i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    assert_int_equal(netio_set_features(n, ~0u) & NETIO_O_SG, NETIO_O_SG);
    for (round = 0; round < 300; round++) {
        assert_int_equal(netio_tx_alloc(n, &f), 0);
        assert_true(f.flags & NETIO_F_SG);
        memset(f.data, 9, 54);
        f.len = 54;
        f.flags = 0;
        f.refs = refs;
        f.ref_count = 1 + round % 3;
        netio_tx_submit(n, &f, 0);
        netio_tx_flush(n, 0);
        assert_int_equal(netio_rx(n, &f, 1, 0), 1);
        assert_int_equal(f.len, 54 + (round % 3 == 0 ? 1 : round % 3 == 1 ? 30001 : 60000));
        assert_int_equal(f.data[53], 9);
        assert_memory_equal(f.data + 54, bytes, f.len - 54);
        netio_rx_release(n, &f, 1);
    }
    netio_close(n);
}

static void queues_are_used_once_and_of_one_port(void **state)
{
    struct netio *a = open_ok("dpdk:net_ring3,queues=2,queue=0");
    struct netio *b = open_ok("dpdk:net_ring3,queues=2,queue=1");
    struct netio_info info;

    (void)state;
    netio_get_info(b, &info);
    assert_int_equal(info.queues, 2);
    refused("dpdk:net_ring3,queues=2,queue=1", "in use already");
    refused("dpdk:net_ring3,queues=2,queue=2", "no queue 2");
    refused("dpdk:net_ring3,queues=1", "in use with 2");
    refused("dpdk:net_ring4,eal=-m 64;1", "once in a process");
    assert_int_equal(send_one(b, 1, 60), 0);
    netio_tx_flush(b, 0);
    assert_int_equal(take_all(a, 1, 60), 0);
    assert_int_equal(take_all(b, 1, 60), 1);
    netio_close(a);
    netio_close(b);
}

/* A quarter of the frames; the port continues with the rest. */
static void held_frames_are_left_alone_and_come_back(void **state)
{
    static struct netio_frame held[2000];
    struct netio *n = open_ok("dpdk:net_ring5");
    struct netio_info info;
    uint32_t i, number;

    (void)state;
    netio_get_info(n, &info);
    assert_in_range(info.hold_max, 1, 1999);
    for (i = 0; i <= info.hold_max; i++) {
        assert_int_equal(send_one(n, i, 100), 0);
        netio_tx_flush(n, 0);
        assert_int_equal(netio_rx(n, &held[i], 1, 0), 1);
        assert_int_equal(netio_rx_hold(n, &held[i]), i < info.hold_max ? 0 : -1);
    }
    netio_rx_release(n, &held[info.hold_max], 1);
    for (i = 0; i < 10000; i += 50) {
        for (number = i; number < i + 50; number++)
            assert_int_equal(send_one(n, number, 60), 0);
        netio_tx_flush(n, 0);
        assert_int_equal(take_all(n, i, 60), 50);
    }
    for (i = info.hold_max; i-- > 0;) {
        memcpy(&number, held[i].data, sizeof(number));
        assert_int_equal(number, i);
        assert_int_equal(held[i].data[99], i & 0xff);
        netio_rx_unhold(n, held[i].token);
    }
    assert_int_equal(send_one(n, 1, 60), 0);
    netio_tx_flush(n, 0);
    assert_int_equal(netio_rx(n, held, 1, 0), 1);
    assert_int_equal(netio_rx_hold(n, held), 0);
    netio_rx_unhold(n, held[0].token);
    netio_close(n);
}

static void a_removed_device_is_noticed(void **state)
{
    struct netio *a = open_ok("dpdk:net_ring6,queues=2,queue=0");
    struct netio *b = open_ok("dpdk:net_ring6,queues=2,queue=1");
    struct netio *other = open_ok("dpdk:net_ring7");
    struct netio_info info;
    char text[200] = "";

    (void)state;
    netio_get_info(a, &info);
    assert_true(info.tended);
    rte_dev_event_callback_process("net_ring6", RTE_DEV_EVENT_ADD);
    assert_int_equal(netio_tend(a, text, sizeof(text)), 0);
    rte_dev_event_callback_process("net_ring6", RTE_DEV_EVENT_REMOVE);
    assert_int_equal(netio_tend(a, text, sizeof(text)), -1);
    assert_non_null(strstr(text, "the interface is gone: the device net_ring6 was removed"));
    assert_int_equal(netio_tend(b, text, sizeof(text)), -1);
    assert_int_equal(netio_tend(other, text, sizeof(text)), 0);
    netio_close(other);
    netio_close(a);
    netio_close(b);
    a = open_ok("dpdk:net_ring6");
    assert_int_equal(netio_tend(a, text, sizeof(text)), 0);
    netio_close(a);
}

/* A configuration space with a list of these capabilities, 8 bytes each from 0x40. */
static void write_config(uint8_t *config, const uint8_t *ids, unsigned count)
{
    unsigned i;

    memset(config, 0, 256);
    config[PCI_STATUS] = count ? PCI_STATUS_CAP_LIST : 0;
    config[PCI_CAPABILITY_LIST] = 0x40;
    for (i = 0; i < count; i++) {
        config[0x40 + 8 * i] = ids[i];
        config[0x41 + 8 * i] = (uint8_t)(i + 1 < count ? 0x48 + 8 * i : 0);
    }
}

static void msix_is_found_in_the_list_of_capabilities(void **state)
{
    static const uint8_t with[] = {PCI_CAP_ID_PM, PCI_CAP_ID_MSI, PCI_CAP_ID_MSIX};
    static const uint8_t without[] = {PCI_CAP_ID_PM, PCI_CAP_ID_MSI};
    uint8_t config[256];

    (void)state;
    write_config(config, with, 3);
    assert_true(dpdk_pci_lists_msix(config, 256));
    write_config(config, without, 2);
    assert_false(dpdk_pci_lists_msix(config, 256));
    assert_true(dpdk_pci_lists_msix(config, 64)); /* cannot be known */
    config[0x49] = 0x40;                          /* a cycle */
    assert_false(dpdk_pci_lists_msix(config, 256));
    config[0x49] = 0xff; /* the list leaves the space */
    config[0xfc] = PCI_CAP_ID_PM;
    assert_false(dpdk_pci_lists_msix(config, 256));
    write_config(config, with, 0);
    config[0x40] = PCI_CAP_ID_MSIX; /* not announced in the status register */
    assert_false(dpdk_pci_lists_msix(config, 256));
    assert_true(dpdk_pci_lists_msix(config, 0));
    assert_true(dpdk_pci_has_msix("no:such:device"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_arrives),
        cmocka_unit_test(a_full_ring_holds_back),
        cmocka_unit_test(pieces_are_joined),
        cmocka_unit_test(queues_are_used_once_and_of_one_port),
        cmocka_unit_test(held_frames_are_left_alone_and_come_back),
        cmocka_unit_test(a_removed_device_is_noticed),
        cmocka_unit_test(msix_is_found_in_the_list_of_capabilities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
