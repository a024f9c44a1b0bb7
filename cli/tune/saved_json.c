/* SPDX-License-Identifier: Apache-2.0 */
/* saved_json.c - see saved_json.h. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "saved_json.h"

#define VERSION 1
#define MOST    ((json_int_t)1 << 40) /* bytes of a socket's buffer */

/* Returns the inode of the network namespace: names of interfaces hold within it alone. */
static json_int_t namespace_id(void)
{
    struct stat st;

    return stat("/proc/self/ns/net", &st) == 0 ? (json_int_t)st.st_ino : 0;
}

static json_t *features_json(const struct nic *nic)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < nic->count; i++) {
        const struct nic_feature *f = &nic->features[i];

        json_array_append_new(list, json_pack("{s:s,s:b,s:b,s:b}", "name", f->name, "changeable",
                                              f->changeable, "requested", f->requested, "active",
                                              f->active));
    }
    return list;
}

static json_t *toe_json(const struct tune_toe *t)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < t->count; i++)
        json_array_append_new(list, json_pack("{s:s,s:b,s:b}", "word", t->offloads[i].word, "fixed",
                                              t->offloads[i].fixed, "requested",
                                              t->offloads[i].requested));
    return json_pack("{s:s,s:o}", "socket", t->socket, "offloads", list);
}

static json_t *triple_json(const uint64_t v[3])
{
    return json_pack("[I,I,I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

json_t *tune_saved_json(const struct tune_saved *s)
{
    const struct nic *nic = &s->before.nic;

    return json_pack("{s:i,s:I,s:s,s:s,s:s,s:s,s:o,s:b,s:b,s:I,s:o,s:o,s:o}", "schema_version",
                     VERSION, "namespace", namespace_id(), "interface", nic->name, "applied",
                     s->setting, "file", s->file, "file_text", s->text, "features",
                     features_json(nic), "moderates", nic->moderates, "adaptive_rx", nic->adaptive,
                     "rx_usecs", (json_int_t)nic->rx_usecs, "tcp_rmem",
                     triple_json(s->before.buffers.receive), "tcp_wmem",
                     triple_json(s->before.buffers.send), "toed", toe_json(&s->before.toe));
}

/* ---- and back ---- */

static bool take_text(const char *from, char *to, size_t size)
{
    return from && (size_t)snprintf(to, size, "%s", from) < size;
}

static bool take_triple(const json_t *list, uint64_t v[3])
{
    json_int_t n[3];
    size_t i;

    if (json_array_size(list) != 3 ||
        json_unpack((json_t *)list, "[I,I,I]", &n[0], &n[1], &n[2]) != 0)
        return false;
    for (i = 0; i < 3; i++) {
        if (n[i] < 1 || n[i] > MOST)
            return false;
        v[i] = (uint64_t)n[i];
    }
    return true;
}

static bool take_features(const json_t *list, struct nic *nic)
{
    const json_t *entry;
    size_t i;

    if (!json_is_array(list) || json_array_size(list) > NIC_FEATURES)
        return false;
    json_array_foreach(list, i, entry)
    {
        struct nic_feature *f = &nic->features[i];
        int changeable, requested, active;
        const char *name;

        if (json_unpack((json_t *)entry, "{s:s,s:b,s:b,s:b}", "name", &name, "changeable",
                        &changeable, "requested", &requested, "active", &active) != 0 ||
            !take_text(name, f->name, sizeof f->name))
            return false;
        f->changeable = changeable;
        f->requested = requested;
        f->active = active;
    }
    nic->count = json_array_size(list);
    return true;
}

static bool take_toe(const json_t *toe, struct tune_toe *t)
{
    const char *socket;
    json_t *list;
    const json_t *entry;
    size_t i;

    if (json_unpack((json_t *)toe, "{s:s,s:o}", "socket", &socket, "offloads", &list) != 0 ||
        !take_text(socket, t->socket, sizeof t->socket) || !json_is_array(list) ||
        json_array_size(list) > TUNE_TOE_WORDS)
        return false;
    json_array_foreach(list, i, entry)
    {
        int fixed, requested;
        const char *word;

        if (json_unpack((json_t *)entry, "{s:s,s:b,s:b}", "word", &word, "fixed", &fixed,
                        "requested", &requested) != 0 ||
            !take_text(word, t->offloads[i].word, sizeof t->offloads[i].word))
            return false;
        t->offloads[i].fixed = fixed;
        t->offloads[i].requested = requested;
    }
    t->count = json_array_size(list);
    return true;
}

bool tune_saved_parse(const json_t *root, struct tune_saved *s)
{
    struct nic *nic = &s->before.nic;
    const char *interface, *applied, *file, *text;
    json_t *features, *rmem, *wmem, *toe;
    int version, moderates, adaptive;
    json_int_t space, usecs;

    if (json_unpack((json_t *)root, "{s:i,s:I,s:s,s:s,s:s,s:s,s:o,s:b,s:b,s:I,s:o,s:o,s:o}",
                    "schema_version", &version, "namespace", &space, "interface", &interface,
                    "applied", &applied, "file", &file, "file_text", &text, "features", &features,
                    "moderates", &moderates, "adaptive_rx", &adaptive, "rx_usecs", &usecs,
                    "tcp_rmem", &rmem, "tcp_wmem", &wmem, "toed", &toe) != 0 ||
        version != VERSION || space != namespace_id() || usecs < 0 || usecs > UINT32_MAX)
        return false;
    nic->moderates = moderates;
    nic->adaptive = adaptive;
    nic->rx_usecs = (uint32_t)usecs;
    return take_text(interface, nic->name, sizeof nic->name) &&
           take_text(applied, s->setting, sizeof s->setting) &&
           take_text(file, s->file, sizeof s->file) && take_text(text, s->text, sizeof s->text) &&
           take_features(features, nic) && take_triple(rmem, s->before.buffers.receive) &&
           take_triple(wmem, s->before.buffers.send) && take_toe(toe, &s->before.toe);
}
