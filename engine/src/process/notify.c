/* SPDX-License-Identifier: Apache-2.0 */
/* notify.c - reports the state of toed to a service manager (sd_notify(3)). */
#define _GNU_SOURCE
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

int notify(const char *text)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t len = name ? strlen(name) : 0;
    ssize_t sent;
    int fd;

    if (!len)
        return 0;
    if ((name[0] != '/' && name[0] != '@') || len >= sizeof(a.sun_path)) {
        log_warning("NOTIFY_SOCKET=%s: neither a path nor an abstract name of at most %zu bytes",
                    name, sizeof(a.sun_path) - 1);
        return -1;
    }
    memcpy(a.sun_path, name, len);
    if (name[0] == '@')
        a.sun_path[0] = 0;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sent = fd < 0 ? -1
                  : sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&a,
                           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    if (sent < 0)
        log_warning("cannot notify %s: %s", name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return sent < 0 ? -1 : 0;
}

void notify_ready(const char *status)
{
    char text[512];

    snprintf(text, sizeof(text), "READY=1\nMAINPID=%d\nSTATUS=%.400s", getpid(), status);
    notify(text);
}

void notify_stopping(void)
{
    notify("STOPPING=1");
}
