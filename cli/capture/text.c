/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - see text.h. The lines resemble those of tcpdump(8). */
#include <inttypes.h>
#include <netinet/if_ether.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "headers.h"
#include "text.h"

#define NS_PER_S 1000000000u

static const char *direction(const struct frame *f)
{
    return f->flags & TOECAP_LOCAL ? "local" : f->flags & TOECAP_OUT ? "out" : "in";
}

void text_comment(const struct frame *f, char *text, size_t size)
{
    const char *comma = "";
    size_t n = 0;

    text[0] = 0;
    if (f->reason) {
        n += (size_t)snprintf(text, size, "dropped: %s (%s)", f->reason->text, f->reason->name);
        comma = ", ";
    }
    if (f->flow[0] && n < size)
        n += (size_t)snprintf(text + n, size - n, "%sflow %s", comma, f->flow);
    else if (f->qp != TOECAP_NONE && n < size)
        n += (size_t)snprintf(text + n, size - n, "%sqp %" PRIu32 " slot %" PRIu32, comma, f->qp,
                              f->slot);
    if (f->qp != TOECAP_NONE)
        comma = ", ";
    if (f->cycle && n < size) {
        n += (size_t)snprintf(text + n, size - n, "%scycle %" PRIu64, comma, f->cycle);
        comma = ", ";
    }
    if (f->gso_size && n < size) {
        n += (size_t)snprintf(text + n, size - n, "%ssegments of %u bytes", comma, f->gso_size);
        comma = ", ";
    }
    if (f->flags & TOECAP_LOCAL && n < size)
        (void)snprintf(text + n, size - n, "%slooped back", comma);
}

static void print_time(uint64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / NS_PER_S);
    struct tm tm;
    char text[16] = "?";

    if (localtime_r(&seconds, &tm))
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    printf("%s.%09u ", text, (unsigned)(time_ns % NS_PER_S));
}

static const char *protocol_name(uint8_t protocol)
{
    switch (protocol) {
    case IPPROTO_TCP:
        return "TCP";
    case IPPROTO_UDP:
        return "UDP";
    case IPPROTO_ICMP:
        return "ICMP";
    case IPPROTO_ICMPV6:
        return "ICMP6";
    default:
        return NULL;
    }
}

static void print_ip(const struct headers *h)
{
    const char *name = protocol_name(h->protocol);
    char flags[12];

    printf("%s %s", h->ethertype == ETHERTYPE_IP ? "IP" : "IP6", h->src);
    if (h->has_ports)
        printf(".%u", h->sport);
    printf(" > %s", h->dst);
    if (h->has_ports)
        printf(".%u", h->dport);
    if (h->has_tcp) {
        headers_flags(h->flags, flags);
        printf(": Flags [%s], seq %" PRIu32 ", ack %" PRIu32 ", win %u, length %" PRIu32, flags,
               h->seq, h->ack, h->window, h->payload);
    } else if (h->has_ports) {
        printf(": UDP, length %" PRIu32, h->payload);
    } else if (name) {
        printf(": %s%s", name, h->is_fragment ? " fragment" : "");
    } else {
        printf(": protocol %u", h->protocol);
    }
}

int text_line(const struct frame *f)
{
    struct headers h;
    char comment[256];

    headers_read(&h, f->data, f->cap);
    text_comment(f, comment, sizeof comment);
    print_time(f->time_ns);
    printf("%-5s ", direction(f));
    if (h.has_vlan)
        printf("vlan %u, ", h.vlan);
    if (h.has_ip)
        print_ip(&h);
    else if (h.ethertype == ETHERTYPE_ARP)
        printf("ARP, length %" PRIu32, f->len);
    else
        printf("ethertype 0x%04x, length %" PRIu32, h.ethertype, f->len);
    return printf("%s%s\n", *comment ? ", " : "", comment) < 0 ? -1 : 0;
}

static void set_headers(json_t *j, const struct headers *h)
{
    char flags[12];

    if (h->has_vlan)
        json_object_set_new(j, "vlan", json_integer(h->vlan));
    if (h->has_ip) {
        json_object_set_new(j, "src", json_string(h->src));
        json_object_set_new(j, "dst", json_string(h->dst));
        json_object_set_new(j, "protocol", json_integer(h->protocol));
    }
    if (h->has_ports) {
        json_object_set_new(j, "sport", json_integer(h->sport));
        json_object_set_new(j, "dport", json_integer(h->dport));
        json_object_set_new(j, "payload", json_integer(h->payload));
    }
    if (h->has_tcp) {
        headers_flags(h->flags, flags);
        json_object_set_new(j, "flags", json_string(flags));
        json_object_set_new(j, "seq", json_integer(h->seq));
        json_object_set_new(j, "ack", json_integer(h->ack));
        json_object_set_new(j, "win", json_integer(h->window));
    }
}

int text_json(const struct frame *f)
{
    struct headers h;
    json_t *j;
    int failed;

    headers_read(&h, f->data, f->cap);
    j = json_pack("{s:I, s:s, s:I, s:I, s:i}", "time_ns", (json_int_t)f->time_ns, "direction",
                  direction(f), "engine", (json_int_t)f->engine, "length", (json_int_t)f->len,
                  "ethertype", (int)h.ethertype);
    set_headers(j, &h);
    if (f->flow[0])
        json_object_set_new(j, "flow", json_string(f->flow));
    if (f->qp != TOECAP_NONE) {
        json_object_set_new(j, "qp", json_integer(f->qp));
        json_object_set_new(j, "slot", json_integer(f->slot));
    }
    if (f->cycle)
        json_object_set_new(j, "cycle", json_integer((json_int_t)f->cycle));
    if (f->gso_size)
        json_object_set_new(j, "gso_size", json_integer(f->gso_size));
    if (f->reason) {
        json_object_set_new(j, "dropped", json_string(f->reason->name));
        json_object_set_new(j, "reason", json_string(f->reason->text));
    }
    failed = json_dumpf(j, stdout, JSON_COMPACT) != 0 || putchar('\n') == EOF;
    json_decref(j);
    return failed ? -1 : 0;
}
