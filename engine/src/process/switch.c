/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch.c - switches and reports offloads while toed runs, for `toehold offload`
 * (TOEDEV_HELLO_OFFLOAD of toe/attach.h). The answer has the content of ethtool -k, as JSON.
 */
#define _GNU_SOURCE /* struct ucred */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "control.h"
#include "frames/engine_state.h"
#include "round/thread.h"
#include "switch.h"

struct change {
    uint32_t changed, on;
};

static void change_in_engine(struct engine *e, void *arg)
{
    const struct change *ch = arg;

    offload_set(e, (e->offload.wanted & ~ch->changed) | ch->on);
}

static void copy_state(struct engine *e, void *arg)
{
    struct offload *to = arg;

    to->offered = e->offload.offered;
    to->wanted = e->offload.wanted;
    to->active = e->offload.active;
}

/* Returns the name of the first of these offloads, for messages. */
static const char *name_of(uint32_t bits)
{
    unsigned i = 0;

    while (i < OFFLOAD_COUNT - 1 && !(offload_names[i].bit & bits))
        i++;
    return offload_names[i].name;
}

int offload_fixed(uint32_t offered, uint32_t asked, char *err, size_t err_size)
{
    if (!(asked & ~offered))
        return 0;
    snprintf(err, err_size, "cannot change %s: off [fixed], the interface does not have it",
             name_of(asked & ~offered));
    return -1;
}

static int may_change(int fd, char *err, size_t err_size)
{
    struct ucred cred;
    socklen_t len = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
        (cred.uid == 0 || cred.uid == geteuid()))
        return 0;
    snprintf(err, err_size, "only root may switch offloads");
    return -1;
}

/* Switches offloads. text: such as "tso=off", or empty for a query. */
static void change(struct control *c, int fd, const char *text, char *err, size_t err_size)
{
    struct offload now;
    struct change ch;
    uint32_t i;

    if (offload_parse(text, &ch.changed, &ch.on, err, err_size) != 0 ||
        may_change(fd, err, err_size) != 0)
        return;
    engine_call(c->engines[0], copy_state, &now);
    if (offload_fixed(now.offered, ch.on, err, err_size) != 0)
        return;
    for (i = 0; i < c->engine_count; i++)
        engine_call(c->engines[i], change_in_engine, &ch);
    log_msg("offload %s", text);
}

json_t *offload_json(const struct offload *o)
{
    json_t *list = json_array();
    unsigned i;

    for (i = 0; i < OFFLOAD_COUNT; i++) {
        uint32_t bit = offload_names[i].bit;

        json_array_append_new(
            list, json_pack("{s:s, s:s, s:b, s:b, s:b}", "name", offload_names[i].name, "word",
                            offload_names[i].word, "active", (o->active & bit) != 0, "requested",
                            (o->wanted & bit) != 0, "fixed", !(o->offered & bit)));
    }
    return list;
}

json_t *offload_answer(struct control *c, int fd, const char *text)
{
    char err[160] = "";
    struct offload now;

    if (*text)
        change(c, fd, text, err, sizeof(err));
    engine_call(c->engines[0], copy_state, &now);
    return json_pack("{s:o, s:s}", "features", offload_json(&now), "error", err);
}
