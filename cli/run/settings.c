/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - checks the TOEHOLD_* variables before a command starts, so that a wrong one is
 * reported once here and not by each process of the command. Ranges: toe/settings.h.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <toe/number.h>
#include <toe/settings.h>

#include "../common/message.h"
#include "settings.h"

struct setting {
    const char *name;
    uint64_t min, max;
    bool power_of_two;
};

#define NUMBER(name, low, high, pow2) {"TOEHOLD_" #name, low, high, pow2},
#define FLAG(name)                    {"TOEHOLD_" #name, 0, 1, false},
static const struct setting settings[] = {TOEDEV_NUMBERS(NUMBER) TOEDEV_FLAGS(FLAG)};

static bool check(const struct setting *s)
{
    const char *text = getenv(s->name);
    char want[TOE_NUMBER_WANT];
    uint64_t value;

    if (!text)
        return true;
    if (!toe_number(text, s->min, s->max, &value, want, sizeof want)) {
        cli_message("%s=%s is not %s", s->name, text, want);
        return false;
    }
    if (s->max == 1 && text[1]) {
        cli_message("%s=%s is not one digit, 0 or 1", s->name, text); /* libtoe rejects it too */
        return false;
    }
    if (s->power_of_two && (value & (value - 1))) {
        cli_message("%s=%s is not a power of two", s->name, text);
        return false;
    }
    return true;
}

bool cli_check_environment(void)
{
    const char *path = getenv("TOEHOLD_SOCKET");
    size_t i;

    if (path && strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path) {
        cli_message("TOEHOLD_SOCKET=%s: a socket path has at most %zu bytes", path,
                    sizeof((struct sockaddr_un *)0)->sun_path - 1);
        return false;
    }
    for (i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (!check(&settings[i]))
            return false;
    return true;
}
