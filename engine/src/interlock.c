/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interlock.c - one toed per interface. The claim is an abstract Unix socket with the interface's
 * name: it is per network namespace as interfaces are, goes away with its process however that
 * ends, and its credentials name the holder.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "interlock.h"

#define PREFIX "toehold/if/"

/* The interface that a specification names; 0 when it names none. */
static int interface_of(const char *spec, char *name, size_t size)
{
    static const char *const schemes[] = {"af_xdp:", "tap:"};
    size_t i, n;

    /* what stands around a back end: impair(...):SPEC, tee(...):SPEC */
    while (spec[strcspn(spec, "(:")] == '(') {
        const char *end = strstr(spec, "):");

        if (!end)
            return 0;
        spec = end + 2;
    }
    for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        n = strlen(schemes[i]);
        if (strncmp(spec, schemes[i], n) != 0)
            continue;
        spec += n;
        n = strcspn(spec, ",");
        if (n == 0 || n >= size)
            return 0;
        memcpy(name, spec, n);
        name[n] = 0;
        return 1;
    }
    return 0;
}

/* The process that holds the address, by its credentials; 0: not known. */
static int holder(const struct sockaddr_un *addr, socklen_t len)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct ucred cred = {0};
    socklen_t cred_len = sizeof(cred);

    if (fd < 0)
        return 0;
    if (connect(fd, (const struct sockaddr *)addr, len) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) != 0)
        cred.pid = 0;
    close(fd);
    return cred.pid;
}

int interlock_claim(const char *spec, char *err, size_t err_size)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    char name[64];
    socklen_t len;
    int fd;

    if (!interface_of(spec, name, sizeof(name)))
        return -2;
    /* sun_path[0] stays 0: abstract */
    len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                      (size_t)snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, PREFIX "%s",
                                       name));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&addr, len) == 0 && listen(fd, 1) == 0)
        return fd;
    if (errno == EADDRINUSE)
        snprintf(err, err_size,
                 "interface %s is already served by toed with pid %d; end that one first or name "
                 "another interface",
                 name, holder(&addr, len));
    else
        snprintf(err, err_size, "cannot claim interface %s: %s", name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
