/* SPDX-License-Identifier: Apache-2.0 */
/* ports.c - see ports.h. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "file.h"
#include "ports.h"

#define RANGE        "/proc/sys/net/ipv4/ip_local_port_range"
#define RESERVED     "/proc/sys/net/ipv4/ip_local_reserved_ports"
#define PORTS        65536u
#define LEAST        4096 /* ports to connect from: as many connections a minute to one peer */
#define LISTEN_STATE 0x0a /* of /proc/net/tcp */
#define LIST_MAX     4096

struct range {
    unsigned first, last;
};

static bool read_range(struct range *r)
{
    char text[64];

    return file_line(RANGE, text, sizeof text) && sscanf(text, "%u %u", &r->first, &r->last) == 2 &&
           r->first <= r->last;
}

static void check_range(struct report *r, const struct range *range)
{
    unsigned n = range->last - range->first + 1;

    if (n >= LEAST) {
        report_add(r, FOUND_OK, "ports.range", "%u ports to connect from, %u to %u", n,
                   range->first, range->last);
        return;
    }
    report_add(r, FOUND_WARNING, "ports.range",
               "net.ipv4.ip_local_port_range leaves %u port%s to connect from, %u to %u", n,
               n == 1 ? "" : "s", range->first, range->last);
    report_cure(r, "sysctl -w net.ipv4.ip_local_port_range='32768 60999'");
}

/* Returns whether a list such as "8080,9000-9010" has the port. */
static bool has_port(const char *list, unsigned port)
{
    while (*list) {
        unsigned first, last;
        int n = sscanf(list, "%u-%u", &first, &last);

        if (n >= 1 && port >= first && port <= (n == 2 ? last : first))
            return true;
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return false;
}

/* Marks the ports that the kernel has listeners on at all addresses. */
static void read_kernel(const char *path, unsigned char *ports)
{
    FILE *f = fopen(path, "re");
    char line[512], address[64];
    unsigned port, state;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, " %*u: %63[0-9A-F]:%x %*[0-9A-F]:%*x %x", address, &port, &state) == 3 &&
            state == LISTEN_STATE && port < PORTS && address[strspn(address, "0")] == '\0')
            ports[port] = 1;
    if (f)
        fclose(f);
}

/* A port of a listener may be taken by a connection while its program restarts. */
static void check_reserved(struct report *r, const struct range *range, const char *name,
                           unsigned port)
{
    char list[LIST_MAX] = "";

    if (port < range->first || port > range->last)
        return;
    (void)file_line(RESERVED, list, sizeof list);
    if (has_port(list, port))
        return;
    report_add(r, FOUND_WARNING, "ports.reserved",
               "%s listens on port %u, which connections may take while it restarts "
               "(net.ipv4.ip_local_port_range)",
               name, port);
    report_cure(r, "sysctl -w net.ipv4.ip_local_reserved_ports=%s%s%u", list, *list ? "," : "",
                port);
}

static void check_listeners(const struct facts *f, const struct range *range)
{
    unsigned char *seen = calloc(1, PORTS);
    json_t *listeners = toe_listeners(f->socket_path), *l;
    size_t i;

    json_array_foreach(listeners, i, l)
    {
        unsigned port = (unsigned)json_integer_value(json_object_get(l, "local_port")) & 0xffff;
        const char *name = json_string_value(json_object_get(l, "name"));

        if (seen && !seen[port]++)
            check_reserved(f->report, range, name ? name : "a program", port);
    }
    json_decref(listeners);
    free(seen);
}

/* A program on the TOE holds its port in the kernel, too, so that of a listener at all addresses of
 * the kernel is in use for it. */
static void list_kernel(struct report *r)
{
    unsigned char *ports = calloc(1, PORTS);
    char list[256] = "";
    unsigned i;

    if (!ports)
        return;
    read_kernel("/proc/net/tcp", ports);
    read_kernel("/proc/net/tcp6", ports);
    for (i = 0; i < PORTS; i++)
        if (ports[i] && strlen(list) < sizeof list - 16)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%u", *list ? ", " : "", i);
        else if (ports[i] && !strstr(list, "..."))
            snprintf(list + strlen(list), sizeof list - strlen(list), ", ...");
    report_add(r, FOUND_OK, "ports.kernel", "the kernel listens at all addresses on %s",
               *list ? list : "no port");
    if (*list)
        report_advice(r, "a program on the TOE that listens on one of them gets EADDRINUSE: "
                         "`ss -ltnp` names its holder");
    free(ports);
}

void check_ports(struct facts *f)
{
    struct range range;

    if (!read_range(&range))
        return;
    check_range(f->report, &range);
    if (!f->toe.stats || !f->toe.is_here)
        return;
    check_listeners(f, &range);
    list_kernel(f->report);
}
