/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interlock.c - allows one engine per interface, and per side of a named wire. The claim is an
 * abstract Unix socket with the interface's name. Like interfaces it belongs to a network
 * namespace. It disappears with its process, however that ends, and its credentials identify the
 * holder.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "interlock.h"

#define PREFIX "toehold/if/"

/* A claim: the socket's name, and a description for messages. */
struct claim {
    char key[64], words[128];
};

/* Makes the key of a wire: the hash (FNV-1a) of its path, which is too long for a key. */
static int wire_of(const char *spec, struct claim *c)
{
    size_t path = strcspn(spec, ","), i;
    const char *side = strstr(spec + path, ",side=");
    uint64_t hash = 0xcbf29ce484222325u;

    if (!path || !side || !strchr("ab", side[6]) || !side[6])
        return 0;
    for (i = 0; i < path; i++)
        hash = (hash ^ (uint8_t)spec[i]) * 0x100000001b3u;
    snprintf(c->key, sizeof(c->key), "wire/%016llx/%c", (unsigned long long)hash, side[6]);
    snprintf(c->words, sizeof(c->words), "side %c of wire %.*s", side[6],
             path < 80 ? (int)path : 80, spec);
    return 1;
}

const char *interlock_unwrapped(const char *spec)
{
    while (spec && spec[strcspn(spec, "(:")] == '(') {
        spec = strstr(spec, "):");
        if (spec)
            spec += 2;
    }
    return spec;
}

int interlock_is_private(const char *spec)
{
    static const char *const private[] = {"wire:",         "pcap:",         "dpdk:net_memif",
                                          "dpdk:net_ring", "dpdk:net_null", "dpdk:net_pcap"};
    size_t i;

    spec = interlock_unwrapped(spec);
    for (i = 0; spec && i < sizeof(private) / sizeof(private[0]); i++)
        if (strncmp(spec, private[i], strlen(private[i])) == 0)
            return 1;
    return 0;
}

/* Derives the claim from a specification. Returns 0 when it names nothing that another engine could
 * use. */
static int claim_of(const char *spec, struct claim *c)
{
    static const char *const schemes[] = {"af_xdp:", "tap:"};
    size_t i, n;

    spec = interlock_unwrapped(spec);
    if (!spec)
        return 0;
    if (strncmp(spec, "wire:", 5) == 0)
        return wire_of(spec + 5, c);
    for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        n = strlen(schemes[i]);
        if (strncmp(spec, schemes[i], n) != 0)
            continue;
        spec += n;
        n = strcspn(spec, ",");
        if (n == 0 || n >= sizeof(c->key))
            return 0;
        memcpy(c->key, spec, n);
        c->key[n] = 0;
        snprintf(c->words, sizeof(c->words), "interface %s", c->key);
        return 1;
    }
    return 0;
}

/* Returns the pid of the process that holds the address, from its credentials; 0: unknown. */
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

int interlock_name(const char *spec, char *name, size_t size)
{
    struct claim c;

    if (!claim_of(spec, &c))
        return -1;
    snprintf(name, size, PREFIX "%s", c.key);
    return 0;
}

int interlock_claim(const char *spec, char *err, size_t err_size)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct claim c;
    socklen_t len;
    int fd;

    if (!claim_of(spec, &c))
        return -2;
    /* sun_path[0] stays 0: abstract */
    len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                      (size_t)snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, PREFIX "%s",
                                       c.key));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&addr, len) == 0 && listen(fd, 1) == 0)
        return fd;
    if (errno == EADDRINUSE)
        snprintf(err, err_size,
                 "%s is already served by process %d; end that one first or name "
                 "another interface",
                 c.words, holder(&addr, len));
    else
        snprintf(err, err_size, "cannot claim %s: %s", c.words, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
