/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gateware.c - `toehold run --engine gateware` and `--engine hybrid`: starts the simulated TOE
 * (gateware/sim: toe_sim, hyb_toe_sim, hyb_toe_sim_prototype, hyb_toe_sim_complete) for the command
 * and translates the engine options to those of the simulation.
 *
 * The simulation ends when no process holds the writing end of a pipe that the command and its
 * children inherit. So a daemon keeps the simulation running, and this program need not wait.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <toe/attach.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../common/part.h"
#include "gateware.h"
#include "inline.h"

#define WORDS         64
#define READY_SECONDS 60
/* High enough not to collide with programs that choose descriptor numbers. */
#define LIFE_FD 500

/* slots: of a queue pair, unless TOEHOLD_SLOTS says otherwise; the simulations have 1024 and 64
 * flows. */
static const struct simulation {
    const char *engine, *program, *variable, *folder, *slots;
} simulations[] = {
    [CLI_GATEWARE] = {"gateware", "toe_sim", "TOEHOLD_TOE_SIM", "../../out/gateware/live/toe_sim/",
                      "256"},
    [CLI_HYBRID] = {"hybrid", "hyb_toe_sim", "TOEHOLD_HYB_TOE_SIM",
                    "../../out/gateware/live/hyb_toe_sim/", "16"},
    [CLI_HYBRID_PROTOTYPE] = {"hybrid", "hyb_toe_sim_prototype", "TOEHOLD_HYB_TOE_SIM_PROTOTYPE",
                              "../../out/gateware/live/hyb_toe_sim_prototype/", "16"},
    [CLI_HYBRID_COMPLETE] = {"hybrid", "hyb_toe_sim_complete", "TOEHOLD_HYB_TOE_SIM_COMPLETE",
                             "../../out/gateware/live/hyb_toe_sim_complete/", "16"},
};

struct argv {
    char *word[WORDS];
    size_t n;
};

/* Translates the engine options. Returns false after a message when the simulation lacks one. */
static bool translate(const struct simulation *sim, char *words, struct argv *a)
{
    static const struct {
        const char *ours, *its;
    } known[] = {{"--netif", "--netif"}, {"--netio", "--netif"}, {"--ip", "--ip"},
                 {"--mac", "--mac"},     {"--mtu", "--mtu"},     {"--gateway", "--gateway"},
                 {"--ip6", "--ip6"},     {"--seed", "--seed"},   {"--gateway6", "--gateway6"}};
    bool netif = false, ip = false;
    char *at, *word;
    size_t i;

    for (word = strtok_r(words, " ", &at); word; word = strtok_r(NULL, " ", &at)) {
        for (i = 0; i < sizeof known / sizeof known[0] && strcmp(word, known[i].ours) != 0; i++)
            ;
        if (i == sizeof known / sizeof known[0]) {
            cli_message("--engine %s does not support %s", sim->engine, word);
            return false;
        }
        netif = netif || i < 2;
        ip = ip || i == 2;
        if (a->n + 2 >= WORDS - 8) {
            cli_message("too many engine options (at most %d)", (WORDS - 9) / 2);
            return false;
        }
        a->word[a->n++] = (char *)known[i].its;
        a->word[a->n++] = strtok_r(NULL, " ", &at);
    }
    if (!netif || !ip)
        cli_message("--engine %s needs --netif SPEC and --ip A.B.C.D/LEN", sim->engine);
    return netif && ip;
}

/* Executes the simulation in the child process. */
static void become(char *path, struct argv *a, const int life[2], const int ready[2])
{
    char text[16];

    snprintf(text, sizeof text, "%d", life[0]);
    a->word[a->n++] = (char *)"--life";
    a->word[a->n++] = text;
    a->word[a->n] = NULL;
    close(life[1]);
    dup2(ready[1], STDOUT_FILENO);
    close(ready[0]);
    close(ready[1]);
    execv(path, a->word);
    cli_message("%s: %s", path, strerror(errno));
    _exit(1);
}

/* Starts the simulation in its own session and reparented: terminal signals do not end it, and the
 * command does not inherit an unknown child. */
static bool start(char *path, struct argv *a, const int life[2], const int ready[2])
{
    pid_t pid = fork();

    if (pid == 0) {
        setsid();
        pid = fork();
        if (pid == 0)
            become(path, a, life, ready);
        _exit(pid < 0);
    }
    if (pid > 0) {
        int status = 1;

        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        if (status == 0)
            return true;
    }
    cli_message("cannot start a process: %s", strerror(errno));
    return false;
}

/* Waits for the line on standard output that the simulation prints when it is ready. End of file
 * means that it failed; it has printed the reason. */
static bool wait_ready(const struct simulation *sim, int from)
{
    struct pollfd p = {.fd = from, .events = POLLIN};
    char byte;

    for (;;) {
        int n = poll(&p, 1, READY_SECONDS * 1000);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0) {
            cli_message("%s was not ready within %d seconds", sim->program, READY_SECONDS);
            return false;
        }
        if (n < 0 || read(from, &byte, 1) != 1) {
            cli_message("the simulated TOE did not start");
            return false;
        }
        if (byte == '\n')
            return true;
    }
}

static bool find_simulation(const struct simulation *sim, char *path)
{
    if (cli_find_part(sim->program, sim->folder, TOEHOLD_LIBDIR, sim->variable, path))
        return true;
    if (!getenv(sim->variable))
        cli_message("build the simulation by scripts/gateware sim %s "
                    "(scripts/setup gateware installs the build tools)",
                    sim->program);
    return false;
}

/* Creates the folder of the default socket, as toed does. A socket that the user named must have an
 * existing folder. */
static void make_folder(const char *socket_path)
{
    char folder[] = TOEDEV_DEFAULT_SOCKET;

    if (strcmp(socket_path, TOEDEV_DEFAULT_SOCKET) != 0)
        return;
    *strrchr(folder, '/') = '\0';
    (void)mkdir(folder, 0755); /* on failure the simulation reports the error */
}

int cli_gateware_start(enum cli_simulated which, const char *socket_path)
{
    const struct simulation *sim = &simulations[which];
    char path[PATH_MAX], words[4096];
    struct argv a = {.word = {(char *)sim->program}, .n = 1};
    int life[2], ready[2], held;
    bool well;

    snprintf(words, sizeof words, "%s", cli_inline_words());
    if (!translate(sim, words, &a))
        return CLI_USAGE;
    if (!find_simulation(sim, path))
        return CLI_CONFIG;
    make_folder(socket_path);
    a.word[a.n++] = (char *)"--socket";
    a.word[a.n++] = (char *)socket_path;
    if (pipe(life) != 0 || pipe(ready) != 0) {
        cli_message("cannot make a pipe: %s", strerror(errno));
        return CLI_FAILURE;
    }
    held = fcntl(life[1], F_DUPFD_CLOEXEC, LIFE_FD);
    if (held >= 0) { /* close-on-exec: the simulation must not hold it */
        close(life[1]);
        life[1] = held;
    }
    well = start(path, &a, life, ready);
    close(life[0]);
    close(ready[1]);
    well = well && wait_ready(sim, ready[0]);
    close(ready[0]);
    if (!well)
        return CLI_FAILURE;
    (void)fcntl(life[1], F_SETFD, 0); /* the command inherits it */
    return setenv("TOEHOLD_SLOTS", sim->slots, 0) == 0 ? 0 : CLI_CONFIG;
}
