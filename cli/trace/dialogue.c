/* SPDX-License-Identifier: Apache-2.0 */
/* dialogue.c - a flow's events as text (dialogue.h). */
#include <string.h>
#include <time.h>

#include "dialogue.h"
#include "find.h"

static long long number(const json_t *entry, const char *name)
{
    return json_integer_value(json_object_get(entry, name));
}

static const char *word(const json_t *entry, const char *name)
{
    const char *text = json_string_value(json_object_get(entry, name));

    return text ? text : "";
}

/* {NAME} in a text is the event's value of that name. */
static const struct sentence {
    const char *event, *who, *text;
} sentences[] = {
    {"connect", "program", "connects to port {port}"},
    {"syn_received", "peer", "connects (SYN)"},
    {"established", "TCP", "connection is established"},
    {"peer_closed", "peer", "closes its side (FIN)"},
    {"accept", "program", "accepts the connection"},
    {"send", "program", "sends {bytes} bytes, calls: {calls}"},
    {"recv", "program", "has read {bytes} bytes, calls: {calls}"},
    {"shutdown", "program", "shuts down sending"},
    {"close", "program", "closes"},
    {"abort", "program", "aborts"},
    {"moved", "TOE", "moves the connection to queue pair {qp}"},
    {"taken_over", "TOE", "a new toed has taken over; earlier events are lost"},
    {"gone", "TOE", "the flow has ended: {reason}"},
    {"state", "TCP", "state changes"},
    {"timeout", "TCP", "retransmission timeout {timeouts} in a row, from seq {seq}"},
    {"tail_probe", "TCP", "tail loss probe is due at seq {seq}"},
    {"retransmit", "TCP", "retransmits {bytes} bytes from seq {seq}"},
    {"recovery", "TCP", "fast recovery from seq {seq}, ssthresh {ssthresh}"},
    {"cwnd_cut", "TCP", "loss again at seq {seq}, ssthresh {ssthresh}"},
    {"ecn_cut", "TCP", "congestion mark (ECN) at seq {seq}, cwnd was {cwnd_before}"},
    {"recovered", "TCP", "recovery ends at seq {seq}, ssthresh {ssthresh}"},
    {"undo", "TCP", "retransmission was spurious, cwnd back to {cwnd}"},
    {"window_closed", "peer", "has no window for the data from seq {seq}: {window} bytes"},
    {"window_probe", "TCP", "window probe {probes} at seq {seq}"},
    {"window_open", "peer", "opens its window: {window} bytes"},
    {"own_window_closed", "TCP", "offers no window: the program has not read up to seq {rcv_nxt}"},
    {"keepalive", "TCP", "keep-alive probe {probes}"},
    {"path_mtu", "TCP", "path MTU is now {mtu}"},
    {"error", "network", "reports an error: {reason}"},
    {"reset_received", "peer", "resets the connection"},
    {"reset_sent", "TCP", "sends a reset"},
};

static void put_value(FILE *f, const json_t *value)
{
    if (json_is_string(value))
        fputs(json_string_value(value), f);
    else if (json_is_integer(value))
        fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
}

static void put_text(FILE *f, const char *text, const json_t *event)
{
    char name[32];

    for (; *text; text++) {
        size_t n = *text == '{' ? strcspn(text, "}") : 0;

        if (n == 0) {
            fputc(*text, f);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(n - 1), text + 1);
        put_value(f, json_object_get(event, name));
        text += n;
    }
}

/* An event of a later release: its name and values. */
static void put_unknown(FILE *f, const json_t *event)
{
    json_t *value;
    const char *name;

    fprintf(f, "%-8s %s", "TOE", word(event, "event"));
    json_object_foreach((json_t *)event, name, value)
    {
        if (strcmp(name, "event") != 0 && strcmp(name, "time_ns") != 0) {
            fprintf(f, " %s ", name);
            put_value(f, value);
        }
    }
}

void dialogue_sentence(FILE *f, const json_t *event)
{
    const char *name = word(event, "event");
    size_t i;

    for (i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (strcmp(sentences[i].event, name) == 0) {
            fprintf(f, "%-8s ", sentences[i].who);
            put_text(f, sentences[i].text, event);
            if (json_object_get(event, "state"))
                fprintf(f, " -> %s", word(event, "state"));
            return;
        }
    put_unknown(f, event);
}

void dialogue_event(FILE *f, const json_t *event, long long start, long long before)
{
    long long at = number(event, "time_ns");

    fprintf(f, "%14.6f %+12.6f  ", (double)(at - start) * 1e-9, (double)(at - before) * 1e-9);
    dialogue_sentence(f, event);
    fputc('\n', f);
}

/* Writes the time of day of a moment of the monotonic clock. */
static void put_date(FILE *f, long long at_ns)
{
    struct timespec wall, mono;
    struct tm tm;
    long long ns;
    time_t s;
    char text[32];

    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    ns = (wall.tv_sec - mono.tv_sec) * 1000000000ll + wall.tv_nsec - mono.tv_nsec + at_ns;
    s = (time_t)(ns / 1000000000);
    if (ns > 0 && gmtime_r(&s, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
        fprintf(f, "%s.%06lld UTC", text, ns % 1000000000 / 1000);
}

void dialogue_head(FILE *f, const json_t *flow)
{
    char local[80], remote[80];

    find_end_text(flow, "local", "local_port", local, sizeof local);
    find_end_text(flow, "remote", "remote_port", remote, sizeof remote);
    fprintf(f, "flow %s: %s to %s, %s,pid=%lld,%s,engine=%lld,qp=%lld\n", word(flow, "flow"), local,
            remote, word(flow, "process"), number(flow, "pid"), word(flow, "toe"),
            number(flow, "engine"), number(flow, "qp"));
}

void dialogue_write(FILE *f, const json_t *flow)
{
    const json_t *events = json_object_get(flow, "events"), *event;
    long long start = number(json_array_get(events, 0), "time_ns"), before = start;
    long long lost = number(flow, "lost");
    size_t i;

    dialogue_head(f, flow);
    fputs("first event ", f);
    put_date(f, start);
    fprintf(f, ", times in seconds since then and since the event before\n");
    if (lost)
        fprintf(f, "%lld older events were overwritten\n", lost);
    json_array_foreach(events, i, event)
    {
        dialogue_event(f, event, start, before);
        before = number(event, "time_ns");
    }
    if (!json_is_true(json_object_get(flow, "ended")))
        fprintf(f, "%14.6f %+12.6f  now%s\n", (double)(number(flow, "now_ns") - start) * 1e-9,
                (double)(number(flow, "now_ns") - before) * 1e-9,
                json_is_true(json_object_get(flow, "timed")) ? ", its exchanges are timed" : "");
}
