/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - see session.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "area.h"
#include "common/exit.h"
#include "common/message.h"
#include "pcapng.h"
#include "session.h"
#include "text.h"

#define NS_PER_S     1000000000u
#define PAUSE_BUSY   1   /* ms between looks into the rings while frames arrive, */
#define PAUSE_IDLE   10  /* ... and otherwise */
#define BETWEEN      256 /* frames between two looks at the clock */
#define HEADER_BYTES 256 /* requested at least, for filter and text */
#define FILE_BUFFER  (256 * 1024)

struct session {
    const struct session_options *o;
    struct area *area;
    FILE *out;
    uint64_t start_ns;
    uint64_t written, dropped;
    uint64_t *accepted; /* of each engine */
    bool reader_gone;   /* the file is a pipe that is closed */
    bool failed;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static void catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};

    stopped = 0;
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGHUP, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL); /* a write reports it */
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ---- output ---- */

static bool open_out(struct session *s)
{
    const char *file = s->o->file;

    s->out = !file || strcmp(file, "-") == 0 ? stdout : fopen(file, "wbe");
    if (!s->out) {
        cli_message("capture: cannot write %s: %s", file, strerror(errno));
        return false;
    }
    if (file)
        setvbuf(s->out, NULL, _IOFBF, FILE_BUFFER);
    return true;
}

/* Notes a failed write. The end of a pipe's reader ends the capture like a signal. */
static void write_failed(struct session *s)
{
    if (errno == EPIPE)
        s->reader_gone = true;
    else if (!s->failed)
        cli_message("capture: cannot write %s: %s", s->o->file ? s->o->file : "to standard output",
                    strerror(errno));
    s->failed = !s->reader_gone;
}

static void check(struct session *s, int result)
{
    if (result != 0 && !s->reader_gone && !s->failed)
        write_failed(s);
}

static void write_head(struct session *s)
{
    const struct toecap_header *h = area_header(s->area);
    char name[sizeof h->netif + 24], description[64];
    unsigned i;

    if (!s->o->file)
        return;
    check(s, pcapng_section(s->out, "toehold " TOEHOLD_VERSION));
    for (i = 0; i < h->engines; i++) {
        struct pcapng_interface in = {.name = name,
                                      .description = description,
                                      .filter = s->o->filter_text,
                                      .snaplen = s->o->snaplen,
                                      .mac = h->mac};

        snprintf(name, sizeof name, "%s", h->netif);
        if (h->engines > 1)
            snprintf(name, sizeof name, "%s engine %u", h->netif, i);
        snprintf(description, sizeof description, "%s, engine %u", h->toe, i);
        check(s, pcapng_interface(s->out, &in));
    }
}

static void write_packet(struct session *s, const struct frame *f)
{
    char comment[256];
    struct pcapng_packet p = {.interface = f->engine,
                              .time_ns = f->time_ns,
                              .data = f->data,
                              .cap = f->cap < s->o->snaplen ? f->cap : s->o->snaplen,
                              .len = f->len,
                              .flags = f->flags & TOECAP_LOCAL ? 0
                                       : f->flags & TOECAP_OUT ? PCAPNG_OUT
                                                               : PCAPNG_IN,
                              .comment = comment};

    text_comment(f, comment, sizeof comment);
    check(s, pcapng_packet(s->out, &p));
}

static void write_tail(struct session *s)
{
    uint64_t now = clock_ns(CLOCK_REALTIME);
    unsigned i;

    for (i = 0; s->o->file && i < area_header(s->area)->engines; i++) {
        struct pcapng_statistics st = {
            .interface = i, .start_ns = s->start_ns, .end_ns = now, .accepted = s->accepted[i]};

        area_counts(s->area, i, &st.received, &st.dropped);
        check(s, pcapng_statistics(s->out, &st));
    }
}

static void close_out(struct session *s)
{
    check(s, fflush(s->out));
    if (s->out != stdout)
        check(s, fclose(s->out));
}

/* ---- frames ---- */

static bool wanted(const struct session *s, const struct frame *f)
{
    const struct session_options *o = s->o;
    bool out = f->flags & TOECAP_OUT;

    if (o->only_drops && !f->reason)
        return false;
    if (o->direction != BOTH && !(f->flags & TOECAP_LOCAL) && out != (o->direction == ONLY_OUT))
        return false;
    return packet_filter_passes(o->filter, f->data, f->cap, f->len, f->time_ns);
}

static void show(struct session *s, const struct frame *f)
{
    s->accepted[f->engine]++;
    s->written++;
    s->dropped += f->reason != NULL;
    if (s->o->file)
        write_packet(s, f);
    else
        check(s, s->o->json ? text_json(f) : text_line(f));
}

static bool is_over(const struct session *s)
{
    return s->failed || s->reader_gone || (s->o->count && s->written == s->o->count);
}

/* Takes up to `most` frames. Returns how many. */
static int take_some(struct session *s, int most)
{
    struct frame f;
    int n, r = 0;

    for (n = 0; n < most && !is_over(s) && (r = area_next(s->area, &f)) > 0; n++) {
        if (wanted(s, &f))
            show(s, &f);
    }
    if (r < 0)
        s->failed = true;
    return n;
}

/* Sleeps until frames may have arrived, the TOE has ended, or the time has come. */
static void pause_until(struct session *s, bool busy, uint64_t deadline)
{
    struct pollfd p = {.fd = area_fd(s->area), .events = POLLIN};
    uint64_t now = clock_ns(CLOCK_MONOTONIC), left = deadline > now ? deadline - now : 0;
    int ms = busy ? PAUSE_BUSY : PAUSE_IDLE;

    if (left / 1000000 < (uint64_t)ms)
        ms = (int)(left / 1000000) + 1;
    (void)poll(&p, 1, ms);
}

/* Takes frames until the end. Returns whether the TOE has ended. */
static bool run(struct session *s)
{
    uint64_t deadline = UINT64_MAX;
    bool ended = false, busy = false;

    if (s->o->seconds)
        deadline = clock_ns(CLOCK_MONOTONIC) + s->o->seconds * NS_PER_S;
    while (!stopped && !ended && !is_over(s) && clock_ns(CLOCK_MONOTONIC) < deadline) {
        int n = take_some(s, BETWEEN);

        if (n == BETWEEN) {
            busy = true;
            continue;
        }
        busy = busy || n > 0;
        check(s, fflush(s->out)); /* a reader of the pipe sees what there is */
        ended = area_ended(s->area);
        if (!ended && !is_over(s))
            pause_until(s, busy, deadline);
        busy = n > 0;
    }
    return ended;
}

/* ---- messages ---- */

static void announce(const struct session *s)
{
    const struct toecap_header *h = area_header(s->area);

    if (!s->o->quiet)
        cli_message("capturing on %s, %s, %u engine%s%s%s; Ctrl-C ends it", h->toe, h->netif,
                    h->engines, h->engines == 1 ? "" : "s", s->o->file ? ", to " : "",
                    s->o->file ? s->o->file : "");
}

static void sum_up(const struct session *s)
{
    uint64_t frames = 0, lost = 0, f, l;
    unsigned i;

    for (i = 0; i < area_header(s->area)->engines; i++) {
        area_counts(s->area, i, &f, &l);
        frames += f;
        lost += l;
    }
    if (!s->o->quiet)
        cli_message("%" PRIu64 " frames captured, %" PRIu64 " of them dropped by the TOE; %" PRIu64
                    " frames seen, %" PRIu64 " lost for lack of room%s",
                    s->written, s->dropped, frames, lost, lost ? " (--buffer-mib, --snaplen)" : "");
}

static int finish(struct session *s, bool ended)
{
    area_stop(s->area);
    while (take_some(s, BETWEEN) == BETWEEN)
        continue;
    write_tail(s);
    close_out(s);
    sum_up(s);
    if (ended)
        cli_message("capture: the TOE has ended, or another has taken over");
    return s->failed || ended ? CLI_FAILURE : CLI_OK;
}

int session_run(const struct session_options *o)
{
    struct session s = {.o = o};
    uint32_t bytes = o->file && o->snaplen > HEADER_BYTES ? o->snaplen : HEADER_BYTES;
    int code;

    catch_signals();
    s.area = area_open(o->socket, bytes, o->mib, &code);
    if (!s.area)
        return code;
    s.start_ns = clock_ns(CLOCK_REALTIME);
    s.accepted = calloc(area_header(s.area)->engines, sizeof *s.accepted);
    if (!s.accepted)
        cli_message("capture: no memory");
    code = CLI_FAILURE;
    if (s.accepted && open_out(&s)) {
        write_head(&s);
        announce(&s);
        code = finish(&s, run(&s));
    }
    free(s.accepted);
    area_close(s.area);
    return code;
}
