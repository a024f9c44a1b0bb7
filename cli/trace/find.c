/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - which flow is meant (find.h). */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <toe/attach.h>
#include <toe/number.h>

#include "common/exit.h"
#include "common/message.h"
#include "common/query.h"
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

static bool read_address(const char *text, uint8_t out[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    memcpy(out, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, out + 12) == 1 || inet_pton(AF_INET6, text, out) == 1;
}

/* Reads ADDRESS:PORT or [ADDRESS]:PORT. */
static bool read_end(const char *text, uint8_t address[16], uint16_t *port, char *why, size_t size)
{
    const char *colon = strrchr(text, ':');
    char copy[80], want[TOE_NUMBER_WANT];
    size_t n = colon ? (size_t)(colon - text) : 0, skip = text[0] == '[';
    uint64_t value;

    if (!colon || n >= sizeof copy || (skip && (n < 2 || text[n - 1] != ']'))) {
        snprintf(why, size, "%s is not ADDRESS:PORT or [IPV6]:PORT", text);
        return false;
    }
    memcpy(copy, text + skip, n - 2 * skip);
    copy[n - 2 * skip] = '\0';
    if (!read_address(copy, address) || (!skip && strchr(copy, ':'))) {
        snprintf(why, size, "%s is not an address, of %s", copy, text);
        return false;
    }
    if (!toe_number(colon + 1, 1, 65535, &value, want, sizeof want)) {
        snprintf(why, size, "port %s of %s is not %s", colon + 1, text, want);
        return false;
    }
    *port = (uint16_t)value;
    return true;
}

/* Checks "ENGINE.RING.SERIAL". */
static bool is_id(const char *text)
{
    char copy[FIND_ID_MAX], want[TOE_NUMBER_WANT], *save = NULL, *part;
    uint64_t value;
    unsigned n = 0;

    if (strlen(text) >= sizeof copy || strstr(text, "..") || text[0] == '.' ||
        text[strlen(text) - (text[0] != '\0')] == '.')
        return false;
    snprintf(copy, sizeof copy, "%s", text);
    for (part = strtok_r(copy, ".", &save); part; part = strtok_r(NULL, ".", &save), n++)
        if (n == 3 || !toe_number(part, 0, UINT32_MAX, &value, want, sizeof want))
            return false;
    return n == 3;
}

bool find_parse(struct find *f, int argc, char **argv, char *why, size_t size)
{
    memset(f, 0, sizeof *f);
    if (argc == 1 && is_id(argv[0])) {
        snprintf(f->id, sizeof f->id, "%s", argv[0]);
        return true;
    }
    if (argc == 2)
        return read_end(argv[0], f->local, &f->local_port, why, size) &&
               read_end(argv[1], f->remote, &f->remote_port, why, size);
    if (argc > 2)
        snprintf(why, size, "unexpected argument %s after LOCAL:PORT REMOTE:PORT", argv[2]);
    else
        snprintf(why, size,
                 "%s is not the id of a flow (such as 0.17.231, as toehold flows prints it), nor "
                 "LOCAL:PORT REMOTE:PORT",
                 argv[0]);
    return false;
}

struct best {
    struct find *wanted;
    bool open;
    long long last; /* time of its last event */
};

static bool is_end(const json_t *entry, const char *name, const uint8_t address[16],
                   const char *port_name, uint16_t port)
{
    uint8_t is[16];

    return number(entry, port_name) == port && read_address(word(entry, name), is) &&
           memcmp(is, address, sizeof is) == 0;
}

static void compare(void *arg, json_t *entry)
{
    struct best *b = arg;
    struct find *f = b->wanted;
    bool open = !json_is_true(json_object_get(entry, "ended"));
    long long last = number(json_object_get(entry, "last"), "time_ns");

    if (!is_end(entry, "local", f->local, "local_port", f->local_port) ||
        !is_end(entry, "remote", f->remote, "remote_port", f->remote_port))
        return;
    if (f->id[0] && (b->open > open || (b->open == open && b->last > last)))
        return;
    snprintf(f->id, sizeof f->id, "%s", word(entry, "flow"));
    b->open = open;
    b->last = last;
}

int find_flow(const char *path, struct find *f)
{
    struct best best = {.wanted = f};
    char why[512];
    int code;

    if (f->id[0])
        return CLI_OK;
    code = cli_query_all(path, TOEDEV_HELLO_TRACE, "list 0 0", "flows", compare, &best, why,
                         sizeof why);
    if (code)
        cli_message("%s", why);
    else if (!f->id[0])
        cli_message("trace: no flow with these ends has events; toehold trace lists those that "
                    "have");
    return code ? code : f->id[0] ? CLI_OK : CLI_FAILURE;
}

void find_end_text(const json_t *entry, const char *address, const char *port, char *text,
                   size_t size)
{
    const char *ip = word(entry, address);

    snprintf(text, size, strchr(ip, ':') ? "[%s]:%lld" : "%s:%lld", ip, number(entry, port));
}
