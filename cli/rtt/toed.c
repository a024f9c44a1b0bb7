/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toed.c - the source "toed": the round-trip times that toed measures for its retransmission timers
 * (RFC 6298), queried from a running toed (toe/attach.h, TOEDEV_HELLO_RTT).
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <toe/attach.h>

#include "../common/daemon.h"
#include "../common/exit.h"
#include "live.h"
#include "toed.h"

#define ENGINES_MAX 64u
#define LOOK_NS     50000000l

struct following {
    uint64_t next[ENGINES_MAX]; /* the first unread sample of each engine */
    bool known[ENGINES_MAX];
    uint64_t samples;
};

static json_t *query_toed(struct rtt *r, uint64_t since, unsigned engine)
{
    const char *path = cli_socket_path(r->o.socket_path);
    int fd = cli_connect(path, r->why, sizeof r->why);
    json_t *root = NULL;
    char name[32], *text;
    size_t size;

    if (fd < 0) {
        r->code = CLI_NO_DAEMON;
        return NULL;
    }
    snprintf(name, sizeof name, "%u %" PRIu64, engine, since);
    text = cli_ask(fd, TOEDEV_HELLO_RTT, name, &size);
    close(fd);
    if (text)
        root = json_loadb(text, size, 0, NULL);
    free(text);
    if (!json_is_array(json_object_get(root, "samples"))) {
        rtt_fail(r,
                 "this toed does not report round-trip times; use toehold and toed of one release");
        json_decref(root);
        return NULL;
    }
    return root;
}

static void take_sample(struct rtt *r, struct following *f, json_t *sample)
{
    const char *flow = json_string_value(json_array_get(sample, 1));

    result_sample(&r->result, rtt_at(r), (uint64_t)json_integer_value(json_array_get(sample, 0)),
                  f->samples++, result_flow(&r->result, flow ? flow : "?"));
}

/* Reads the new samples of one engine. *engines: the number of engines. */
static bool follow(struct rtt *r, struct following *f, unsigned engine, unsigned *engines)
{
    json_t *root = query_toed(r, f->known[engine] ? f->next[engine] : UINT64_MAX, engine), *sample;
    uint64_t first, head;
    size_t i;

    if (!root)
        return false;
    first = (uint64_t)json_integer_value(json_object_get(root, "first"));
    head = (uint64_t)json_integer_value(json_object_get(root, "head"));
    *engines = (unsigned)json_integer_value(json_object_get(root, "engines"));
    r->result.source.resolution_ns = json_number_value(json_object_get(root, "resolution_ns"));
    if (f->known[engine]) {
        if (first > f->next[engine])
            *result_count(&r->result, "missed",
                          "samples that toed overwrote before they were read") +=
                first - f->next[engine];
        json_array_foreach(json_object_get(root, "samples"), i, sample)
        {
            take_sample(r, f, sample);
        }
    }
    f->known[engine] = true; /* skip the samples from before this measurement */
    f->next[engine] = head;
    json_decref(root);
    return true;
}

static bool follow_all(struct rtt *r, struct following *f)
{
    unsigned engine, engines = 1;

    for (engine = 0; engine < engines && engine < ENGINES_MAX; engine++)
        if (!follow(r, f, engine, &engines))
            return false;
    return true;
}

bool toed_run(struct rtt *r)
{
    static struct following f;
    const struct timespec t = {0, LOOK_NS};
    struct source *s = &r->result.source;

    snprintf(s->what, sizeof s->what, "round-trip times that toed measures of TCP (%.80s)",
             cli_socket_path(r->o.socket_path));
    snprintf(s->clock, sizeof s->clock,
             "toed's clock, as it sends a segment and as it handles the acknowledgement");
    do {
        if (!follow_all(r, &f))
            return false;
        nanosleep(&t, NULL);
    } while (!rtt_over(r) && (!r->o.count || result_samples(&r->result) < r->o.count));
    return follow_all(r, &f);
}
