/* SPDX-License-Identifier: Apache-2.0 */
/* script.c - scripts as text: "set name value" lines, then one event a line with named arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prop.h"

static const struct {
    const char *name;
    int64_t value;
} settings[S_MAX] = {
#define ROW(name, value) {#name, value},
    SETTINGS(ROW)
#undef ROW
};

static const struct {
    const char *name, *args;
} events[E_MAX] = {
#define ROW(name, args) {#name, args},
    EVENTS(ROW)
#undef ROW
};

void script_init(struct script *s)
{
    int i;

    memset(s, 0, sizeof(*s));
    for (i = 0; i < S_MAX; i++)
        s->set[i] = settings[i].value;
}

void script_free(struct script *s)
{
    free(s->ev);
    s->ev = 0;
    s->n = s->room = 0;
}

void script_add(struct script *s, const struct event *e)
{
    if (s->n == s->room) {
        s->room = s->room ? s->room * 2 : 64;
        s->ev = must(realloc(s->ev, s->room * sizeof(*s->ev)));
    }
    s->ev[s->n++] = *e;
}

void script_copy(struct script *to, const struct script *from)
{
    unsigned i;

    script_init(to);
    memcpy(to->set, from->set, sizeof(to->set));
    for (i = 0; i < from->n; i++)
        script_add(to, &from->ev[i]);
}

/* The name of argument i in the table; its length in *len, 0 if there is none. */
static const char *arg_name(enum event_op op, unsigned i, size_t *len)
{
    const char *p = events[op].args;

    for (; i > 0 && p; i--) {
        p = strchr(p, ' ');
        if (p)
            p++;
    }
    *len = p ? strcspn(p, " ") : 0;
    return p;
}

unsigned event_arity(enum event_op op)
{
    unsigned i = 0;
    size_t len;

    while (arg_name(op, i, &len) && len)
        i++;
    return i;
}

void event_print(const struct event *e, void *file)
{
    unsigned i, n = event_arity(e->op);

    fprintf(file, "%s", events[e->op].name);
    for (i = 0; i < n; i++) {
        size_t len;
        const char *name = arg_name(e->op, i, &len);

        fprintf(file, " %.*s=%lld", (int)len, name, (long long)e->a[i]);
    }
    fputc('\n', file);
}

void script_print(const struct script *s, void *file)
{
    unsigned i;

    for (i = 0; i < S_MAX; i++) {
        if (s->set[i] != settings[i].value)
            fprintf(file, "set %s %lld\n", settings[i].name, (long long)s->set[i]);
    }
    for (i = 0; i < s->n; i++)
        event_print(&s->ev[i], file);
}

static int read_setting(struct script *s, const char *name, const char *value)
{
    unsigned i;

    for (i = 0; name && value && i < S_MAX; i++) {
        if (strcmp(name, settings[i].name) == 0) {
            s->set[i] = strtoll(value, 0, 0);
            return 0;
        }
    }
    return -1;
}

static int read_event(struct script *s, const char *word)
{
    struct event e;
    unsigned op, i;
    char *arg;

    memset(&e, 0, sizeof(e));
    for (op = 0; op < E_MAX && strcmp(word, events[op].name) != 0; op++)
        ;
    if (op == E_MAX)
        return -1;
    e.op = (enum event_op)op;
    while ((arg = strtok(0, " \n")) != 0) {
        char *value = strchr(arg, '=');
        size_t len;
        const char *name;

        if (!value)
            return -1;
        for (i = 0; (name = arg_name(e.op, i, &len)) != 0 && len; i++) {
            if (len == (size_t)(value - arg) && memcmp(name, arg, len) == 0)
                break;
        }
        if (!name || !len)
            return -1;
        e.a[i] = strtoll(value + 1, 0, 0);
    }
    script_add(s, &e);
    return 0;
}

int script_read(struct script *s, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[512];
    unsigned number = 0;

    script_init(s);
    if (!f) {
        perror(path);
        return -1;
    }
    while (fgets(line, sizeof(line), f)) {
        char *word;
        int r;

        number++;
        line[strcspn(line, "#")] = 0;
        word = strtok(line, " \n");
        if (!word)
            continue;
        if (strcmp(word, "set") == 0) {
            char *name = strtok(0, " \n"), *value = strtok(0, " \n");

            r = read_setting(s, name, value);
        } else {
            r = read_event(s, word);
        }
        if (r) {
            fprintf(stderr, "%s:%u: not understood\n", path, number);
            fclose(f);
            return -1;
        }
    }
    fclose(f);
    return 0;
}
