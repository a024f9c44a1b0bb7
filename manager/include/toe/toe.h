/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe.h - libtoe: the socket API over a TOE (SEEDS S1.14). Each toe_* function has the arguments,
 * results, errno values and blocking behaviour of the socket call of the same name on Linux.
 *
 * Descriptors are real kernel descriptors: a TOE socket's number is a placeholder held open in the
 * kernel, so numbers never collide and TOE and kernel descriptors mix in one toe_epoll, toe_poll or
 * toe_select. A call on a descriptor that libtoe does not carry goes to the kernel unchanged.
 *
 * Threads: every function may be called from any thread; none from a signal handler that interrupts
 * another of them. fork: a child gets queue pairs of its own at its first use; listeners are
 * inherited, connections stay the parent's. When the TOE ends, connections fail with ECONNRESET and
 * listeners are announced again as soon as a TOE is there, within the process's next calls.
 */
#ifndef TOE_TOE_H
#define TOE_TOE_H

#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#pragma GCC visibility push(default)

/* Settings; zero means the default named. The environment variables in brackets win over them. */
struct toe_options {
    const char *socket; /* [TOEHOLD_SOCKET] of toed; /run/toehold/toed.sock */
    uint32_t slots;     /* [TOEHOLD_SLOTS] flows per queue pair; 4096 */
    uint32_t tx_size;   /* [TOEHOLD_TX_SIZE] most bytes of send buffer per flow; 65536 */
    uint32_t rx_size;   /* [TOEHOLD_RX_SIZE] bytes of receive buffer per flow; 65536 */
    uint32_t
        busy_poll_us;   /* [TOEHOLD_BUSY_POLL_US] poll so long before sleeping; 0: sleep at once */
    uint32_t irq_count; /* [TOEHOLD_IRQ_COUNT] interrupt moderation: wake after so many commands */
    uint32_t irq_usec;  /* [TOEHOLD_IRQ_USEC] or microseconds. Both 0: follows the load; count 1:
                         * always at once */
    int require;        /* [TOEHOLD_REQUIRE] TCP that cannot be carried fails (ENETDOWN without a
                         * TOE, ENETUNREACH, EADDRNOTAVAIL) instead of passing on */
    uint32_t zerocopy_min; /* [TOEHOLD_ZEROCOPY_MIN] MSG_ZEROCOPY and toe_send_ref() copy pieces of
                            * memory smaller than so many bytes, because that is faster; default:
                            * as measured (docs/PERFORMANCE.md) */
    const char *engine;    /* [TOEHOLD_ENGINE] where the TOE runs: "toed" (default), or in this
                            * process "inline", within these calls, or "thread" (docs/INLINE.md) */
    const char *engine_options; /* [TOEHOLD_INLINE_OPTIONS] of one in this process, as toed's:
                                 * "--netif af_xdp:eth1 --ip 10.0.0.2/24" */
    uint32_t hold_min; /* [TOEHOLD_HOLD_MIN] engine "inline": a received frame with at least so many
                        * bytes of payload is kept, and read where it is, rather than copied into
                        * the receive buffer; UINT32_MAX, or 0 in the variable: none is; default:
                        * as measured (docs/PERFORMANCE.md) */
};

/* Connects to the TOE. opt may be NULL. 0, or -1 with EINVAL (a setting) or ENETDOWN (no TOE), and
 * a sentence in toe_last_error(). Called implicitly by the first bind, listen or connect that may
 * use the TOE; a process that then reaches none stays with the kernel until it calls toe_init(). */
int toe_init(const struct toe_options *opt);
/* Closes everything libtoe holds: open connections are closed as by toe_close. */
void toe_terminate(void);
/* A sentence on why the last toe_init of this process failed, for people. Never NULL. */
const char *toe_last_error(void);

int toe_socket(int domain, int type, int protocol);
int toe_bind(int fd, const struct sockaddr *addr, socklen_t len);
int toe_listen(int fd, int backlog);
int toe_accept(int fd, struct sockaddr *addr, socklen_t *len);
int toe_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
int toe_connect(int fd, const struct sockaddr *addr, socklen_t len);
ssize_t toe_send(int fd, const void *buf, size_t n, int flags);
ssize_t toe_sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *addr,
                   socklen_t len);
ssize_t toe_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t toe_write(int fd, const void *buf, size_t n);
ssize_t toe_writev(int fd, const struct iovec *iov, int count);
ssize_t toe_sendfile(int fd, int in_fd, off_t *offset, size_t n);
/* One of the two is a pipe. Bytes are copied. */
ssize_t toe_splice(int in_fd, loff_t *in_offset, int out_fd, loff_t *out_offset, size_t n,
                   unsigned flags);
ssize_t toe_recv(int fd, void *buf, size_t n, int flags);
ssize_t toe_recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *addr, socklen_t *len);
ssize_t toe_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t toe_read(int fd, void *buf, size_t n);
ssize_t toe_readv(int fd, const struct iovec *iov, int count);
int toe_shutdown(int fd, int how);
int toe_close(int fd);

/*
 * Sending and receiving in place, in the connection's own buffers. Units are bytes. iov is two
 * ranges in order; of one that is not needed the length is 0. The memory stays the TOE's: it may be
 * written (reserve) or read (peek) from the call until the commit or consume that follows it, by
 * any thread, also when the connection or the TOE ends meanwhile; not after a toe_close() of the
 * last descriptor, toe_terminate(), nor in a child of fork. Between the two calls other calls go
 * on as ever, readiness and toe_shutdown() too, except as said below.
 *
 * They fail with EBADF (no descriptor), EOPNOTSUPP (the kernel carries it), ENOTCONN, and as send
 * and recv do. flags: MSG_DONTWAIT for the first call of each pair; else EINVAL.
 */

/*
 * Up to n bytes of free room of the send buffer (SIZE_MAX: all there is). Waits for room as
 * toe_send() does, with the same time limit; returns as soon as there is any. Returns the bytes in
 * iov, 0 only for n 0. Until the commit everything else that would send on the socket, another
 * reserve too, fails with EBUSY; toe_sendfile() also. ENOTCONN before the connection is open.
 */
ssize_t toe_send_reserve(int fd, size_t n, struct iovec iov[2], int flags);
/*
 * Sends the first n of the bytes reserved and gives the rest back; 0 gives all back. flags:
 * MSG_MORE, MSG_OOB (the last is urgent), MSG_NOSIGNAL. Returns n. EINVAL: more than was reserved,
 * or nothing is reserved (nothing changes); EPIPE with SIGPIPE, or the connection's error, as
 * toe_send(): nothing is sent, and the reservation ends.
 */
ssize_t toe_send_commit(int fd, size_t n, int flags);
/*
 * All bytes that can be read, in order, copied together where they lie in frames: what recv() would
 * give, so up to the mark of urgent data. Waits as toe_recv() does for SO_RCVLOWAT bytes. Returns
 * their number, 0 at the end of the stream. Again before a consume it gives the same and what has
 * come since. Until the consume whatever would take bytes from the stream (recv and its kin,
 * without MSG_PEEK) fails with EBUSY.
 */
ssize_t toe_recv_peek(int fd, struct iovec iov[2], int flags);
/*
 * The first n of the bytes that peek gave have been read: their room is the peer's again. 0 reads
 * none. What is left is there for the next recv() or peek. Returns n, or -1 with EINVAL: more than
 * was given, or nothing was (nothing changes).
 */
ssize_t toe_recv_consume(int fd, size_t n);

/*
 * Receiving by reference: up to n of the bytes that recv() would give now are read, and lie in iov
 * until *loan is given back; reading goes on behind them meanwhile. They may be fewer than n though
 * more could be read: what lies in two pieces. With the engine in this thread ("inline"), an
 * interface that can spare frames (AF_XDP, the wire, DPDK) and hold_min, the pieces are in received
 * frames themselves, two of them a call, which nobody has copied; elsewhere they are in the
 * connection's receive buffer. Loans may be given back in any
 * order, by any thread. Their room is the peer's again when all before them is given back too: who
 * keeps all of the buffer waits for ever for more. Waits as toe_recv_peek(); returns the bytes
 * lent, and 0, with no loan, at the end of the stream or for n 0. Errors as toe_recv_peek(); EBUSY
 * while something is peeked at; ENOBUFS with some 1000 loans, and reads between them, at once.
 */
ssize_t toe_recv_borrow(int fd, size_t n, struct iovec iov[2], uint64_t *loan, int flags);
/* 0, or -1 with EINVAL: there is no such loan; EBADF, EOPNOTSUPP. */
int toe_recv_return(int fd, uint64_t loan);

/*
 * Sending by reference. The bytes of the vector (at most 1024 pieces, and the vector itself no
 * longer than the call) go out from where they are, as far as the TOE can read them there: one in
 * this thread (engine "inline") does, for pieces of at least zerocopy_min bytes. Whatever else is
 * copied, and the completion says so. The memory must stay, unchanged, until the completion; a
 * toe_close() of the last descriptor, or toe_terminate(), copies what is not acknowledged yet, and
 * ends that. Waits, and takes what there is room for, as toe_send() does; returns the bytes taken,
 * for which there is one completion, when the peer has acknowledged them or the connection is gone.
 * Completions come in the order of the calls. While one waits to be read, poll and epoll tell
 * EPOLLERR (SO_ERROR has nothing to do with it).
 *
 * flags: MSG_DONTWAIT, MSG_MORE, MSG_NOSIGNAL, else EINVAL. Besides the errors of toe_send():
 * ENOBUFS with 1024 calls whose completion has not been read; EBADF, EOPNOTSUPP, ENOTCONN as above.
 */
ssize_t toe_send_ref(int fd, const struct iovec *iov, int count, int flags, uint64_t token);
struct toe_completion {
    uint64_t token; /* of the toe_send_ref() */
    uint32_t flags; /* TOE_COPIED */
    uint32_t pad;
};
#define TOE_COPIED 1u /* some of the bytes were copied: references gained nothing */
/* Takes up to max completions; how many there were, without waiting. -1 with EBADF, EOPNOTSUPP. */
int toe_send_completions(int fd, struct toe_completion *out, int max);
/*
 * MSG_ZEROCOPY of toe_send(), toe_sendto() and toe_sendmsg() is the same with Linux's interface
 * (SO_ZEROCOPY; completions are ranges of calls, read by toe_recvmsg() with MSG_ERRQUEUE).
 */

int toe_getsockname(int fd, struct sockaddr *addr, socklen_t *len);
int toe_getpeername(int fd, struct sockaddr *addr, socklen_t *len);
/*
 * Of connected sockets that the TOE carries, at level IPPROTO_TCP: seconds to advertise as user
 * timeout (RFC 5482), int, 1..1966020; 0 (default): the option is neither sent nor heeded. Linux
 * has no such option: its number is one that Linux does not use.
 */
#define TOE_TCP_UTO 0x5482
/*
 * Of any socket, at level IPPROTO_TCP, getsockopt() alone: who carries it, as text with a NUL.
 * "toe"; "toe and kernel" (a listener that both serve); "undecided" (neither listen() nor connect()
 * yet); "kernel: " and why; "kernel" when that is not known. ENOPROTOOPT: there is no Toehold under
 * this program. Also a number that Linux does not use.
 */
#define TOE_TCP_CARRIER 0x5483
int toe_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int toe_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int toe_fcntl(int fd, int cmd, long arg);
int toe_ioctl(int fd, unsigned long request, void *arg);
int toe_dup(int fd);
int toe_dup2(int fd, int new_fd);
int toe_dup3(int fd, int new_fd, int flags);

int toe_epoll_create(int size);
int toe_epoll_create1(int flags);
int toe_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int toe_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout_ms);
int toe_epoll_pwait(int epfd, struct epoll_event *events, int max, int timeout_ms,
                    const sigset_t *mask);
int toe_epoll_pwait2(int epfd, struct epoll_event *events, int max, const struct timespec *timeout,
                     const sigset_t *mask);
int toe_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int toe_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);
int toe_select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout);
int toe_pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout,
                const sigset_t *mask);

/*
 * Sockets with a number of libtoe's own, from 2^30 on, instead of a descriptor of the kernel: for
 * programs with more connections than RLIMIT_NOFILE or the memory of so many kernel sockets
 * allows; 2^21 at most. Such a number is for toe_* calls alone, but for toe_dup*, toe_select and
 * F_DUPFD; a child of fork() cannot use it. The TOE carries it or nobody does: toe_connect() to an
 * address that is the kernel's is ENETUNREACH, and toe_bind() and toe_listen() are EINVAL.
 *
 * toe_own_socket() is toe_socket() for TCP; EMFILE when no number is left. toe_own_accept4() is
 * toe_accept4() on any listener; a connection that the kernel carried has the kernel's descriptor.
 */
int toe_own_socket(int domain, int type, int protocol);
int toe_own_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);

/*
 * The program will use these n descriptors soon: what that touches of them is fetched into the
 * cache. For programs with thousands of connections that choose the next ones themselves; of those
 * that have become ready libtoe knows. Some 16 at a time, some 16 uses ahead, are worth it. Any
 * numbers will do; nothing is changed and nothing fails.
 */
void toe_prefetch(const int *fds, unsigned n);

/* Is fd a socket the TOE carries (or an epoll instance libtoe serves)? 1 or 0. */
int toe_is_offloaded(int fd);
/* Why fd is not carried: a sentence; NULL when it is carried or unknown. */
const char *toe_why_not(int fd);

#pragma GCC visibility pop

#endif
