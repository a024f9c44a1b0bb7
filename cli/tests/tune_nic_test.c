/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune_nic_test.c - which settings `toehold tune` tries, and what it writes to a driver. ioctl() is
 * that of a made-up card: with interrupt moderation, which virtual interfaces do not have.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../tune/settings.h"

/* ---- a card ---- */

enum { F_SG, F_CSUM, F_TSO, F_TSO6, F_GSO, F_GRO, F_GRO_LIST, F_RXCSUM, F_LRO, F_COUNT };

static const char *const names[F_COUNT] = {"tx-scatter-gather",
                                           "tx-checksum-ip-generic",
                                           "tx-tcp-segmentation",
                                           "tx-tcp6-segmentation",
                                           "tx-generic-segmentation",
                                           "rx-gro",
                                           "rx-gro-list",
                                           "rx-checksum",
                                           "rx-lro"};

static struct {
    uint32_t available, requested, never;
    struct ethtool_coalesce coalesce;
    bool has_ethtool, has_coalesce, permitted;
    unsigned feature_writes, coalesce_writes;
} card;

static void reset_card(void)
{
    memset(&card, 0, sizeof card);
    card.available = (1u << F_COUNT) - 1 - (1u << F_LRO);
    card.requested = card.available & ~(1u << F_GRO_LIST);
    card.coalesce.rx_coalesce_usecs = 3;
    card.coalesce.use_adaptive_rx_coalesce = 1;
    card.coalesce.tx_coalesce_usecs = 77;
    card.has_ethtool = card.has_coalesce = card.permitted = true;
}

/* As in the kernel, segmentation needs checksums and scatter-gather. */
static uint32_t active(void)
{
    uint32_t on = card.requested, needed = 1u << F_SG | 1u << F_CSUM;

    if ((on & needed) != needed)
        on &= ~(1u << F_TSO | 1u << F_TSO6);
    return on;
}

static int give_names(struct ethtool_gstrings *s)
{
    size_t i;

    for (i = 0; i < F_COUNT; i++)
        strncpy((char *)s->data + i * ETH_GSTRING_LEN, names[i], ETH_GSTRING_LEN);
    return 0;
}

static int set_features(const struct ethtool_sfeatures *s)
{
    if (!card.permitted) {
        errno = EPERM;
        return -1;
    }
    assert_int_equal(s->size, 1);
    assert_int_equal(s->features[0].valid & ~card.available, 0);
    card.feature_writes += s->features[0].valid != 0;
    card.requested = (card.requested & ~s->features[0].valid) |
                     (s->features[0].requested & s->features[0].valid);
    return 0;
}

static int coalesce(struct ethtool_coalesce *c)
{
    if (!card.has_coalesce) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (c->cmd == ETHTOOL_GCOALESCE) {
        *c = card.coalesce;
        return 0;
    }
    card.coalesce_writes++;
    card.coalesce = *c;
    return 0;
}

static int answer(void *command)
{
    switch (*(uint32_t *)command) {
    case ETHTOOL_GSSET_INFO:
        ((struct ethtool_sset_info *)command)->data[0] = F_COUNT;
        return 0;
    case ETHTOOL_GSTRINGS:
        return give_names(command);
    case ETHTOOL_GFEATURES: {
        struct ethtool_gfeatures *g = command;

        g->features[0].available = card.available;
        g->features[0].requested = card.requested;
        g->features[0].active = active();
        g->features[0].never_changed = card.never;
        return 0;
    }
    case ETHTOOL_SFEATURES:
        return set_features(command);
    default:
        return coalesce(command);
    }
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);
int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
    assert_true(fd >= 0);
    assert_int_equal(request, SIOCETHTOOL);
    if (card.has_ethtool)
        return answer(((struct ifreq *)arg)->ifr_data);
    errno = EOPNOTSUPP;
    return -1;
}

/* ---- reading and writing ---- */

static struct tune_facts facts;
static struct tune_settings settings;

/* "lo" exists in every network namespace; all that is read of it is the card's. */
static void read_facts(void)
{
    static const struct tune_buffers buffers = {{4096, 131072, 6291456}, {4096, 16384, 4194304}};

    memset(&facts, 0, sizeof facts);
    nic_read("lo", &facts.state.nic);
    facts.state.buffers = buffers;
    facts.buffers_permitted = true;
}

static const struct tune_setting *find(const char *name)
{
    size_t i;

    for (i = 0; i < settings.count; i++)
        if (!strcmp(settings.all[i].name, name))
            return &settings.all[i];
    fail_msg("no setting %s", name);
    return NULL;
}

static void collect(const char *words)
{
    char unknown[40];
    uint32_t mask, named;

    assert_true(tune_parse_words(words, &mask, &named, unknown, sizeof unknown));
    tune_collect(&facts, mask, &settings);
}

static void test_what_a_card_has(void **state)
{
    const struct nic *nic = &facts.state.nic;

    (void)state;
    reset_card();
    read_facts();
    assert_true(nic->exists && nic->permitted && nic->moderates && nic->adaptive);
    assert_int_equal(nic->rx_usecs, 3);
    assert_true(nic_changeable(nic, NIC_TSO) && nic_active(nic, NIC_TSO));
    assert_true(nic_changeable(nic, NIC_GRO) && nic_active(nic, NIC_GRO));
    assert_false(nic_changeable(nic, NIC_LRO) || nic_active(nic, NIC_LRO));
    card.never = 1u << F_GSO;
    read_facts();
    assert_false(nic_changeable(nic, NIC_GSO));
}

/* Every setting is written, and undone to the bit. */
static void test_each_setting_is_undone(void **state)
{
    struct tune_state target;
    const char *what;
    struct nic now;
    size_t i;

    (void)state;
    reset_card();
    read_facts();
    collect("offloads,rx-usecs");
    assert_int_equal(settings.count, 1 + 6 + 4);
    for (i = 1; i < settings.count; i++) {
        tune_target(&facts.state, &settings.all[i], &target);
        assert_true(nic_write(&target.nic, &what));
        assert_true(nic_read("lo", &now));
        assert_false(nic_same(&now, &facts.state.nic, &what));
        assert_true(nic_write(&facts.state.nic, &what));
        assert_true(nic_read("lo", &now));
        assert_true(nic_same(&now, &facts.state.nic, &what));
        assert_int_equal(card.requested, card.available & ~(1u << F_GRO_LIST));
        assert_int_equal(card.coalesce.use_adaptive_rx_coalesce, 1);
        assert_int_equal(card.coalesce.rx_coalesce_usecs, 3);
        assert_int_equal(card.coalesce.tx_coalesce_usecs, 77);
    }
    assert_int_equal(card.feature_writes, 2 * 6);
    assert_int_equal(card.coalesce_writes, 2 * 4);
}

/* Some drivers reset the link for a write: what is set already is not written. */
static void test_nothing_is_written_twice(void **state)
{
    const char *what;

    (void)state;
    reset_card();
    read_facts();
    assert_true(nic_write(&facts.state.nic, &what));
    assert_int_equal(card.feature_writes + card.coalesce_writes, 0);
}

static void test_moderation_is_fixed_while_it_is_tried(void **state)
{
    struct tune_state target;
    const char *what;

    (void)state;
    reset_card();
    read_facts();
    collect("rx-usecs");
    tune_target(&facts.state, find("rx-usecs 100"), &target);
    assert_true(nic_write(&target.nic, &what));
    assert_int_equal(card.coalesce.use_adaptive_rx_coalesce, 0);
    assert_int_equal(card.coalesce.rx_coalesce_usecs, 100);
    assert_int_equal(card.coalesce.tx_coalesce_usecs, 77);
}

static void test_another_interface_by_the_name(void **state)
{
    const char *what;

    (void)state;
    reset_card();
    read_facts();
    facts.state.nic.count--;
    assert_false(nic_write(&facts.state.nic, &what));
    assert_int_equal(errno, ESTALE);
    assert_int_equal(card.feature_writes, 0);
}

/* ---- what is left out ---- */

static const char *why_not(const char *what)
{
    size_t i;

    for (i = 0; i < settings.left_out_count; i++)
        if (!strcmp(settings.left_out[i].what, what))
            return settings.left_out[i].why;
    fail_msg("%s is not left out", what);
    return NULL;
}

static void test_reasons(void **state)
{
    (void)state;
    reset_card();
    read_facts();
    collect("offloads");
    assert_string_equal(why_not("lro"), "fixed by the driver");
    card.has_coalesce = false;
    read_facts();
    collect("rx-usecs");
    assert_string_equal(why_not("rx-usecs"), "the driver has no interrupt moderation");
    card.permitted = false;
    read_facts();
    collect("tso");
    assert_non_null(strstr(why_not("tso"), "CAP_NET_ADMIN"));
    card.has_ethtool = false;
    read_facts();
    assert_int_equal(errno, EOPNOTSUPP);
    collect("tso");
    assert_string_equal(why_not("tso"), "the interface has no ethtool settings");
    facts.buffers_permitted = false;
    collect("buffers");
    assert_non_null(strstr(why_not("buffers"), "read-only"));
    facts.no_place[TUNE_TOED] = "no toed answers";
    collect("toed,moderation");
    assert_string_equal(why_not("toed"), "no toed answers");
    assert_string_equal(why_not("moderation"), "no TOE is tried here");
    assert_int_equal(settings.count, 1);
}

static void test_words(void **state)
{
    static const char *const wrong[] = {"",   ",",    "tso,",    ",tso",    "TSO",
                                        "ts", "tsoo", "tso gro", "offload", "kernel"};
    char unknown[40];
    uint32_t mask, tso, named;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(tune_parse_words(wrong[i], &mask, &named, unknown, sizeof unknown));
    assert_true(tune_parse_words("offloads", &mask, &named, unknown, sizeof unknown));
    assert_int_equal(mask, (1u << NIC_WORDS) - 1);
    assert_true(tune_parse_words("tso", &tso, &named, unknown, sizeof unknown));
    assert_int_equal(tso, 1u << NIC_TSO);
    assert_true(
        tune_parse_words("moderation,tso,tso,offloads", &mask, &named, unknown, sizeof unknown));
    assert_int_equal(mask, ((1u << NIC_WORDS) - 1) | 1u << TUNE_W_MODERATION);
    assert_int_equal(named, tso | 1u << TUNE_W_MODERATION);
}

/* ---- the TOE's settings, buffers, combinations ---- */

static void test_settings_of_the_toe(void **state)
{
    struct tune_state target;

    (void)state;
    reset_card();
    read_facts();
    facts.state.toe.count = 2;
    strcpy(facts.state.toe.offloads[0].word, "gro");
    facts.state.toe.offloads[0].requested = true;
    strcpy(facts.state.toe.offloads[1].word, "tso");
    facts.state.toe.offloads[1].fixed = true;
    collect("toed,moderation,gro,tso");
    assert_int_equal(find("toed")->place, TUNE_TOED);
    assert_string_equal(find("toed, irq-usec 50")->variable[1], "TOEHOLD_IRQ_USEC=50");
    tune_target(&facts.state, find("toed, gro off"), &target);
    assert_false(target.toe.offloads[0].requested);
    assert_int_equal(settings.count, 1 + 1 + 2 + 3 + 1);
    /* without toed, the next place has the variants */
    facts.no_place[TUNE_TOED] = "none";
    collect("toed,inline,moderation");
    assert_int_equal(find("inline, irq-usec 250")->place, TUNE_INLINE);
}

static void test_buffers(void **state)
{
    struct tune_state target;

    (void)state;
    reset_card();
    read_facts();
    facts.state.buffers.receive[2] = facts.state.buffers.send[2] = 4194304;
    collect("buffers");
    assert_int_equal(settings.count, 1 + 3); /* 4M is set */
    tune_target(&facts.state, find("buffers 16M"), &target);
    assert_int_equal(target.buffers.receive[0], 4096);
    assert_int_equal(target.buffers.receive[1], 131072);
    assert_int_equal(target.buffers.receive[2], 16777216);
    facts.state.buffers.receive[1] = 1048576;
    tune_target(&facts.state, find("buffers 256K"), &target);
    assert_int_equal(target.buffers.receive[1], 262144);
    assert_int_equal(target.buffers.send[2], 262144);
}

static void test_combinations(void **state)
{
    const struct tune_setting *parts[5];
    struct tune_setting all;

    (void)state;
    reset_card();
    read_facts();
    collect("tso,gro,rx-usecs,buffers,toed");
    parts[0] = find("toed");
    parts[1] = find("gro off");
    parts[2] = find("rx-usecs 25");
    parts[3] = find("rx-usecs 100");
    parts[4] = find("tso off");
    assert_true(tune_combine(parts, 5, &all));
    assert_string_equal(all.name, "gro off + rx-usecs 25 + tso off");
    assert_int_equal(all.nic_flip, 1u << NIC_GRO | 1u << NIC_TSO);
    assert_int_equal(all.rx_usecs, 25);
    assert_int_equal(all.place, TUNE_KERNEL);
    assert_false(tune_combine(parts, 2, &all)); /* one is no combination */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_card_has),
        cmocka_unit_test(test_each_setting_is_undone),
        cmocka_unit_test(test_nothing_is_written_twice),
        cmocka_unit_test(test_moderation_is_fixed_while_it_is_tried),
        cmocka_unit_test(test_another_interface_by_the_name),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_settings_of_the_toe),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_combinations),
    };

    return cmocka_run_group_tests_name("tune_nic", tests, NULL, NULL);
}
