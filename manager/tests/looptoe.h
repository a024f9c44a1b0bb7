/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looptoe.h - a TOE for tests: a process that speaks the device contract and whose network is a
 * piece of wire from it to itself (docs/device-contract.md).
 *
 * Every CONNECT within 10.99.0.0/24 reaches the listener of the port, in any queue pair. Some
 * ports misbehave on purpose (enum looptoe_port).
 */
#ifndef TOE_LOOPTOE_H
#define TOE_LOOPTOE_H

#include <stdint.h>
#include <sys/types.h>

#define LOOPTOE_IP      "10.99.0.2" /* its address: listeners that are not wildcards */
#define LOOPTOE_PEER_IP "10.99.0.1" /* the address to connect to */
/* With LOOPTOE_IP6 in the environment it supports IPv6, on interface 1, without a router. */
#define LOOPTOE_IP6        "fd99::2"
#define LOOPTOE_LOCAL6     "fe80::2"
#define LOOPTOE_PEER_IP6   "fd99::1"
#define LOOPTOE_PEER_LOCAL "fe80::1"

enum looptoe_port {
    LOOPTOE_SILENT = 61001,   /* never answers a CONNECT */
    LOOPTOE_RESETS = 61002,   /* establishes, then resets */
    LOOPTOE_OVERRUN = 61003,  /* establishes, then claims more data than fits */
    LOOPTOE_UNKNOWN = 61004,  /* answers with an unknown command */
    LOOPTOE_BADSLOT = 61005,  /* answers with a slot out of range */
    LOOPTOE_UNREACH = 61006,  /* no route */
    LOOPTOE_DATA_RST = 61007, /* establishes, sends the bytes "last words", resets */
    LOOPTOE_OVERACK = 61008   /* establishes, acknowledges bytes never sent */
};

/* Starts one with `engines` engines behind the socket at `path` and waits until the socket exists.
 * Returns its process id. */
pid_t looptoe_start(const char *path, unsigned engines);
/* Ends it at once, as kill -9 does. */
void looptoe_kill(pid_t pid);
/* SIGSTOP and SIGCONT: it reads no commands in between. */
void looptoe_freeze(pid_t pid, int frozen);

/* With LOOPTOE_NO_RANGES in its environment it takes no range of ports in CONNECT, as the gateware
 * TOE, and of all local ports only those with this last digit are free. */
#define LOOPTOE_FREE_DIGIT 7

/* Its counters, through TOEDEV_HELLO_QUERY: "slots_used listeners queue_pairs options ports_left";
 * the last: UNLISTENs that left their port without a listener. */
struct looptoe_usage {
    unsigned slots_used, listeners, queue_pairs, options, ports_left;
};
int looptoe_usage(const char *path, struct looptoe_usage *out);

#endif
