/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.c - connects to toed and queries it (daemon.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <toe/attach.h>
#include <toe/config_layers.h>

#include "daemon.h"
#include "exit.h"
#include "message.h"
#include "verbosity.h"

#define ANSWER_SECONDS 5 /* limits the wait for a toed that is stopped or stuck */

const char *cli_socket_path(const char *option)
{
    static const char *const sections[] = {"", NULL};
    static struct config *settings; /* lives as long as the path */
    const char *env = getenv(TOEDEV_SOCKET_ENV);
    char err[CONFIG_ERROR] = "no memory for the settings";

    if (option || (env && *env))
        return option ? option : env;
    if (!settings)
        settings = config_new();
    if (settings &&
        config_load(settings, &(struct config_source){.sections = sections}, err, sizeof err))
        return config_text(settings, "", "socket");
    cli_message("%s", err);
    exit(CLI_CONFIG);
}

bool cli_is_stopped(int pid)
{
    char path[32], line[256];
    const char *end;
    FILE *f;
    bool stopped = false;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "re");
    if (f && fgets(line, sizeof line, f)) {
        end = strrchr(line, ')'); /* the name may contain anything */
        stopped = end && (end[1] == ' ') && (end[2] == 'T' || end[2] == 't');
    }
    if (f)
        fclose(f);
    return stopped;
}

/* Explains why the process behind a connection does not answer. */
static void explain_silence(int fd, char *why, size_t why_size)
{
    struct ucred cred = {0};
    socklen_t len = sizeof cred;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 && cred.pid > 0 &&
        cli_is_stopped(cred.pid))
        snprintf(why, why_size, "toed (pid %d) is stopped; continue it: kill -CONT %d", cred.pid,
                 cred.pid);
    else
        snprintf(why, why_size, "toed did not answer within %d seconds", ANSWER_SECONDS);
}

static void detail_peer(int fd, const char *path)
{
    struct ucred cred = {0};
    socklen_t len = sizeof cred;

    if (cli_verbosity() == CLI_VERBOSE && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0)
        cli_detail("%s: pid %d of user id %u answers", path, cred.pid, cred.uid);
}

int cli_connect(const char *path, char *why, size_t why_size)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    int fd;

    if (strlen(path) >= sizeof addr.sun_path) {
        snprintf(why, why_size, "the socket path %s is longer than %zu bytes", path,
                 sizeof addr.sun_path - 1);
        return -1;
    }
    memcpy(addr.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        snprintf(why, why_size, "cannot create a socket: %s", strerror(errno));
        return -1;
    }
    cli_detail("connecting to the TOE at %s", path);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* also of connect() */
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) == 0) {
        detail_peer(fd, path);
        return fd;
    }
    if (errno == ENOENT || errno == ECONNREFUSED)
        snprintf(why, why_size,
                 "no toed answers at %s (start toed, or name its socket by --socket)", path);
    else if (errno == EAGAIN)
        snprintf(why, why_size,
                 "toed at %s accepts no connection: it is stopped (SIGSTOP), or it hangs", path);
    else if (errno == EACCES)
        snprintf(why, why_size,
                 "no right to reach toed at %s: run as root, or start toed with --user or --group",
                 path);
    else
        snprintf(why, why_size, "cannot reach toed at %s: %s", path, strerror(errno));
    close(fd);
    return -1;
}

/* Waits for the answer. Returns its size, or -1 with the reason in `why`. */
static ssize_t wait_answer(int fd, char *why, size_t why_size)
{
    ssize_t n;

    /* The answer is one message of any size: query its length, then receive it. */
    do {
        n = recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC);
    } while (n < 0 && errno == EINTR);
    if (n > 0)
        return n;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        explain_silence(fd, why, why_size);
    else
        snprintf(why, why_size, "toed closed the connection without an answer");
    return -1;
}

char *cli_ask_quietly(int fd, unsigned kind, const char *name, size_t *size, char *why,
                      size_t why_size)
{
    struct toedev_hello hello = {
        .magic = TOEDEV_MAGIC, .version = TOEDEV_CONTRACT_VERSION, .kind = kind};
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    char *text;
    ssize_t n;

    snprintf(hello.name, sizeof hello.name, "%s", name);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ||
        send(fd, &hello, sizeof hello, MSG_NOSIGNAL) < 0) {
        snprintf(why, why_size, "cannot send the request to toed: %s", strerror(errno));
        return NULL;
    }
    n = wait_answer(fd, why, why_size);
    if (n < 0)
        return NULL;
    text = malloc((size_t)n);
    if (!text || recv(fd, text, (size_t)n, 0) != n) {
        snprintf(why, why_size, "cannot receive the answer of toed (%zd bytes): %s", n,
                 text ? "it was cut short" : "no memory");
        free(text);
        return NULL;
    }
    *size = (size_t)n;
    cli_detail("request %u%s%s: %zu bytes of answer", kind, *name ? ", " : "", name, *size);
    return text;
}

char *cli_ask(int fd, unsigned kind, const char *name, size_t *size)
{
    char why[160], *text = cli_ask_quietly(fd, kind, name, size, why, sizeof why);

    if (!text)
        cli_message("%s", why);
    return text;
}
