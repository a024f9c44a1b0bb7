/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - parses the words of a filter to a tree, and matches entries with it (filter.h). */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/number.h>

#include "filter.h"

enum kind { F_ALL, F_STATE, F_NUMBER, F_ADDRESS, F_NOT, F_AND, F_OR };
enum op { OP_EQ, OP_NE, OP_LT, OP_GT, OP_LE, OP_GE };

struct filter {
    enum kind kind;
    enum op op;
    const char *field; /* of an entry */
    const char *port_field;
    char state[16];
    uint64_t number;
    uint8_t addr[16]; /* IPv4 as mapped */
    unsigned bits;
    int port; /* -1: any */
    struct filter *a, *b;
};

struct parser {
    char *const *words;
    size_t n, at;
    char *why;
    size_t why_size;
    unsigned depth;
};

#define DEPTH_MAX 64 /* of parentheses and "not" */

static struct filter *parse_or(struct parser *p);
static struct filter *parse_one(struct parser *p);

/* ---- parsing ---- */

static struct filter *node(enum kind kind)
{
    struct filter *f = calloc(1, sizeof *f);

    if (f) {
        f->kind = kind;
        f->port = -1;
    }
    return f;
}

static struct filter *wrong(struct parser *p, struct filter *f, const char *what, const char *word)
{
    if (!p->why[0])
        snprintf(p->why, p->why_size, "%s%s%s", what, word ? " " : "", word ? word : "");
    filter_free(f);
    return NULL;
}

static const char *peek(const struct parser *p)
{
    return p->at < p->n ? p->words[p->at] : NULL;
}

static bool take(struct parser *p, const char *word)
{
    if (!peek(p) || strcmp(peek(p), word) != 0)
        return false;
    p->at++;
    return true;
}

static bool is_state(const char *word)
{
    static const char *const states[] = {"all",        "connected",  "synchronized", "listen",
                                         "closed",     "syn-sent",   "syn-recv",     "established",
                                         "fin-wait-1", "fin-wait-2", "close-wait",   "closing",
                                         "last-ack",   "time-wait"};
    size_t i;

    for (i = 0; i < sizeof states / sizeof states[0]; i++)
        if (!strcmp(word, states[i]))
            return true;
    return false;
}

static struct filter *parse_state(struct parser *p)
{
    struct filter *f;
    const char *word;

    (void)(take(p, "=") || take(p, "=="));
    word = peek(p);
    if (!word || !is_state(word))
        return wrong(p, NULL,
                     "state: want established, listen, syn-sent, syn-recv, fin-wait-1, fin-wait-2, "
                     "close-wait, closing, last-ack, all, connected or synchronized, not",
                     word ? word : "nothing");
    f = node(F_STATE);
    if (f)
        snprintf(f->state, sizeof f->state, "%s", word);
    p->at++;
    return f;
}

static enum op parse_op(struct parser *p)
{
    static const struct {
        const char *word;
        enum op op;
    } ops[] = {{"=", OP_EQ},  {"==", OP_EQ}, {"eq", OP_EQ}, {"!=", OP_NE}, {"ne", OP_NE},
               {"<", OP_LT},  {"lt", OP_LT}, {">", OP_GT},  {"gt", OP_GT}, {"<=", OP_LE},
               {"le", OP_LE}, {">=", OP_GE}, {"ge", OP_GE}};
    size_t i;

    for (i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (take(p, ops[i].word))
            return ops[i].op;
    return OP_EQ;
}

static struct filter *parse_number(struct parser *p, const char *field, uint64_t max)
{
    struct filter *f = node(F_NUMBER);
    const char *word;
    char want[TOE_NUMBER_WANT];

    if (!f)
        return wrong(p, NULL, "no memory", NULL);
    f->field = field;
    f->op = parse_op(p);
    word = peek(p);
    if (!word)
        return wrong(p, f, "a number is missing after", p->words[p->at - 1]);
    if (!toe_number(word + (*word == ':' && max == 65535), 0, max, &f->number, want, sizeof want)) {
        char text[160];

        snprintf(text, sizeof text, "%s %s: want %s", p->words[p->at - 1], word, want);
        return wrong(p, f, text, NULL);
    }
    p->at++;
    return f;
}

/* Splits "ADDRESS[/LEN][:PORT]", IPv6 with a port in brackets, into addr and the numbers. */
static bool read_address(struct filter *f, const char *word)
{
    char text[80], *start = text, *slash, *port = NULL, want[TOE_NUMBER_WANT];
    uint64_t value;
    bool ip6;

    if ((size_t)snprintf(text, sizeof text, "%s", word) >= sizeof text)
        return false;
    if (*text == '[') {
        char *end = strchr(text, ']');

        if (!end || (end[1] && end[1] != ':'))
            return false;
        port = end[1] ? end + 1 : NULL;
        *end = 0;
        start = text + 1;
    } else if (strchr(text, ':') == strrchr(text, ':')) {
        port = strchr(text, ':'); /* one colon: IPv4 and a port */
    }
    if (port) {
        *port++ = 0;
        if (!toe_number(port, 0, 65535, &value, want, sizeof want))
            return false;
        f->port = (int)value;
    }
    slash = strchr(start, '/');
    if (slash)
        *slash++ = 0;
    memcpy(f->addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
    ip6 = inet_pton(AF_INET, start, f->addr + 12) != 1;
    if (ip6 && inet_pton(AF_INET6, start, f->addr) != 1)
        return false;
    f->bits = 128;
    if (slash) {
        if (!toe_number(slash, 0, ip6 ? 128 : 32, &value, want, sizeof want))
            return false;
        f->bits = (unsigned)value + (ip6 ? 0 : 96);
    }
    return true;
}

static struct filter *parse_address(struct parser *p, const char *field, const char *port_field)
{
    struct filter *f = node(F_ADDRESS);
    const char *word;

    if (!f)
        return wrong(p, NULL, "no memory", NULL);
    f->field = field;
    f->port_field = port_field;
    f->op = parse_op(p);
    word = peek(p);
    if (!word || f->op > OP_NE)
        return wrong(p, f,
                     "src, dst: want an address such as 10.0.0.1, 10.0.0.0/24, "
                     "10.0.0.1:80 or [fd00::1]:80, not",
                     word ? word : "nothing");
    if (!read_address(f, word))
        return wrong(p, f,
                     "src, dst: want an address such as 10.0.0.1, 10.0.0.0/24, "
                     "10.0.0.1:80 or [fd00::1]:80, not",
                     word);
    p->at++;
    return f;
}

static struct filter *parse_not(struct parser *p)
{
    struct filter *inner = parse_one(p), *f = inner ? node(F_NOT) : NULL;

    if (!f)
        return wrong(p, inner, "no memory", NULL);
    f->a = inner;
    return f;
}

static struct filter *parse_group(struct parser *p)
{
    struct filter *f = parse_or(p);

    return f && !take(p, ")") ? wrong(p, f, "a ) is missing", NULL) : f;
}

static struct filter *parse_term(struct parser *p)
{
    if (!peek(p))
        return wrong(p, NULL, "the filter ends early, after",
                     p->at ? p->words[p->at - 1] : "nothing");
    if (take(p, "not") || take(p, "!"))
        return parse_not(p);
    if (take(p, "("))
        return parse_group(p);
    if (take(p, "state"))
        return parse_state(p);
    if (take(p, "sport"))
        return parse_number(p, "local_port", 65535);
    if (take(p, "dport"))
        return parse_number(p, "remote_port", 65535);
    if (take(p, "pid"))
        return parse_number(p, "pid", INT32_MAX);
    if (take(p, "uid"))
        return parse_number(p, "uid", UINT32_MAX);
    if (take(p, "src"))
        return parse_address(p, "local", "local_port");
    if (take(p, "dst"))
        return parse_address(p, "remote", "remote_port");
    return wrong(p, NULL, "want state, sport, dport, src, dst, pid, uid, not or (; there is no",
                 peek(p));
}

static struct filter *parse_one(struct parser *p)
{
    struct filter *f;

    if (p->depth == DEPTH_MAX)
        return wrong(p, NULL, "more than 64 levels of parentheses and nots", NULL);
    p->depth++;
    f = parse_term(p);
    p->depth--;
    return f;
}

static struct filter *join(struct parser *p, enum kind kind, struct filter *a, struct filter *b)
{
    struct filter *f = a && b ? node(kind) : NULL;

    if (!f) {
        filter_free(a);
        return wrong(p, b, "no memory", NULL);
    }
    f->a = a;
    f->b = b;
    return f;
}

static struct filter *parse_and(struct parser *p)
{
    struct filter *f = parse_one(p);

    while (f && peek(p) && strcmp(peek(p), "or") != 0 && strcmp(peek(p), ")") != 0) {
        (void)(take(p, "and") || take(p, "&&"));
        f = join(p, F_AND, f, parse_one(p));
    }
    return f;
}

static struct filter *parse_or(struct parser *p)
{
    struct filter *f = parse_and(p);

    while (f && (take(p, "or") || take(p, "||")))
        f = join(p, F_OR, f, parse_and(p));
    return f;
}

struct filter *filter_parse(char *const *words, size_t n, char *why, size_t why_size)
{
    struct parser p = {.words = words, .n = n, .why = why, .why_size = why_size};
    struct filter *f;

    why[0] = 0;
    if (n == 0) {
        f = node(F_ALL);
        return f ? f : wrong(&p, NULL, "no memory", NULL);
    }
    f = parse_or(&p);
    if (f && peek(&p))
        return wrong(&p, f, "unexpected", peek(&p));
    if (!f)
        wrong(&p, NULL, "no memory", NULL);
    return f;
}

void filter_free(struct filter *f)
{
    if (!f)
        return;
    filter_free(f->a);
    filter_free(f->b);
    free(f);
}

/* ---- matching ---- */

static bool match_state(const char *want, const char *state)
{
    if (!strcmp(want, "all"))
        return true;
    if (!strcmp(want, "connected")) /* as ss: all but listen and closed */
        return strcmp(state, "listen") != 0 && strcmp(state, "closed") != 0;
    if (!strcmp(want, "synchronized"))
        return match_state("connected", state) && strcmp(state, "syn-sent") != 0;
    return !strcmp(want, state);
}

static bool compare(enum op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_LT:
        return a < b;
    case OP_GT:
        return a > b;
    case OP_LE:
        return a <= b;
    case OP_GE:
        return a >= b;
    }
    return false;
}

static bool match_address(const struct filter *f, const json_t *entry)
{
    const char *text = json_string_value(json_object_get(entry, f->field));
    uint8_t addr[16] = {[10] = 0xff, [11] = 0xff};
    unsigned bytes = f->bits / 8, rest = f->bits % 8;

    if (!text || (inet_pton(AF_INET, text, addr + 12) != 1 && inet_pton(AF_INET6, text, addr) != 1))
        return false;
    if (f->port >= 0 && json_integer_value(json_object_get(entry, f->port_field)) != f->port)
        return false;
    return memcmp(addr, f->addr, bytes) == 0 &&
           (!rest || ((addr[bytes] ^ f->addr[bytes]) >> (8 - rest)) == 0);
}

bool filter_match(const struct filter *f, const json_t *entry)
{
    const json_t *value;

    switch (f->kind) {
    case F_ALL:
        return true;
    case F_STATE:
        return match_state(f->state, json_string_value(json_object_get(entry, "state")));
    case F_NUMBER:
        value = json_object_get(entry, f->field);
        return value && compare(f->op, (uint64_t)json_integer_value(value), f->number);
    case F_ADDRESS:
        return match_address(f, entry) == (f->op == OP_EQ);
    case F_NOT:
        return !filter_match(f->a, entry);
    case F_AND:
        return filter_match(f->a, entry) && filter_match(f->b, entry);
    case F_OR:
        return filter_match(f->a, entry) || filter_match(f->b, entry);
    }
    return false;
}
