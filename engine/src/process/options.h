/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of toed. */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <toe/log.h>

#include "hosts/users.h"

/* Exit codes. */
#define EXIT_RUNTIME 1 /* something failed while starting or running */
#define EXIT_USAGE   2 /* the command line is wrong */
#define EXIT_CONFIG  3 /* the command line is valid, but not possible on this machine */

#define ENGINES_MAX 64u

/* The text of --help. */
extern const char options_help[];

struct options {
    const char *netif, *socket, *user, *group;
    const char *run_as; /* --run-as; NULL: toed keeps its user */
    uid_t run_uid;      /* ... the ids of it, set by privilege_find() */
    gid_t run_gid;
    int sandbox; /* 0: --no-sandbox */
    uint8_t ip[4], gateway[4], mac[6], secret[32];
    uint8_t isn_secret[16]; /* of this boot (boot_secret.h); zero: none */
    uint8_t prefix_len;
    uint8_t ip6[16], gateway6[16], prefix_len6;
    uint32_t vlan;     /* VLAN ID of all frames; 0: untagged */
    int shared, force; /* --ip shared; --force: also on the interface of the default route */
    int shared6;       /* ... and the interface has IPv6; set by kernel.c */
    int has_ip6, ip6_auto;
    int has_mac, has_secret;
    uint32_t moderation; /* microseconds, or MODERATION_AUTO */
    uint32_t engines, spin_us, max_flows, max_qps, max_memory_mib, mtu;
    uint32_t max_neighbours;   /* per engine; a quarter of them may wait for an answer */
    uint32_t cc;               /* enum toec_cc */
    uint32_t ecn, mtu_probing; /* values as tcp_ecn and tcp_mtu_probing in Linux */
    uint32_t offload;          /* OFFLOAD_* wanted */
    uint32_t offload_asked;    /* ... and those named on the command line */
    uint32_t ttl;              /* 0: the stack's default */
    struct user_limits limits; /* for each user except root */
    int take_over;             /* from the toed that listens on the socket */
    int check_ip;              /* RFC 5227: probe for the IPv4 address first */
    int rfc1337;               /* a RST does not end TIME-WAIT */
    uint32_t cpu[ENGINES_MAX]; /* the engines' CPUs, cpu_count of them; 0: not pinned */
    uint32_t cpu_count;
    int polling, manager_pinned; /* the polling manager's thread runs on manager_cpu */
    uint32_t manager_cpu;
    /* only for an engine within a program (inline.c) */
    uint32_t linger_ms; /* at exit, how long its connections may take to finish */

    enum toe_log_level log_level;
    enum toe_log_format log_format;
    const char *config_file; /* of --config; "": --no-config; NULL: neither */

    char *err; /* buffer for messages; NULL: standard error, as in toed */
    size_t err_size;
};

/* Parses the command line alone, without files and environment (options_layers.h). Returns -1 to
 * continue, or the exit code (after --help, --version, or an error message). */
int options_parse(struct options *o, int argc, char **argv);

/* Parses the options of an engine within a program: words separated by white space in text. text is
 * modified and must outlive *o. Nothing is printed; error messages go to err. */
int options_parse_inside(struct options *o, char *text, char *err, size_t err_size);

/* Writes the requested addresses as text: "192.0.2.1/24", "192.0.2.1/24 and IPv6 as advertised". */
void options_addresses(const struct options *o, char *out, size_t size);

#endif
