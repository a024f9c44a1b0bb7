/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - a measurement of `toehold rtt`: its options, its state, its result (result.h).
 * The state belongs to one thread; SIGINT and SIGTERM only set rtt_stopped.
 */
#ifndef TOE_CLI_MEASURE_H
#define TOE_CLI_MEASURE_H

#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "result.h"

enum rtt_source {
    SOURCE_NONE,
    SOURCE_SOFTWARE,
    SOURCE_HARDWARE,
    SOURCE_XDP,
    SOURCE_REGISTERS,
    SOURCE_TOED
};
enum rtt_probe { PROBE_NONE, PROBE_UDP, PROBE_ICMP, PROBE_SYN };
enum rtt_match { MATCH_ANY, MATCH_UDP, MATCH_ICMP, MATCH_TAG, MATCH_TCP, MATCH_NONE };

struct rtt_options {
    enum rtt_source source;
    enum rtt_probe probe;
    enum rtt_match match;
    const char *bar, *block, *socket_path, *interface, *csv, *svg, *listen;
    bool counted, json, help, sources, looped, respond, watch;
    struct sockaddr_storage to;
    socklen_t to_len;
    char to_name[96];
    uint64_t count;       /* probes or samples; 0: until the time is over or SIGINT */
    uint64_t interval_us; /* between probes */
    uint64_t timeout_ms, size, seconds, every_s, tag_offset, local_port, remote_port;
};

/* Size of the reason why there is no result. */
#define RTT_WHY 512

struct rtt {
    struct rtt_options o;
    struct result result;
    uint64_t end_ns;        /* by rtt_now(); UINT64_MAX: no end */
    uint64_t reported_ns;   /* the last live figures */
    unsigned printed_lines; /* of them, on a terminal */
    /* Called by each rtt_over(). Returns false when the measurement cannot continue. */
    bool (*hook)(struct rtt *r, void *arg);
    void *hook_arg;
    bool hook_failed;
    int code;          /* exit code; 0: CLI_NO_SOURCE without a result, CLI_OK with one */
    char why[RTT_WHY]; /* "": a message was printed already */
};

/* Sets r->why and returns false. */
bool rtt_fail(struct rtt *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns CLOCK_MONOTONIC in nanoseconds. */
uint64_t rtt_now(void);

/* Set by SIGINT and SIGTERM: the measurement ends. */
extern volatile sig_atomic_t rtt_stopped;

/* Returns the time since the measurement began, in nanoseconds. */
static inline uint64_t rtt_at(const struct rtt *r)
{
    return rtt_now() - r->result.began_ns;
}

#endif
