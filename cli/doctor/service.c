/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "../common/word.h"
#include "service.h"

#define SOCKET_SUFFIX ".sock"

/* Cures that the caller may not connect: the first folder above that may not be entered, else the
 * socket's group becomes that of the caller. */
static void cure_right(struct report *r, const char *path)
{
    const struct group *g = getgrgid(getegid());
    char folder[PATH_MAX], word[PATH_MAX], group[64];
    const char *end = path;

    while ((end = strchr(end + 1, '/'))) {
        snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
        if (access(folder, X_OK) == 0 || !cli_word(word, sizeof word, folder))
            continue;
        report_cure(r, "chmod a+x %s", word);
        report_advice(r, "as root; or start toed with a --socket in a folder that all may enter");
        return;
    }
    if (!g || !cli_word(group, sizeof group, g->gr_name) || !cli_word(word, sizeof word, path))
        return;
    report_cure(r, "chgrp %s %s", group, word);
    report_advice(r, "as root; for the next start: toed --group NAME or --user NAME");
}

/* A file is moved, not removed: its content may be of use. Of a folder or a device the path is
 * wrong.
 */
static void cure_file(struct report *r, const char *path, const char *word)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && *word)
        report_cure(r, "mv -n %s %s.old", word, word);
    else
        report_advice(r, "name another path by --socket");
}

static void check_state(const struct facts *f)
{
    const struct toe *t = &f->toe;
    struct report *r = f->report;
    const char *path = f->socket_path;
    char word[PATH_MAX];

    cli_word(word, sizeof word, path);
    switch (t->state) {
    case TOE_ANSWERS:
        report_add(r, FOUND_OK, "toed.state", "the TOE at %s (pid %d) answers", path, t->pid);
        break;
    case TOE_ABSENT:
        report_add(r, FOUND_NOTE, "toed.state", "no TOE at %s: %s", path, t->why);
        report_advice(r, "start toed, or name its socket by --socket");
        break;
    case TOE_STALE:
        report_add(r, FOUND_WARNING, "toed.state",
                   "no TOE at %s: its toed has ended without removing the socket", path);
        report_cure(r, "rm %s", word);
        report_advice(r, "its log has the reason; a new toed replaces the socket, too");
        break;
    case TOE_NOT_A_SOCKET:
        report_add(r, FOUND_ERROR, "toed.state", "%s is no socket: toed does not start there",
                   path);
        cure_file(r, path, word);
        break;
    case TOE_NO_RIGHT:
        report_add(r, FOUND_ERROR, "toed.state", "user %u may not connect to %s: %s", geteuid(),
                   path, t->why);
        cure_right(r, path);
        break;
    case TOE_STOPPED:
        report_add(r, FOUND_ERROR, "toed.state", "toed (pid %d) is stopped: its connections stall",
                   t->pid);
        report_cure(r, "kill -CONT %d", t->pid);
        break;
    case TOE_SILENT:
        report_add(r, FOUND_ERROR, "toed.state",
                   "the process at %s (pid %d) does not work as a TOE: "
                   "%s",
                   path, t->pid, t->why);
        if (t->pid > 0)
            report_cure(r, "kill -KILL %d", t->pid);
        report_advice(r, "start toed again; its connections are lost");
        break;
    case TOE_UNREACHABLE:
        report_add(r, FOUND_ERROR, "toed.state", "cannot connect to %s: %s", path, t->why);
        break;
    }
}

static void check_namespace(const struct facts *f)
{
    if (f->toe.pid <= 0 || f->toe.is_here || f->toe.state == TOE_SILENT)
        return;
    report_add(f->report, FOUND_NOTE, "toed.namespace",
               "toed (pid %d) is in another network namespace: its interface is not checked",
               f->toe.pid);
    report_cure(f->report, "nsenter -t %d -n toehold doctor", f->toe.pid);
}

/* Queue pairs that a TOE has halted, because their programs have violated the device contract. */
static void check_halted(const struct facts *f)
{
    const json_t *engine, *qp;
    size_t i, k;

    json_array_foreach(json_object_get(f->toe.stats, "engines"), i, engine)
    {
        json_array_foreach(json_object_get(engine, "queue_pairs"), k, qp)
        {
            const char *name = json_string_value(json_object_get(qp, "name"));
            int pid = (int)json_integer_value(json_object_get(qp, "pid"));

            if (!json_integer_value(json_object_get(qp, "halted")))
                continue;
            report_add(f->report, FOUND_ERROR, "toed.halted",
                       "toed has halted queue pair %d of %s (pid %d): it broke the device contract",
                       (int)json_integer_value(json_object_get(qp, "id")), name ? name : "?", pid);
            if (pid > 0)
                report_cure(f->report, "kill %d", pid);
            report_advice(f->report, "start the program again");
        }
    }
}

/* Returns whether a name in the socket's folder is that of a folder in which a toed makes its
 * socket: ".NAME.PID.N", of a process that has ended. */
static bool is_left_folder(const char *name, const char *socket_name)
{
    size_t n = strlen(socket_name);
    char path[64];
    int pid, number;

    if (name[0] != '.' || strncmp(name + 1, socket_name, n) != 0 ||
        sscanf(name + 1 + n, ".%d.%d", &pid, &number) != 2)
        return false;
    snprintf(path, sizeof path, "/proc/%d", pid);
    return access(path, F_OK) != 0;
}

static bool is_stale(const char *path)
{
    char why[64];
    enum toe_state state;
    int fd;

    state = toe_knock(path, &fd, NULL, why, sizeof why);
    if (fd >= 0)
        close(fd);
    return state == TOE_STALE;
}

/* What earlier processes have left beside the socket: sockets of engines within programs that were
 * killed, and folders of a toed that was killed while it made its socket. */
static void check_left_behind(const struct facts *f)
{
    const char *slash = strrchr(f->socket_path, '/'), *own = slash ? slash + 1 : f->socket_path;
    char folder[PATH_MAX], path[2 * PATH_MAX], word[2 * PATH_MAX];
    const struct dirent *e;
    DIR *d;

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - f->socket_path) : 1,
             slash ? f->socket_path : ".");
    d = opendir(*folder ? folder : "/");
    while (d && (e = readdir(d))) {
        size_t n = strlen(e->d_name), suffix = strlen(SOCKET_SUFFIX);
        bool is_socket = n > suffix && !strcmp(e->d_name + n - suffix, SOCKET_SUFFIX) &&
                         strcmp(e->d_name, own) != 0;

        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (!cli_word(word, sizeof word, path) ||
            !(is_left_folder(e->d_name, own) || (is_socket && is_stale(path))))
            continue;
        report_add(f->report, FOUND_WARNING, "toed.left_behind",
                   "%s is of a process that was killed", path);
        if (is_socket)
            report_cure(f->report, "rm %s", word);
        else
            report_cure(f->report, "rm -r %s", word);
    }
    if (d)
        closedir(d);
}

void check_service(struct facts *f)
{
    toe_find(&f->toe, f->socket_path);
    check_state(f);
    check_namespace(f);
    check_halted(f);
    check_left_behind(f);
}
