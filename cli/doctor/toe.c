/* SPDX-License-Identifier: Apache-2.0 */
/* toe.c - see toe.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <toe/attach.h>

#include "../common/daemon.h"
#include "../common/word.h"
#include "report.h"
#include "toe.h"

#define CONNECT_SECONDS 5
#define ARGS_MAX        65536

static enum toe_state state_of(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return TOE_ABSENT;
    case ECONNREFUSED:
        return TOE_STALE;
    case EACCES:
    case EPERM:
        return TOE_NO_RIGHT;
    default:
        return TOE_UNREACHABLE;
    }
}

enum toe_state toe_knock(const char *path, int *fd, int *pid, char *why, size_t why_size)
{
    struct timeval limit = {.tv_sec = CONNECT_SECONDS};
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct ucred cred = {0};
    socklen_t len = sizeof cred;
    struct stat st;

    *fd = -1;
    if (strlen(path) >= sizeof addr.sun_path) {
        snprintf(why, why_size, "the path is longer than %zu bytes", sizeof addr.sun_path - 1);
        return TOE_UNREACHABLE;
    }
    if (stat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
        return TOE_NOT_A_SOCKET;
    memcpy(addr.sun_path, path, strlen(path) + 1);
    *fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (*fd >= 0)
        (void)setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* of connect() */
    if (*fd < 0 || connect(*fd, (struct sockaddr *)&addr, sizeof addr) != 0) {
        enum toe_state state = errno == EAGAIN ? TOE_SILENT : state_of(errno);

        snprintf(why, why_size, "%s",
                 errno == EAGAIN ? "it accepts no connection" : strerror(errno));
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        return state;
    }
    if (pid && getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0)
        *pid = cred.pid;
    return TOE_ANSWERS;
}

static void read_args(struct toe *t)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/cmdline", t->pid);
    f = fopen(path, "re");
    t->args = f ? malloc(ARGS_MAX + 1) : NULL;
    if (t->args) {
        t->args_size = fread(t->args, 1, ARGS_MAX, f);
        t->args[t->args_size] = '\0';
    }
    if (f)
        fclose(f);
}

static void read_program(struct toe *t)
{
    static const char gone[] = " (deleted)";
    char path[64];
    ssize_t n;
    size_t end;

    snprintf(path, sizeof path, "/proc/%d/exe", t->pid);
    n = readlink(path, t->program, sizeof t->program - 1);
    t->program[n > 0 ? n : 0] = '\0';
    end = strlen(t->program);
    if (end > strlen(gone) && strcmp(t->program + end - strlen(gone), gone) == 0) {
        t->program[end - strlen(gone)] = '\0';
        t->replaced = true;
    }
}

/* A caller without the right to know is assumed to be in the same one. */
static bool is_same_network(int pid)
{
    struct stat here, there;
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
    return stat("/proc/self/ns/net", &here) != 0 || stat(path, &there) != 0 ||
           (here.st_dev == there.st_dev && here.st_ino == there.st_ino);
}

/* Skips the wrappers of a specification: impair(...):SPEC, tee(...):SPEC. */
static const char *unwrapped(const char *spec)
{
    while (spec && spec[strcspn(spec, "(:")] == '(') {
        spec = strstr(spec, "):");
        if (spec)
            spec += 2;
    }
    return spec;
}

static void find_interface(struct toe *t)
{
    const char *spec = toe_option(t, "netif");
    size_t n;

    spec = unwrapped(spec ? spec : toe_option(t, "netio"));
    if (spec && strncmp(spec, "af_xdp:", 7) == 0)
        t->kind = TOE_AF_XDP;
    else if (spec && strncmp(spec, "tap:", 4) == 0)
        t->kind = TOE_TAP;
    else
        return;
    spec += strcspn(spec, ":") + 1;
    n = strcspn(spec, ",");
    if (n < sizeof t->interface)
        snprintf(t->interface, sizeof t->interface, "%.*s", (int)n, spec);
}

static void query(struct toe *t, int fd)
{
    size_t size;
    char *text = cli_ask_quietly(fd, TOEDEV_HELLO_QUERY, "", &size, t->why, sizeof t->why);

    t->state = TOE_SILENT;
    if (!text)
        return;
    t->stats = json_loadb(text, size, 0, NULL);
    free(text);
    if (json_is_array(json_object_get(t->stats, "engines"))) {
        t->state = TOE_ANSWERS;
        return;
    }
    json_decref(t->stats);
    t->stats = NULL;
    snprintf(t->why, sizeof t->why, "its answer is not that of a TOE of this release");
}

void toe_find(struct toe *t, const char *path)
{
    int fd;

    t->state = toe_knock(path, &fd, &t->pid, t->why, sizeof t->why);
    if (t->state != TOE_ANSWERS)
        return;
    if (t->pid > 0) {
        read_args(t);
        read_program(t);
        find_interface(t);
        t->is_here = is_same_network(t->pid);
    }
    if (t->pid > 0 && cli_is_stopped(t->pid))
        t->state = TOE_STOPPED;
    else
        query(t, fd);
    close(fd);
}

void toe_free(struct toe *t)
{
    json_decref(t->stats);
    free(t->args);
}

const char *toe_option(const struct toe *t, const char *name)
{
    const char *word = t->args, *end = t->args + t->args_size, *value = NULL;
    size_t n = strlen(name);

    for (; word && word < end; word += strlen(word) + 1) {
        const char *next = word + strlen(word) + 1;

        if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, n) != 0)
            continue;
        if (word[2 + n] == '=')
            value = word + 2 + n + 1;
        else if (!word[2 + n])
            value = next < end ? next : "";
    }
    return value; /* the last one counts */
}

/* Only toed takes over; an engine within a program has that program's command line. */
static bool is_toed(const struct toe *t)
{
    const char *slash = t->args ? strrchr(t->args, '/') : NULL;

    return t->args && strcmp(slash ? slash + 1 : t->args, "toed") == 0;
}

/* Writes its command line as words of a shell, without --take-over. Returns the length; 0: not
 * known, or it does not fit. */
static size_t write_command(const struct toe *t, char *out, size_t size)
{
    const char *word = t->args, *end = t->args + t->args_size;
    size_t at = 0;
    bool first = true;

    if (!is_toed(t) || !t->program[0])
        return 0;
    for (; word < end; word += strlen(word) + 1, first = false) {
        if (strcmp(word, "--take-over") == 0)
            continue;
        if (at + 1 >= size || !cli_word(out + at, size - at, first ? t->program : word))
            return 0;
        at += strlen(out + at);
        if (at + 2 >= size)
            return 0;
        out[at++] = ' ';
        out[at] = '\0';
    }
    return at;
}

bool toe_take_over_command(const struct toe *t, char *out, size_t size)
{
    size_t at = write_command(t, out, size);

    return at && (size_t)snprintf(out + at, size - at, "--take-over &") < size - at;
}

bool toe_restart_command(const struct toe *t, const char *more, char *out, size_t size)
{
    size_t at =
        (size_t)snprintf(out, size, "kill %d; tail --pid=%d -f /dev/null; ", t->pid, t->pid);
    size_t n = at < size ? write_command(t, out + at, size - at) : 0;

    at += n;
    return n && (size_t)snprintf(out + at, size - at, "%s &", more) < size - at;
}

json_t *toe_listeners(const char *path)
{
    char from[64] = "0 0 0", why[256];
    json_t *all = json_array();
    bool more = true;

    while (more) {
        const char *next;
        size_t size;
        char *text = NULL;
        json_t *batch;
        int fd;

        if (toe_knock(path, &fd, NULL, why, sizeof why) == TOE_ANSWERS)
            text = cli_ask_quietly(fd, TOEDEV_HELLO_FLOWS, from, &size, why, sizeof why);
        if (fd >= 0)
            close(fd);
        batch = text ? json_loadb(text, size, 0, NULL) : NULL;
        free(text);
        if (!batch) {
            json_decref(all);
            return NULL;
        }
        json_array_extend(all, json_object_get(batch, "listeners"));
        next = json_string_value(json_object_get(batch, "next"));
        more = next != NULL;
        snprintf(from, sizeof from, "%s", more ? next : "");
        json_decref(batch);
    }
    return all;
}
