/* SPDX-License-Identifier: Apache-2.0 */
/* versions.c - see versions.h. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <toe/attach.h>

#include "../common/word.h"
#include "versions.h"

#define COMMAND_MAX 8192

/* Finds the systemd unit of a process: the last part of its control group. */
static bool unit_of(int pid, char *unit, size_t size)
{
    char path[64], line[PATH_MAX], *last;
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        last = strrchr(line, '/');
        found = last && strlen(last) > 8 && !strcmp(last + strlen(last) - 8, ".service");
        if (found)
            snprintf(unit, size, "%s", last + 1);
    }
    if (f)
        fclose(f);
    return found;
}

static void cure_toed(struct report *r, const struct toe *t)
{
    char command[COMMAND_MAX], unit[256], word[300];

    if (unit_of(t->pid, unit, sizeof unit) && strcmp(unit, "toed.service") == 0) {
        cli_word(word, sizeof word, unit);
        report_cure(r, "systemctl reload %s", word);
    } else if (toe_take_over_command(t, command, sizeof command)) {
        report_cure(r, "%s", command);
    } else {
        report_advice(r, "end it and start it again");
        return;
    }
    report_advice(r, "connections continue (docs/UPGRADE.md)");
}

static void check_toed(const struct facts *f)
{
    const char *version = json_string_value(json_object_get(f->toe.stats, "version"));
    struct report *r = f->report;

    if (!version)
        return;
    if (strcmp(version, TOEHOLD_VERSION) != 0) {
        report_add(r, FOUND_WARNING, "versions.toed", "toed (pid %d) is %s, toehold is %s",
                   f->toe.pid, version, TOEHOLD_VERSION);
        cure_toed(r, &f->toe);
    } else if (f->toe.replaced) {
        report_add(r, FOUND_WARNING, "versions.replaced",
                   "toed (pid %d) runs a file that has been replaced since: %s", f->toe.pid,
                   f->toe.program);
        cure_toed(r, &f->toe);
    } else {
        report_add(r, FOUND_OK, "versions.toed", "toed is %s", version);
    }
}

/* Finds a library of Toehold that the process has mapped and that has been replaced since. */
static bool maps_replaced(int pid, char *library, size_t size)
{
    static const char gone[] = " (deleted)";
    char path[64], line[PATH_MAX + 128];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *file = strchr(line, '/');
        size_t n;

        line[strcspn(line, "\n")] = '\0';
        n = file ? strlen(file) : 0;
        found = n > strlen(gone) && strcmp(file + n - strlen(gone), gone) == 0 &&
                (strstr(file, "/libtoe_preload.so") || strstr(file, "/libtoe.so"));
        if (found)
            snprintf(library, size, "%.*s", (int)(n - strlen(gone)), file);
    }
    if (f)
        fclose(f);
    return found;
}

static void check_program(struct report *r, const json_t *qp)
{
    const char *name = json_string_value(json_object_get(qp, "name"));
    int pid = (int)json_integer_value(json_object_get(qp, "pid"));
    char library[PATH_MAX], unit[256], word[300];

    if (pid <= 0 || !maps_replaced(pid, library, sizeof library))
        return;
    report_add(r, FOUND_WARNING, "versions.program",
               "%s (pid %d) uses a %s that has been replaced since", name ? name : "?", pid,
               library);
    if (unit_of(pid, unit, sizeof unit) && cli_word(word, sizeof word, unit)) {
        report_cure(r, "systemctl restart %s", word);
        return;
    }
    report_cure(r, "kill %d", pid);
    report_advice(r, "and start it again");
}

void check_versions(struct facts *f)
{
    const json_t *engine, *qp;
    size_t i, k;

    report_add(f->report, FOUND_OK, "versions.toehold", "toehold is %s, device contract %u",
               TOEHOLD_VERSION, TOEDEV_CONTRACT_VERSION);
    check_toed(f);
    json_array_foreach(json_object_get(f->toe.stats, "engines"), i, engine)
    {
        json_array_foreach(json_object_get(engine, "queue_pairs"), k, qp)
        {
            if (i == 0) /* a program has a queue pair of each engine */
                check_program(f->report, qp);
        }
    }
}
