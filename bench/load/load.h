/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - what the files of toehold-bench share: settings, the socket calls it makes, small
 * helpers. One thread of it is one struct worker (client) or one loop of server.c; threads share
 * nothing while they measure.
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define LOAD_NS_PER_S  1000000000ull
#define LOAD_NS_PER_MS 1000000ull

/* Exit codes (cli/README.md). */
enum load_exit {
    LOAD_OK = 0,
    LOAD_FAILURE = 1, /* nothing could be measured: the message says why */
    LOAD_USAGE = 2,
    LOAD_ERRORS = 6 /* measured, but requests or connections failed: the result counts them */
};

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
    CLOSE_FIN, /* by us: the peer sees an end, TIME-WAIT is ours */
    CLOSE_RST, /* by us with a reset: no TIME-WAIT */
    CLOSE_WAIT /* by the peer: we wait for its end, TIME-WAIT is there */
};

/* The calls that a TOE may carry: libc's or libtoe's own. */
struct load_calls {
    const char *name;
    int (*socket)(int, int, int);
    int (*bind)(int, const struct sockaddr *, socklen_t);
    int (*listen)(int, int);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
    int (*connect)(int, const struct sockaddr *, socklen_t);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    int (*shutdown)(int, int);
    int (*close)(int);
    int (*setsockopt)(int, int, int, const void *, socklen_t);
    int (*getsockopt)(int, int, int, void *, socklen_t *);
    int (*epoll_create1)(int);
    int (*epoll_ctl)(int, int, int, struct epoll_event *);
    int (*epoll_wait)(int, struct epoll_event *, int, int);
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    void (*prefetch)(const int *, unsigned); /* NULL: there is none */
    /* toe_recv_borrow() and toe_recv_return(); NULL: there is no such thing */
    ssize_t (*borrow)(int, size_t, struct iovec[2], uint64_t *, int);
    int (*give_back)(int, uint64_t);
};
extern const struct load_calls load_libc, load_libtoe, load_libtoe_own;

struct load_options {
    enum load_mode mode;
    enum load_role role;
    const struct load_calls *calls;
    char where[128]; /* address and port, for people */
    struct sockaddr_storage addr;
    socklen_t addr_len;
    uint32_t connections, idle, threads;
    uint32_t at_once; /* exchanges under way at most; 0: one on each connection */
    uint32_t ports;   /* that many in a row, from that of addr */
    uint32_t size;    /* of a request and of its answer, or of the body that is served */
    uint32_t message; /* bytes a send or a receive of a stream */
    uint64_t warmup_ns, time_ns, timeout_ns;
    double rate; /* requests or connections a second, all threads together; 0: closed loop */
    bool busy, verify, json, quiet, down;
    bool zero_copy; /* bulk up: MSG_ZEROCOPY; down: borrow() */
    bool fresh;     /* a connection for each request */
    bool once;      /* serve: the server closes after one answer */
    enum load_close close;
    uint32_t port_low, port_high; /* of our side; 0: the system's choice */
    const char *hdr;              /* file of the log, or NULL */
    const char *url;              /* of http, as given */
    char *request;                /* of http: the text */
    size_t request_size;
    uint32_t expect_status;
    int64_t expect_length; /* -1: what the first answer has */
};

/* Reads the command line. Returns -1 to go on, or the exit code after a message or the help. */
int load_parse(struct load_options *o, int argc, char **argv);

/* One message on stderr: "toehold bench: ...\n". */
void load_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* CLOCK_MONOTONIC in nanoseconds (toe/tsc.h). */
uint64_t load_clock(void);

/* Set by SIGINT and SIGTERM: what runs comes to its end. Every thread looks at it. */
extern atomic_int load_interrupted;

/* addr with the i-th of o->ports. */
struct sockaddr_storage load_addr(const struct load_options *o, uint32_t i);

/* Bytes of memory that are resident. */
uint64_t load_resident(void);

/* The byte at each place of a stream: load_pattern(at, n) are the n bytes from there. n is at most
 * LOAD_PATTERN_MAX. Valid after load_pattern_init(). */
#define LOAD_PATTERN_MAX (1u << 20)
void load_pattern_init(void);
const uint8_t *load_pattern(uint64_t at);

int load_client(const struct load_options *o);
int load_server(const struct load_options *o);

#endif
