/* SPDX-License-Identifier: Apache-2.0 */
/* addresses.c - see addresses.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <jansson.h>

#include "../common/word.h"
#include "addresses.h"
#include "file.h"
#include "netlink.h"

#define FORWARD     "/proc/sys/net/ipv4/ip_forward"
#define COMMAND_MAX 8192

struct address {
    int family;
    unsigned char bytes[16];
    char text[INET6_ADDRSTRLEN];
};

/* Parses "A.B.C.D/LEN" or "ADDRESS6/LEN". */
static bool parse(const char *word, struct address *a)
{
    size_t n = strcspn(word, "/");

    if (!word[n] || n >= sizeof a->text)
        return false;
    snprintf(a->text, sizeof a->text, "%.*s", (int)n, word);
    a->family = strchr(a->text, ':') ? AF_INET6 : AF_INET;
    return inet_pton(a->family, a->text, a->bytes) == 1;
}

static bool is_of(const struct address *a, const struct sockaddr *s)
{
    if (!s || s->sa_family != a->family)
        return false;
    if (a->family == AF_INET)
        return !memcmp(&((const struct sockaddr_in *)(const void *)s)->sin_addr, a->bytes, 4);
    return !memcmp(&((const struct sockaddr_in6 *)(const void *)s)->sin6_addr, a->bytes, 16);
}

static unsigned prefix_of(const struct sockaddr *mask)
{
    const unsigned char *b =
        mask->sa_family == AF_INET
            ? (const void *)&((const struct sockaddr_in *)(const void *)mask)->sin_addr
            : (const void *)&((const struct sockaddr_in6 *)(const void *)mask)->sin6_addr;
    unsigned i, n = 0, size = mask->sa_family == AF_INET ? 4 : 16;

    for (i = 0; i < size; i++)
        n += (unsigned)__builtin_popcount(b[i]);
    return n;
}

/* The kernel would answer for the TOE's address: connections reach either of them. */
static void check_conflict(struct report *r, const struct address *a)
{
    struct ifaddrs *all, *i;
    char word[64];
    bool found = false;

    if (getifaddrs(&all) != 0)
        return;
    for (i = all; i; i = i->ifa_next) {
        if (!is_of(a, i->ifa_addr))
            continue;
        found = true;
        report_add(r, FOUND_ERROR, "addresses.conflict",
                   "the kernel has the TOE's address %s, on %s", a->text, i->ifa_name);
        cli_word(word, sizeof word, i->ifa_name);
        report_cure(r, "ip address del %s/%u dev %s", a->text,
                    i->ifa_netmask         ? prefix_of(i->ifa_netmask)
                    : a->family == AF_INET ? 32
                                           : 128,
                    word);
    }
    freeifaddrs(all);
    if (!found)
        report_add(r, FOUND_OK, "addresses.toe", "%s is the TOE's alone", a->text);
}

/* IPv6 addresses that duplicate address detection has found on another host. */
static void check_duplicates(const struct facts *f)
{
    const json_t *engine = json_array_get(json_object_get(f->toe.stats, "engines"), 0), *text;
    size_t i;

    json_array_foreach(json_object_get(engine, "ip6"), i, text)
    {
        const char *word = json_string_value(text);

        if (!word || !strstr(word, " duplicate"))
            continue;
        report_add(f->report, FOUND_ERROR, "addresses.duplicate",
                   "another host has the TOE's address %.*s: the TOE does not use it",
                   (int)strcspn(word, " "), word);
        report_advice(f->report, "give toed another --ip6, or the other host another address");
    }
}

/* On a TAP device the kernel is the TOE's way out: it must know the way to the TOE. */
static void check_tap(const struct facts *f, const struct address *a)
{
    int index = (int)if_nametoindex(f->toe.interface);
    int by = netlink_route(a->family, a->bytes);
    long long forwards;
    char word[64];

    cli_word(word, sizeof word, f->toe.interface);
    if (by >= 0 && by != index) {
        report_add(f->report, FOUND_WARNING, "addresses.route",
                   "the kernel does not send to %s by %s: this machine cannot reach the TOE",
                   a->text, f->toe.interface);
        report_cure(f->report, "ip route replace %s dev %s", a->text, word);
    }
    if (a->family == AF_INET && file_number(FORWARD, &forwards) && !forwards) {
        report_add(f->report, FOUND_NOTE, "addresses.forwarding",
                   "net.ipv4.ip_forward is 0: only this machine reaches the TOE on %s",
                   f->toe.interface);
        report_cure(f->report, "sysctl -w net.ipv4.ip_forward=1");
    }
}

/* The kernel has a router on the TOE's link, and the TOE was not given it. */
static void check_router(const struct facts *f)
{
    char router[INET_ADDRSTRLEN], more[64], command[COMMAND_MAX];

    if (toe_option(&f->toe, "gateway") ||
        !netlink_default_router((int)if_nametoindex(f->toe.interface), router, sizeof router))
        return;
    report_add(f->report, FOUND_WARNING, "addresses.router",
               "the kernel's router on %s is %s, the TOE has none: it reaches its subnet alone",
               f->toe.interface, router);
    snprintf(more, sizeof more, "--gateway %s", router);
    if (toe_restart_command(&f->toe, more, command, sizeof command))
        report_cure(f->report, "%s", command);
    report_advice(f->report, "its connections are lost: a take-over does not change the router");
}

/* Returns whether an interface is in a bridge: the machines behind it need no route. */
static bool is_in_bridge(const char *name)
{
    struct link *links = NULL;
    int n = netlink_links(&links), i;
    bool found = false;

    for (i = 0; i < n; i++)
        if (strcmp(links[i].name, name) == 0)
            found = links[i].master != 0;
    free(links);
    return found;
}

void check_addresses(struct facts *f)
{
    const char *text = json_string_value(json_object_get(f->toe.stats, "address"));
    bool tap = f->toe.kind == TOE_TAP && !is_in_bridge(f->toe.interface);
    char words[128], *word, *save = NULL;
    struct address a;

    if (!text || !f->toe.is_here)
        return;
    check_duplicates(f);
    if (strstr(text, "(shared") || f->toe.kind == TOE_OTHER)
        return; /* the kernel's own; or an interface that the kernel has no part in */
    snprintf(words, sizeof words, "%s", text);
    for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (!parse(word, &a))
            continue;
        check_conflict(f->report, &a);
        if (tap)
            check_tap(f, &a);
        if (a.family == AF_INET && f->toe.kind == TOE_AF_XDP)
            check_router(f);
    }
}
