/* SPDX-License-Identifier: Apache-2.0 */
/* tune.c - `toehold tune`: see tune.h. Begin reading at cli_tune(). */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/daemon.h"
#include "../common/exit.h"
#include "../common/message.h"
#include "../common/part.h"
#include "apply.h"
#include "options.h"
#include "report.h"
#include "tune.h"

#define BENCH "toehold-bench"

/* Everything of one call; too large for the stack. */
struct tune {
    struct tune_options o;
    struct tune_workload workload;
    struct tune_facts facts;
    char reasons[TUNE_PLACES][TUNE_WHY];
    struct tune_settings settings;
    struct tune_saved saved;
    struct tune_trial trial;
    struct tune_conclusion_of conclusion;
};

/* ---- what is there ---- */

/* Reads the interface, and refuses one that is not to be changed. */
static int read_interface(struct tune *t)
{
    const char *name = t->o.interface;
    struct nic *nic = &t->facts.state.nic;

    nic_read(name, nic);
    if (!nic->exists) {
        cli_message("tune: no interface %s; `ip link` lists them", name);
        return CLI_CONFIG;
    }
    if (!t->o.force && !t->o.dry && nic_has_default_route(name)) {
        cli_message(
            "tune: %s carries the default route: a setting that its driver cannot bear would "
            "cut this machine off; --force does it",
            name);
        return CLI_CONFIG;
    }
    return CLI_OK;
}

static int find_programs(struct tune_workload *w)
{
    ssize_t n = readlink("/proc/self/exe", w->toehold, sizeof w->toehold - 1);

    if (n < 0) {
        cli_message("tune: /proc/self/exe: %s", strerror(errno));
        return CLI_FAILURE;
    }
    if (w->url &&
        !cli_find_part(BENCH, "../bench/load/", TOEHOLD_BINDIR, "TOEHOLD_BENCH", w->bench))
        return CLI_CONFIG;
    return CLI_OK;
}

/* Finds out where the workload can run. Only the places that are wanted are examined. */
static void examine_places(struct tune *t)
{
    bool watches = t->o.watch;
    int p;

    for (p = TUNE_TOED; p < TUNE_PLACES; p++) {
        if (watches)
            t->facts.no_place[p] = "what runs already stays where it is: give a command or a URL";
        else if (t->o.words >> (TUNE_W_TOED + p - TUNE_TOED) & 1 &&
                 !tune_can_run(&t->workload, p, t->reasons[p], sizeof t->reasons[p]))
            t->facts.no_place[p] = t->reasons[p];
    }
}

static int examine(struct tune *t)
{
    char why[TUNE_WHY];
    const char *what;
    int code = read_interface(t);

    t->workload = (struct tune_workload){.command = t->o.command,
                                         .url = t->o.url,
                                         .connections = t->o.connections,
                                         .interface = t->o.interface,
                                         .socket = cli_socket_path(t->o.socket)};
    if (code == CLI_OK)
        code = find_programs(&t->workload);
    if (code)
        return code;
    if (!tune_buffers_read(&t->facts.state.buffers, &what)) {
        cli_message("tune: %s: %s", what, strerror(errno));
        return CLI_FAILURE;
    }
    t->facts.buffers_permitted = tune_buffers_permitted();
    examine_places(t);
    if (t->o.words >> TUNE_W_TOED & 1 && !t->facts.no_place[TUNE_TOED] &&
        !tune_toe_read(t->workload.socket, &t->facts.state.toe, why, sizeof why))
        t->facts.state.toe.count = 0; /* a simulated TOE has no offloads to switch */
    return CLI_OK;
}

/* Returns which of the words that --try names is not possible, -1: none. */
static int find_impossible(const struct tune *t)
{
    const struct tune_settings *s = &t->settings;
    uint32_t word, named;
    char unknown[40];
    size_t i;

    for (i = 0; i < s->left_out_count; i++)
        if (tune_parse_words(s->left_out[i].what, &word, &named, unknown, sizeof unknown) &&
            named & t->o.named)
            return (int)i;
    return -1;
}

/* Collects the settings. What --try names must be possible. */
static int collect(struct tune *t)
{
    const struct tune_settings *s = &t->settings;
    int i;

    tune_collect(&t->facts, t->o.words, &t->settings);
    i = find_impossible(t);
    if (i >= 0) {
        cli_message("tune: --try %s: %s: %s", s->left_out[i].what, t->o.interface,
                    s->left_out[i].why);
        return strcmp(s->left_out[i].what, "toed") == 0 ? CLI_NO_DAEMON : CLI_CONFIG;
    }
    if (s->count < 2) {
        cli_message("tune: nothing can be switched here: %s: %s", s->left_out[0].what,
                    s->left_out[0].why);
        return CLI_CONFIG;
    }
    return CLI_OK;
}

/* ---- the verb's parts ---- */

static int end_of_output(int code)
{
    if (fflush(stdout) == 0)
        return code;
    cli_message("cannot write: %s", strerror(errno));
    return CLI_FAILURE;
}

static int show_plan(const struct tune *t)
{
    if (t->o.json)
        tune_print_plan_json(&t->settings, t->o.interface);
    else
        tune_print_plan(&t->settings, &t->facts.state);
    return end_of_output(CLI_OK);
}

static int revert(const struct tune_options *o)
{
    static struct tune_saved s; /* large */

    switch (tune_load(o->state, &s)) {
    case TUNE_NONE:
        cli_message("tune: nothing to revert: there is no %s", o->state);
        return CLI_OK;
    case TUNE_RUNNING:
        cli_message("tune: %s is in use by a running `toehold tune`; end it with SIGINT, and it "
                    "reverts",
                    o->state);
        return CLI_CONFIG;
    case TUNE_INVALID:
        return CLI_CONFIG;
    default:
        break;
    }
    if (!tune_revert(&s))
        return CLI_FAILURE;
    cli_message("tune: %s and the socket buffers are set as before", s.before.nic.name);
    return CLI_OK;
}

/* Sets everything as before, or as is best. Returns false after a message. *applied: what was
 * applied, NULL: nothing. */
static bool finish(struct tune *t, bool measured, char *text, size_t size, const char **applied)
{
    const struct tune_conclusion_of *c = &t->conclusion;

    *applied = NULL;
    if (!measured || !t->o.apply || c->what != TUNE_USE)
        return tune_revert(&t->saved);
    if (tune_restore(&t->saved) &&
        tune_apply(&t->saved, &t->trial.rows[c->best].setting, t->o.settings, text, size)) {
        *applied = text;
        return true;
    }
    tune_revert(&t->saved);
    return false;
}

static const char *workload_name(const struct tune_options *o)
{
    return o->url ? o->url : o->command ? o->command[0] : "what runs now";
}

static void report(const struct tune *t, const char *applied)
{
    const struct tune_report r = {&t->trial,      &t->settings,         &t->conclusion,
                                  t->o.interface, workload_name(&t->o), applied};

    if (t->o.json)
        tune_print_json(&r);
    else
        tune_print_text(&r);
}

/* Ends the process by the signal that came, so that its parent sees it. */
static int end_by_signal(bool reverted)
{
    int n = tune_signal();
    sigset_t set;

    if (reverted)
        cli_message("tune: interrupted; everything is set as before");
    sigemptyset(&set);
    sigaddset(&set, n);
    signal(n, SIG_DFL);
    raise(n);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return CLI_FAILURE;
}

static int measure(struct tune *t)
{
    char text[512];
    const char *applied;
    enum tune_tried tried;
    bool ok;

    if (!tune_save(&t->saved))
        return CLI_CONFIG;
    tried = tune_try(&t->trial, &t->workload, &t->settings, &t->conclusion);
    ok = finish(t, tried == TUNE_MEASURED, text, sizeof text, &applied);
    if (tried == TUNE_INTERRUPTED)
        return end_by_signal(ok);
    if (tried == TUNE_CANNOT)
        return CLI_FAILURE;
    report(t, applied);
    return end_of_output(!ok ? CLI_FAILURE : t->conclusion.no_work ? CLI_NO_SAMPLE : CLI_OK);
}

static int tune(struct tune *t)
{
    int code;

    if (!tune_signals_hold()) {
        cli_message("tune: signalfd: %s", strerror(errno));
        return CLI_FAILURE;
    }
    code = examine(t);
    if (code == CLI_OK)
        code = collect(t);
    if (code)
        return code;
    if (t->o.dry)
        return show_plan(t);
    t->trial.workload = &t->workload;
    t->trial.before = &t->facts.state;
    t->trial.budget = (double)t->o.budget;
    t->trial.most = t->o.rounds;
    t->trial.goal = t->o.goal;
    t->trial.quiet = t->o.quiet;
    t->saved.before = t->facts.state;
    snprintf(t->saved.path, sizeof t->saved.path, "%s", t->o.state);
    return measure(t);
}

int cli_tune(int argc, char **argv)
{
    struct tune *t = calloc(1, sizeof *t);
    bool done = false;
    int code;

    if (!t) {
        cli_message("tune: %s", strerror(errno));
        return CLI_FAILURE;
    }
    code = tune_parse(argc, argv, &t->o, &done);
    if (code == CLI_OK && !done)
        code = t->o.revert ? revert(&t->o) : tune(t);
    free(t);
    return code;
}
