/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - questions to a running TOE (query.h). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon.h"
#include "exit.h"
#include "message.h"
#include "query.h"

json_t *cli_query_quietly(const char *path, unsigned kind, const char *name, int *code, char *why,
                          size_t why_size)
{
    json_error_t error;
    json_t *root;
    size_t size;
    char *text;
    int fd = cli_connect(path, why, why_size);

    *code = fd < 0 ? CLI_NO_DAEMON : CLI_FAILURE;
    if (fd < 0)
        return NULL;
    text = cli_ask_quietly(fd, kind, name, &size, why, why_size);
    close(fd);
    if (!text)
        return NULL;
    root = json_loadb(text, size, 0, &error);
    free(text);
    if (json_is_object(root)) {
        *code = CLI_OK;
        return root;
    }
    snprintf(why, why_size,
             "cannot parse the answer of the TOE: %s; use toehold and toed of one release",
             root ? "not an object" : error.text);
    json_decref(root);
    return NULL;
}

json_t *cli_query(const char *path, unsigned kind, const char *name, int *code)
{
    char why[512];
    json_t *root = cli_query_quietly(path, kind, name, code, why, sizeof why);

    if (!root)
        cli_message("%s", why);
    return root;
}

int cli_query_all(const char *path, unsigned kind, const char *from, const char *list,
                  void (*keep)(void *arg, json_t *entry), void *arg, char *why, size_t why_size)
{
    char next[64];
    int code = CLI_OK;

    snprintf(next, sizeof next, "%s", from);
    while (code == CLI_OK && next[0]) {
        json_t *batch = cli_query_quietly(path, kind, next, &code, why, why_size), *entry;
        const char *more = json_string_value(json_object_get(batch, "next"));
        size_t i;

        json_array_foreach(json_object_get(batch, list), i, entry)
        {
            keep(arg, entry);
        }
        snprintf(next, sizeof next, "%s", more ? more : "");
        json_decref(batch);
    }
    return code;
}
