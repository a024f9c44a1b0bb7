/* SPDX-License-Identifier: Apache-2.0 */
/* rtt.c - `toehold rtt`: measures round-trip times by one source and reports them. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../common/verbosity.h"
#include "csv.h"
#include "json.h"
#include "module.h"
#include "options.h"
#include "probe.h"
#include "respond.h"
#include "rtt.h"
#include "sources.h"
#include "svg.h"
#include "text.h"
#include "toed.h"
#include "watch.h"
#include "xdp.h"

static void stop(int number)
{
    (void)number;
    rtt_stopped = 1;
}

/* Describes the measurement in words. */
static void describe(struct rtt *r)
{
    static const char *const probes[] = {"", "UDP", "ICMP echo", "TCP SYN"};
    static const char *const matches[] = {"any packet", "UDP by ports", "ICMP echo", "tag",
                                          "TCP sequence against acknowledgement"};
    static const char *const sources[] = {"", "software", "hardware", "xdp", "registers", "toed"};
    const struct rtt_options *o = &r->o;
    char *out = r->result.measured;
    size_t size = sizeof r->result.measured, n;

    r->result.source.name = sources[o->source];
    if (o->probe == PROBE_SYN)
        snprintf(out, size, "%s to %s, every %lu us", probes[o->probe], o->to_name, o->interval_us);
    else if (o->probe != PROBE_NONE)
        snprintf(out, size, "%s, %lu bytes of payload to %s, every %lu us", probes[o->probe],
                 o->size, o->to_name, o->interval_us);
    else if (o->source == SOURCE_TOED)
        snprintf(out, size, "the TCP connections of the TOE");
    else
        snprintf(out, size, "traffic as it passes");
    n = strlen(out);
    if (o->match != MATCH_NONE)
        snprintf(out + n, size - n, ", matched as %s", matches[o->match]);
}

static int report(struct rtt *r)
{
    char why[RTT_WHY];
    int code = CLI_OK;

    if (r->o.json)
        json_result(r);
    else
        text_result(r);
    if (fflush(stdout) != 0) {
        cli_message("cannot write: %s", strerror(errno));
        code = CLI_FAILURE;
    }
    if ((r->o.csv && !csv_write(&r->result, r->o.csv, why, sizeof why)) ||
        (r->o.svg && !svg_write(&r->result, r->o.svg, why, sizeof why))) {
        cli_message("rtt: %s", why);
        code = CLI_FAILURE;
    }
    if (r->result.no_memory)
        cli_message("rtt: no memory to keep all samples; the CSV and the plot lack some");
    if (code == CLI_OK && result_samples(&r->result) == 0) {
        cli_message("rtt: no answer was received, so there is no round-trip time");
        code = CLI_NO_SAMPLE;
    }
    return code;
}

static bool measure(struct rtt *r)
{
    switch (r->o.source) {
    case SOURCE_REGISTERS:
        return module_run(r);
    case SOURCE_TOED:
        return toed_run(r);
    case SOURCE_XDP:
        return xdp_run(r);
    default:
        return r->o.watch ? watch_run(r) : probe_run(r);
    }
}

int cli_rtt(int argc, char **argv)
{
    struct sigaction act = {.sa_handler = stop};
    struct rtt r = {.end_ns = UINT64_MAX};
    int code;

    if (!rtt_options(argc, argv, &r.o, &code))
        return code;
    if (r.o.help)
        return CLI_OK;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    if (r.o.sources)
        return sources_show(&r.o);
    if (r.o.respond)
        return respond_run(&r.o);
    if (!r.o.every_s && !r.o.json && isatty(STDOUT_FILENO))
        r.o.every_s = 1;
    if (!result_init(&r.result, 1000000000u)) {
        cli_message("rtt: no memory");
        return CLI_FAILURE;
    }
    describe(&r);
    cli_detail("source %s", r.result.source.name);
    r.result.began_ns = r.reported_ns = rtt_now();
    if (r.o.seconds)
        r.end_ns = r.result.began_ns + r.o.seconds * 1000000000ull;
    if (measure(&r)) {
        r.result.length_ns = rtt_at(&r);
        code = report(&r);
        if (r.code) /* it ended early, after a message */
            code = r.code;
    } else {
        code = r.code ? r.code : CLI_NO_SOURCE;
        if (r.why[0])
            cli_message("rtt: --source %s: %s", r.result.source.name, r.why);
    }
    result_free(&r.result);
    return code;
}
