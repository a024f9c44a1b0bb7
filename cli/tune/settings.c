/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - see settings.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "settings.h"

static const uint32_t delays[] = {0, 25, 100, 250};
static const uint64_t sizes[] = {256, 1024, 4096, 16384}; /* KiB */
static const char *const places[TUNE_PLACES] = {"kernel", "toed", "inline", "thread"};

/* Variants of a TOE: its moderation and its buffers (docs/CONFIG.md). */
static const struct variant {
    enum tune_word word;
    const char *name, *variable[2];
} variants[] = {
    {TUNE_W_MODERATION, "irq-usec 50", {"TOEHOLD_IRQ_COUNT=32", "TOEHOLD_IRQ_USEC=50"}},
    {TUNE_W_MODERATION, "irq-usec 250", {"TOEHOLD_IRQ_COUNT=64", "TOEHOLD_IRQ_USEC=250"}},
    {TUNE_W_MODERATION, "irq-count 1", {"TOEHOLD_IRQ_COUNT=1", "TOEHOLD_IRQ_USEC=0"}},
    {TUNE_W_BUFFERS, "buffers 256K", {"TOEHOLD_TX_SIZE=262144", "TOEHOLD_RX_SIZE=262144"}},
    {TUNE_W_BUFFERS, "buffers 1M", {"TOEHOLD_TX_SIZE=1048576", "TOEHOLD_RX_SIZE=1048576"}},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define OFFLOADS "offloads" /* all words of the interface */

const char *tune_place_name(enum tune_place p)
{
    return places[p];
}

/* ---- words ---- */

static const char *word_name(int w)
{
    static const char *const names[TUNE_WORDS] = {
        [TUNE_W_USECS] = "rx-usecs", [TUNE_W_BUFFERS] = "buffers",
        [TUNE_W_TOED] = "toed",      [TUNE_W_INLINE] = "inline",
        [TUNE_W_THREAD] = "thread",  [TUNE_W_MODERATION] = "moderation"};

    return w < NIC_WORDS ? nic_word_name(w) : names[w];
}

const char *tune_words(void)
{
    return "tso, gso, gro, tx, rx, sg, lro, offloads, rx-usecs, buffers, toed, inline, thread or "
           "moderation";
}

/* Returns the bit of a word, 0: there is no such word. */
static uint32_t bit_of(const char *word, size_t size)
{
    int w;

    for (w = 0; w < TUNE_WORDS; w++)
        if (size == strlen(word_name(w)) && strncmp(word, word_name(w), size) == 0)
            return 1u << w;
    return 0;
}

bool tune_parse_words(const char *list, uint32_t *words, uint32_t *named, char *unknown,
                      size_t size)
{
    *words = *named = 0;
    for (;;) {
        size_t n = strcspn(list, ",");
        uint32_t bit = bit_of(list, n);
        bool all = n == strlen(OFFLOADS) && strncmp(list, OFFLOADS, n) == 0;

        if (!bit && !all) {
            snprintf(unknown, size, "%.*s", (int)n, list);
            return false;
        }
        *named |= bit;
        *words |= all ? (1u << NIC_WORDS) - 1 : bit;
        if (!list[n])
            return true;
        list += n + 1;
    }
}

/* ---- what is possible ---- */

void tune_leave_out(struct tune_settings *s, const char *what, const char *why)
{
    size_t i = s->left_out_count;

    if (i == TUNE_SETTINGS)
        return;
    s->left_out_count++;
    snprintf(s->left_out[i].what, sizeof s->left_out[i].what, "%s", what);
    snprintf(s->left_out[i].why, sizeof s->left_out[i].why, "%s", why);
}

/* Returns a new setting, of the last place when there is no room. */
static struct tune_setting *add(struct tune_settings *s)
{
    struct tune_setting *t = &s->all[s->count < TUNE_SETTINGS ? s->count++ : TUNE_SETTINGS - 1];

    memset(t, 0, sizeof *t);
    return t;
}

static void collect_places(const struct tune_facts *f, uint32_t words, struct tune_settings *out)
{
    int p;

    for (p = TUNE_TOED; p < TUNE_PLACES; p++) {
        struct tune_setting *t;

        if (!(words >> (TUNE_W_TOED + p - TUNE_TOED) & 1))
            continue;
        if (f->no_place[p]) {
            tune_leave_out(out, places[p], f->no_place[p]);
            continue;
        }
        t = add(out);
        t->place = p;
        snprintf(t->name, sizeof t->name, "%s", places[p]);
    }
}

static void collect_offloads(const struct tune_facts *f, uint32_t words, struct tune_settings *out)
{
    const struct nic *nic = &f->state.nic;
    int w;

    for (w = 0; w < NIC_WORDS; w++) {
        struct tune_setting *t;

        if (!(words >> w & 1))
            continue;
        if (!nic->count || !nic->permitted || !nic_changeable(nic, w)) {
            tune_leave_out(out, nic_word_name(w),
                           !nic->count       ? "the interface has no ethtool settings"
                           : !nic->permitted ? "changing it needs CAP_NET_ADMIN: run as root"
                                             : "fixed by the driver");
            continue;
        }
        t = add(out);
        t->nic_flip = 1u << w;
        snprintf(t->name, sizeof t->name, "%s %s", nic_word_name(w),
                 nic_active(nic, w) ? "off" : "on");
    }
}

static void collect_delays(const struct tune_facts *f, uint32_t words, struct tune_settings *out)
{
    const struct nic *nic = &f->state.nic;
    size_t i;

    if (!(words >> TUNE_W_USECS & 1))
        return;
    if (!nic->moderates || !nic->permitted) {
        tune_leave_out(out, word_name(TUNE_W_USECS),
                       nic->moderates ? "changing it needs CAP_NET_ADMIN: run as root"
                                      : "the driver has no interrupt moderation");
        return;
    }
    for (i = 0; i < COUNT(delays); i++) {
        struct tune_setting *t;

        if (!nic->adaptive && nic->rx_usecs == delays[i])
            continue;
        t = add(out);
        t->sets_usecs = true;
        t->rx_usecs = delays[i];
        snprintf(t->name, sizeof t->name, "rx-usecs %" PRIu32, delays[i]);
    }
}

static void collect_buffers(const struct tune_facts *f, uint32_t words, struct tune_settings *out)
{
    const struct tune_buffers *b = &f->state.buffers;
    size_t i;

    if (!(words >> TUNE_W_BUFFERS & 1))
        return;
    if (!f->buffers_permitted) {
        tune_leave_out(out, word_name(TUNE_W_BUFFERS),
                       "net.ipv4.tcp_rmem is read-only: run as root");
        return;
    }
    for (i = 0; i < COUNT(sizes); i++) {
        struct tune_setting *t;

        if (b->receive[2] == sizes[i] * 1024 && b->send[2] == sizes[i] * 1024)
            continue;
        t = add(out);
        t->buffers = sizes[i] * 1024;
        if (sizes[i] < 1024)
            snprintf(t->name, sizeof t->name, "buffers %" PRIu64 "K", sizes[i]);
        else
            snprintf(t->name, sizeof t->name, "buffers %" PRIu64 "M", sizes[i] / 1024);
    }
}

/* Moderation and buffers of the TOE in its first possible place, and the offloads of toed. */
static void collect_variants(const struct tune_facts *f, uint32_t words, struct tune_settings *out)
{
    const struct tune_toe *toe = &f->state.toe;
    int p = TUNE_TOED;
    size_t i;

    while (p < TUNE_PLACES && (f->no_place[p] || !(words >> (TUNE_W_TOED + p - TUNE_TOED) & 1)))
        p++;
    if (p == TUNE_PLACES) {
        if (words >> TUNE_W_MODERATION & 1)
            tune_leave_out(out, word_name(TUNE_W_MODERATION), "no TOE is tried here");
        return;
    }
    for (i = 0; i < COUNT(variants); i++) {
        struct tune_setting *t;

        if (!(words >> variants[i].word & 1))
            continue;
        t = add(out);
        t->place = p;
        t->variable[0] = variants[i].variable[0];
        t->variable[1] = variants[i].variable[1];
        snprintf(t->name, sizeof t->name, "%s, %s", places[p], variants[i].name);
    }
    for (i = 0; p == TUNE_TOED && i < toe->count; i++) {
        const char *word = toe->offloads[i].word;
        struct tune_setting *t;

        if (toe->offloads[i].fixed || !(words & bit_of(word, strlen(word))))
            continue;
        t = add(out);
        t->place = TUNE_TOED;
        t->toe_flip = 1u << i;
        snprintf(t->name, sizeof t->name, "toed, %s %s", word,
                 toe->offloads[i].requested ? "off" : "on");
    }
}

void tune_collect(const struct tune_facts *facts, uint32_t words, struct tune_settings *out)
{
    memset(out, 0, sizeof *out);
    snprintf(add(out)->name, sizeof out->all[0].name, "as it is");
    collect_places(facts, words, out);
    collect_offloads(facts, words, out);
    collect_delays(facts, words, out);
    collect_buffers(facts, words, out);
    collect_variants(facts, words, out);
}

/* ---- what a setting changes ---- */

bool tune_combine(const struct tune_setting *const *from, size_t count, struct tune_setting *out)
{
    size_t i, n = 0;

    memset(out, 0, sizeof *out);
    for (i = 0; i < count; i++) {
        const struct tune_setting *s = from[i];
        size_t at = strlen(out->name);

        /* of several delays or sizes the first, which is the best, counts */
        if (s->place != TUNE_KERNEL || (s->sets_usecs && out->sets_usecs) ||
            (s->buffers && out->buffers))
            continue;
        out->nic_flip |= s->nic_flip;
        if (s->sets_usecs) {
            out->sets_usecs = true;
            out->rx_usecs = s->rx_usecs;
        }
        if (s->buffers)
            out->buffers = s->buffers;
        snprintf(out->name + at, sizeof out->name - at, "%s%s", n ? " + " : "", s->name);
        n++;
    }
    return n >= 2;
}

void tune_target(const struct tune_state *before, const struct tune_setting *s,
                 struct tune_state *out)
{
    size_t i;
    int w;

    *out = *before;
    for (w = 0; w < NIC_WORDS; w++)
        if (s->nic_flip >> w & 1)
            nic_request(&out->nic, 1u << w, !nic_active(&before->nic, w));
    if (s->sets_usecs) {
        out->nic.adaptive = false;
        out->nic.rx_usecs = s->rx_usecs;
    }
    if (s->buffers)
        tune_buffers_limit(&out->buffers, s->buffers);
    for (i = 0; i < out->toe.count; i++)
        if (s->toe_flip >> i & 1)
            out->toe.offloads[i].requested = !before->toe.offloads[i].requested;
}
