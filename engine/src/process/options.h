/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what toed is told on its command line. */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "hosts/users.h"

/* Exit codes. */
#define EXIT_RUNTIME 1 /* something failed while starting or running */
#define EXIT_USAGE   2 /* the command line is wrong */
#define EXIT_CONFIG  3 /* the command line is right, but cannot be had here */

#define ENGINES_MAX 64u

struct options {
    const char *netif, *socket, *user, *group;
    uint8_t ip[4], gateway[4], mac[6], secret[32];
    uint8_t prefix_len;
    uint8_t ip6[16], gateway6[16], prefix_len6;
    int shared, force; /* ip: what the kernel has; also on the interface of its default route */
    int shared6;       /* ... which has IPv6; kernel.c finds out */
    int has_ip6, ip6_auto;
    int has_mac, has_secret;
    uint32_t engines, spin_us, max_flows, max_qps, max_memory_mib, mtu;
    uint32_t cc;               /* enum toec_cc */
    uint32_t ecn, mtu_probing; /* as tcp_ecn and tcp_mtu_probing of Linux */
    uint32_t offload;          /* OFFLOAD_* wanted */
    uint32_t offload_asked;    /* ... and those of them that were named */
    uint32_t ttl;              /* 0: the stack's default */
    struct user_limits limits; /* of each user but root */
    int take_over;             /* from the toed that serves at the socket */
    int check_ip;              /* RFC 5227: the IPv4 address is tested first */
    uint32_t cpu[ENGINES_MAX]; /* of the engines' threads, cpu_count of them; 0: any */
    uint32_t cpu_count;
    int polling, manager_pinned; /* the polling manager's thread runs on manager_cpu */
    uint32_t manager_cpu;
    /* of an engine within a program alone (inline.c) */
    uint32_t linger_ms; /* at exit its connections may take so long to finish */

    char *err; /* where messages go; NULL: to standard error, as toed's */
    size_t err_size;
};

/* Reads the command line. Returns -1 to go on, or the exit code (after --help, --version, or a
 * message about what is wrong). */
int options_parse(struct options *o, int argc, char **argv);

/* The same of the options of an engine within a program: words separated by white space, in text,
 * which is changed and must stay. Nothing is printed; what is wrong stands in err. */
int options_parse_inside(struct options *o, char *text, char *err, size_t err_size);

/* What addresses were asked for, in words: "192.0.2.1/24", "192.0.2.1/24 and IPv6 as advertised".
 */
void options_addresses(const struct options *o, char *out, size_t size);

#endif
