/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtt.h - `toehold rtt`: what its files share. A source of times (--source) fills a result
 * (result.h): by probes of its own (probe.c), by watching traffic (watch.c), from the registers of
 * a measuring module (module.c) or from a TOE's samples (toed.c). What is asked for is had, or it
 * is said why not: no source stands in for another.
 */
#ifndef TOE_CLI_RTT_H
#define TOE_CLI_RTT_H

#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
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
    unsigned long count;       /* probes or samples; 0: until the time is over, or SIGINT */
    unsigned long interval_us; /* between probes */
    unsigned long timeout_ms, size, seconds, every_s, tag_offset, local_port, remote_port;
};

/* Why there is no result, in words; exit code CLI_NO_SOURCE unless another is said. */
#define RTT_WHY 512

struct rtt {
    struct rtt_options o;
    struct result result;
    uint64_t end_ns; /* of the clock below; UINT64_MAX: none */
    uint64_t told_ns;
    unsigned told_lines;
    /* Called at each look at the time, beside what runs. False: it cannot go on. */
    bool (*beside)(struct rtt *r, void *arg);
    void *beside_arg;
    bool broken;       /* it said so */
    int code;          /* exit code: of a refusal, where it is not CLI_NO_SOURCE; of a result, 0 or
                        * why it ended before its time */
    char why[RTT_WHY]; /* "": said already */
};

bool rtt_options(int argc, char **argv, struct rtt_options *o, int *code);
void rtt_usage(bool wrong);

/* Says why, and returns false. */
bool rtt_fail(struct rtt *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Each measures until it is done. False: rtt_fail() said why. */
bool probe_run(struct rtt *r);
bool watch_run(struct rtt *r);
bool module_run(struct rtt *r);
bool toed_run(struct rtt *r);
bool xdp_run(struct rtt *r);
/* Can times be had from XDP metadata there? In any case what there is to say, in why. */
bool xdp_there(const char *interface, char *why, size_t size);
/* Answers UDP probes until it is interrupted. An exit code. */
int respond_run(const struct rtt_options *o);
/* What there is of sources, on this machine and interface. An exit code. */
int sources_show(const struct rtt_options *o);

/* CLOCK_MONOTONIC. */
uint64_t rtt_now(void);
/* Is it over: interrupted, time out? Prints what has come meanwhile where somebody looks on. */
bool rtt_over(struct rtt *r);
extern volatile sig_atomic_t rtt_stopped;

/* Time since the measurement began. */
static inline uint64_t rtt_at(const struct rtt *r)
{
    return rtt_now() - r->result.began_ns;
}

/* ---- output */
void text_live(struct rtt *r);
void text_result(const struct rtt *r);
void json_result(const struct rtt *r);
bool csv_write(const struct result *r, const char *path, char *why, size_t size);
bool svg_write(const struct result *r, const char *path, char *why, size_t size);
/* "12.3 us" */
const char *text_time(double ns, char buf[32]);

/* The prober's sockets (wire.c, stamps.c) and the clock's questions (device.c) have headers of
 * their own. */
#endif
