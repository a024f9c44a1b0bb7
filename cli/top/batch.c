/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - prints looks as text or JSON (batch.h). */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "common/exit.h"
#include "common/message.h"
#include "view.h"

#define SCHEMA_VERSION 1

static json_t *engines_json(const struct top_look *l)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < l->engine_count; i++) {
        const struct top_engine *e = &l->engines[i];
        json_t *j = json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "id", (json_int_t)e->id,
                              "flows", (json_int_t)e->flows, "opens", e->opened, "rx_frames", e->rx,
                              "tx_frames", e->tx, "rx_bytes", e->rx_bytes, "tx_bytes", e->tx_bytes);

        json_object_set_new(j, "cpu_percent", e->cpu < 0 ? json_null() : json_real(e->cpu));
        json_object_set_new(j, "polling_percent",
                            e->polling < 0 ? json_null() : json_real(e->polling));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *drops_json(const struct top_look *l)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < l->drop_count; i++) {
        const struct top_drop *d = &l->drops[i];

        json_array_append_new(list,
                              json_pack("{s:I, s:s, s:s, s:f, s:I}", "engine",
                                        (json_int_t)d->engine, "name", d->name, "help", d->help,
                                        "rate", d->rate, "total", (json_int_t)d->total));
    }
    return list;
}

/* Entries as toehold flows has them, with their rates. */
static json_t *flows_json(const struct top_look *l)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < l->flow_count; i++) {
        const struct top_flow *f = &l->flows[i];
        json_t *j = json_copy(f->entry);

        json_object_set_new(j, "tx_rate", json_real(f->tx));
        json_object_set_new(j, "rx_rate", json_real(f->rx));
        json_object_set_new(j, "retransmit_rate", json_real(f->retrans));
        json_array_append_new(list, j);
    }
    return list;
}

static void print_json(const struct top_look *l, double interval)
{
    json_t *j = json_pack("{s:i, s:f, s:o, s:o, s:o}", "schema_version", SCHEMA_VERSION,
                          "interval_s", interval, "engines", engines_json(l), "drops",
                          drops_json(l), "flows", flows_json(l));

    json_dumpf(j, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(j);
}

static void print_text(const struct top_look *l, const struct top_options *o)
{
    char row[VIEW_ROW];
    size_t i;

    view_title(l, o->path, row);
    puts(row);
    view_engine_head(row);
    puts(row);
    for (i = 0; i < l->engine_count; i++) {
        view_engine(&l->engines[i], row);
        puts(row);
    }
    for (i = 0; i < l->drop_count; i++) {
        view_drop(&l->drops[i], row);
        puts(row);
    }
    view_flow_head(o->sort, row);
    puts(row);
    for (i = 0; i < l->flow_count; i++) {
        view_flow(&l->flows[i], row);
        puts(row);
    }
    putchar('\n');
}

static int print(struct top_look *l, const struct top_look *before, const struct top_options *o)
{
    top_sort(l, o->sort, o->reverse);
    if (o->json)
        print_json(l, l->at - before->at);
    else
        print_text(l, o);
    if (fflush(stdout) == 0)
        return CLI_OK;
    cli_message("cannot write: %s", strerror(errno));
    return CLI_FAILURE;
}

int top_batch(const struct top_options *o)
{
    struct top_look before, look;
    char why[512];
    uint64_t n;
    int code = top_look(o->path, NULL, &before, why, sizeof why);

    if (code) {
        cli_message("%s", why);
        return code;
    }
    for (n = 0; n < o->batch && !code; n++) {
        sleep((unsigned)o->every_s);
        code = top_look(o->path, &before, &look, why, sizeof why);
        if (code) {
            cli_message("%s", why);
            break;
        }
        code = print(&look, &before, o);
        top_free(&before);
        before = look;
    }
    top_free(&before);
    return code;
}
