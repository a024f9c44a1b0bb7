/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of toehold-bench. */
#ifndef LOAD_OPTIONS_H
#define LOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "calls.h"

enum load_mode {
    LOAD_PINGPONG = 1, /* send N bytes, get N bytes back */
    LOAD_BULK = 2,     /* a stream, one way */
    LOAD_CONNS = 4,    /* connect, an exchange or none, close */
    LOAD_HTTP = 8,
    LOAD_SERVE = 16
};

enum load_role { ROLE_PINGPONG, ROLE_SINK, ROLE_BULK, ROLE_HTTP };

/* How a connection of one exchange ends. */
enum load_close {
    CLOSE_FIN, /* we send the FIN; TIME-WAIT is on our side */
    CLOSE_RST, /* we send an RST; no TIME-WAIT */
    CLOSE_WAIT /* the peer sends the FIN; TIME-WAIT is on its side */
};

struct load_options {
    enum load_mode mode;
    enum load_role role;
    const struct load_calls *calls;
    char where[128]; /* address and port, for messages */
    struct sockaddr_storage addr;
    socklen_t addr_len;
    uint32_t connections, idle, threads;
    uint32_t at_once; /* exchanges in flight; 0: one on each connection */
    uint32_t ports;   /* consecutive ports, from that of addr */
    uint32_t size;    /* of a request and of its answer, or of a served body */
    uint32_t message; /* bytes a send or a receive of a stream */
    uint64_t warmup_ns, time_ns, timeout_ns;
    double rate; /* requests or connections a second, all threads together; 0: closed loop */
    bool busy, verify, json, quiet, verbose, down;
    bool zero_copy; /* bulk up: MSG_ZEROCOPY; down: borrow() */
    bool fresh;     /* a connection for each request */
    bool once;      /* serve: the server closes after one answer */
    enum load_close close;
    uint32_t port_low, port_high; /* local ports; 0: the kernel's choice */
    const char *hdr;              /* file of the log, or NULL */
    const char *url;              /* http: as given */
    char *request;                /* http: the text */
    size_t request_size;
    uint32_t expect_status;
    int64_t expect_length; /* -1: that of the first answer */
};

/* Parses the command line. Returns -1 on success, or an exit code after a message or the help. */
int load_parse(struct load_options *o, int argc, char **argv);

/* Returns addr with the i-th port of o->ports. */
struct sockaddr_storage load_addr(const struct load_options *o, uint32_t i);

#endif
