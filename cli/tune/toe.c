/* SPDX-License-Identifier: Apache-2.0 */
/* toe.c - see toe.h. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <toe/attach.h>

#include "../common/query.h"
#include "toe.h"

/* Asks for a change "NAME=on", "": none. Returns the answer, or NULL with the reason. */
static json_t *change(const char *socket, const char *name, char *why, size_t why_size)
{
    int code;
    json_t *root = cli_query_quietly(socket, TOEDEV_HELLO_OFFLOAD, name, &code, why, why_size);
    const char *wrong = json_string_value(json_object_get(root, "error"));

    if (!root || (wrong && !*wrong))
        return root;
    snprintf(why, why_size, "%s",
             wrong ? wrong
                   : "cannot parse the answer of toed; use toehold and toed of one release");
    json_decref(root);
    return NULL;
}

static void take(struct tune_toe *t, const json_t *feature)
{
    const char *word = json_string_value(json_object_get(feature, "word"));

    if (!word || strlen(word) >= sizeof t->offloads[0].word || t->count == TUNE_TOE_WORDS)
        return;
    snprintf(t->offloads[t->count].word, sizeof t->offloads[0].word, "%s", word);
    t->offloads[t->count].fixed = json_is_true(json_object_get(feature, "fixed"));
    t->offloads[t->count].requested = json_is_true(json_object_get(feature, "requested"));
    t->count++;
}

bool tune_toe_read(const char *socket, struct tune_toe *t, char *why, size_t why_size)
{
    const json_t *feature;
    json_t *root;
    size_t i;

    memset(t, 0, sizeof *t);
    if (strlen(socket) >= sizeof t->socket) {
        snprintf(why, why_size, "%s: the path is longer than a socket's can be", socket);
        return false;
    }
    snprintf(t->socket, sizeof t->socket, "%s", socket);
    root = change(socket, "", why, why_size);
    if (!root)
        return false;
    json_array_foreach(json_object_get(root, "features"), i, feature) take(t, feature);
    json_decref(root);
    return true;
}

bool tune_toe_write(const struct tune_toe *t, char *why, size_t why_size)
{
    struct tune_toe now;
    char words[32];
    size_t i;

    if (t->count == 0)
        return true;
    if (!tune_toe_read(t->socket, &now, why, why_size))
        return false;
    for (i = 0; i < t->count && i < now.count; i++) {
        json_t *root;

        if (t->offloads[i].fixed || t->offloads[i].requested == now.offloads[i].requested)
            continue;
        snprintf(words, sizeof words, "%s=%s", t->offloads[i].word,
                 t->offloads[i].requested ? "on" : "off");
        root = change(t->socket, words, why, why_size);
        if (!root)
            return false;
        json_decref(root);
    }
    return true;
}

bool tune_toe_same(const struct tune_toe *a, const struct tune_toe *b)
{
    size_t i;

    for (i = 0; i < a->count && i < b->count; i++)
        if (strcmp(a->offloads[i].word, b->offloads[i].word) != 0 ||
            a->offloads[i].requested != b->offloads[i].requested)
            return false;
    return a->count == b->count;
}
