/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe.h - libtoe: the socket API over a TOE (SEEDS S1.14). Each toe_* function has the arguments,
 * results, errno values and blocking behaviour of the socket call of the same name on Linux.
 *
 * Descriptors are real kernel descriptors: a TOE socket's number is a placeholder held open in the
 * kernel, so numbers never collide and TOE and kernel descriptors mix in one toe_epoll, toe_poll or
 * toe_select. A call on a descriptor that libtoe does not carry is passed to the kernel unchanged.
 *
 * Threads: every function may be called from any thread; none from a signal handler that interrupts
 * another of them. fork: a child gets queue pairs of its own at its first use; listeners are
 * inherited, connections stay the parent's. When the TOE ends, connections fail with ECONNRESET.
 * Listeners are announced again once a TOE is available, within the process's next calls.
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

/* Settings; zero means the default named. The environment variables in brackets override them. */
struct toe_options {
    const char *socket; /* [TOEHOLD_SOCKET] of toed; /run/toehold/toed.sock */
    uint32_t slots;     /* [TOEHOLD_SLOTS] flows per queue pair; 4096. Fewer where RLIMIT_AS limits
                         * the address space: half of what it leaves for an engine's */
    uint32_t tx_size;   /* [TOEHOLD_TX_SIZE] most bytes of send buffer per flow; 65536 */
    uint32_t rx_size;   /* [TOEHOLD_RX_SIZE] bytes of receive buffer per flow; 65536 */
    uint32_t
        busy_poll_us;   /* [TOEHOLD_BUSY_POLL_US] time to poll before sleeping; 0: sleep at once */
    uint32_t irq_count; /* [TOEHOLD_IRQ_COUNT] interrupt moderation: commands before a wake-up */
    uint32_t irq_usec;  /* [TOEHOLD_IRQ_USEC] or microseconds before it. Both 0: follow the load;
                         * count 1: always at once */
    int require;        /* [TOEHOLD_REQUIRE] TCP that cannot be carried fails (ENETDOWN without a
                         * TOE, ENETUNREACH, EADDRNOTAVAIL) instead of using the kernel */
    uint32_t zerocopy_min; /* [TOEHOLD_ZEROCOPY_MIN] MSG_ZEROCOPY and toe_send_ref() copy pieces of
                            * memory with fewer bytes, because that is faster; default: as
                            * measured (docs/PERFORMANCE.md) */
    const char *engine;    /* [TOEHOLD_ENGINE] where the TOE runs: "toed" (default), or in this
                            * process "inline", within these calls, or "thread" (docs/INLINE.md) */
    const char *engine_options; /* [TOEHOLD_INLINE_OPTIONS] of an engine in this process, as
                                 * toed's: "--netif af_xdp:eth1 --ip 10.0.0.2/24" */
    uint32_t hold_min; /* [TOEHOLD_HOLD_MIN] engine "inline": received frames with at least this
                        * many bytes of payload are kept and read in place, not copied into the
                        * receive buffer; UINT32_MAX, or 0 in the variable: never; default: as
                        * measured (docs/PERFORMANCE.md) */
};

/* Connects to the TOE. opt may be NULL. Returns 0, or -1 with EINVAL (a setting) or ENETDOWN (no
 * TOE) and a sentence in toe_last_error(). Called implicitly by the first bind, listen or connect
 * that may use the TOE; a process that then reaches no TOE uses the kernel until it calls
 * toe_init(). */
int toe_init(const struct toe_options *opt);
/* Closes everything libtoe holds: open connections are closed as by toe_close. */
void toe_terminate(void);
/* Returns a sentence on why the last toe_init of this process failed. Never NULL. */
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
 * ranges in order; a range that is not needed has length 0. The memory belongs to the TOE: any
 * thread may write it (reserve) or read it (peek) from the call until the commit or consume that
 * follows, also when the connection or the TOE ends in between. Not after a toe_close() of the last
 * descriptor or toe_terminate(), nor in a child of fork. Between the two calls other calls work as
 * before, readiness and toe_shutdown() too, except as described below.
 *
 * They fail with EBADF (no descriptor), EOPNOTSUPP (the kernel carries it), ENOTCONN, and as send
 * and recv do. flags: MSG_DONTWAIT for the first call of each pair; else EINVAL.
 */

/*
 * Reserves up to n bytes of free space in the send buffer (SIZE_MAX: all of it). Waits for space as
 * toe_send() does, with the same time limit; returns as soon as there is any. Returns the bytes in
 * iov, 0 only for n 0. Until the commit, every other call that would send on the socket fails with
 * EBUSY, another reserve and toe_sendfile() included. ENOTCONN before the connection is open.
 */
ssize_t toe_send_reserve(int fd, size_t n, struct iovec iov[2], int flags);
/*
 * Sends the first n of the bytes reserved and releases the rest; 0 releases all. flags:
 * MSG_MORE, MSG_OOB (the last is urgent), MSG_NOSIGNAL. Returns n. EINVAL: more than was reserved,
 * or nothing is reserved (nothing changes); EPIPE with SIGPIPE, or the connection's error, as
 * toe_send(): nothing is sent, and the reservation ends.
 */
ssize_t toe_send_commit(int fd, size_t n, int flags);
/*
 * Exposes all bytes that can be read, in order: those that recv() would return, so up to the mark
 * of urgent data. Bytes held in received frames are copied together. Waits as toe_recv() does for
 * SO_RCVLOWAT bytes. Returns their number, 0 at the end of the stream. A second peek before a
 * consume returns the same bytes and those received since. Until the consume, calls that would take
 * bytes from the stream (recv and its kin, without MSG_PEEK) fail with EBUSY.
 */
ssize_t toe_recv_peek(int fd, struct iovec iov[2], int flags);
/*
 * Consumes the first n of the bytes that peek returned: their space is advertised to the peer
 * again. 0 consumes none. The remaining bytes are there for the next recv() or peek. Returns n, or
 * -1 with EINVAL: more than peek returned, or there was no peek (nothing changes).
 */
ssize_t toe_recv_consume(int fd, size_t n);

/*
 * Receives by reference: reads up to n of the bytes that recv() would return now. They stay valid
 * in iov until *loan is returned; later calls read the bytes that follow them. A loan holds two
 * pieces at most, so it may have fewer than n bytes though more could be read. With the engine in
 * this thread ("inline"), an interface that can spare frames (AF_XDP, the wire, DPDK) and hold_min,
 * the pieces are in the received frames themselves, two per call, without a copy. Otherwise they
 * are in the connection's receive buffer.
 *
 * Loans may be returned in any order, by any thread. Their space is advertised to the peer again
 * when all loans before them are returned too: a program that keeps the whole buffer on loan waits
 * for ever for more. Waits as toe_recv_peek(). Returns the bytes lent, and 0, with no loan, at the
 * end of the stream or for n 0. Errors as toe_recv_peek(); EBUSY between a peek and its consume;
 * ENOBUFS with some 1000 loans, and reads between them, at once.
 */
ssize_t toe_recv_borrow(int fd, size_t n, struct iovec iov[2], uint64_t *loan, int flags);
/* Returns a loan. 0, or -1 with EINVAL: there is no such loan; EBADF, EOPNOTSUPP. */
int toe_recv_return(int fd, uint64_t loan);

/*
 * Sends by reference. The bytes of the vector are sent from the caller's memory as far as the TOE
 * can read it: an engine in this thread ("inline") can, for pieces of at least zerocopy_min bytes.
 * Other bytes are copied, and the completion reports it. The vector has at most 1024 pieces, and is
 * itself needed only during the call. The memory must stay, unchanged, until the completion; a
 * toe_close() of the last descriptor, or toe_terminate(), copies what is not acknowledged yet, and
 * ends that obligation.
 *
 * Waits, and takes what there is space for, as toe_send() does. Returns the bytes taken. They have
 * one completion, when the peer has acknowledged them or the connection has ended. Completions come
 * in the order of the calls. While one waits to be read, poll and epoll report EPOLLERR
 * (independent of SO_ERROR).
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
/* Takes up to max completions, without waiting. Returns their number, or -1 with EBADF, EOPNOTSUPP.
 */
int toe_send_completions(int fd, struct toe_completion *out, int max);
/*
 * MSG_ZEROCOPY of toe_send(), toe_sendto() and toe_sendmsg() does the same with Linux's interface
 * (SO_ZEROCOPY; completions are ranges of calls, read by toe_recvmsg() with MSG_ERRQUEUE).
 */

int toe_getsockname(int fd, struct sockaddr *addr, socklen_t *len);
int toe_getpeername(int fd, struct sockaddr *addr, socklen_t *len);
/*
 * For connected sockets that the TOE carries, at level IPPROTO_TCP: seconds to advertise as user
 * timeout (RFC 5482), int, 1..1966020; 0 (default): the option is neither sent nor heeded. Linux
 * has no such option; the number is one that Linux does not use.
 */
#define TOE_TCP_UTO 0x5482
/*
 * For any socket, at level IPPROTO_TCP, getsockopt() alone: its carrier, as text with a NUL.
 * "toe"; "toe and kernel" (a listener that both serve); "undecided" (neither listen() nor connect()
 * yet); "kernel: " and the reason; "kernel" when the reason is not known. ENOPROTOOPT: this program
 * does not run over Toehold. Linux does not use this number either.
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
 * Sockets with a number of libtoe's own, from 2^30 on, instead of a kernel descriptor: for programs
 * with more connections than RLIMIT_NOFILE, or the memory for their kernel sockets, allows; 2^21 at
 * most. Only toe_* calls accept such a number, except toe_dup*, toe_select and F_DUPFD; a child of
 * fork() cannot use it. Only the TOE can carry it: toe_connect() to an address that the kernel
 * serves fails with ENETUNREACH, and toe_bind() and toe_listen() fail with EINVAL.
 *
 * toe_own_socket() is toe_socket() for TCP; EMFILE when no number is left. toe_own_accept4() is
 * toe_accept4() on any listener; a connection that the kernel carries gets a kernel descriptor.
 */
int toe_own_socket(int domain, int type, int protocol);
int toe_own_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);

/*
 * Prefetches into the cache the data of n descriptors that the program will use soon. For programs
 * with thousands of connections that choose the next ones themselves; libtoe does it unasked for
 * descriptors that have become ready. Some 16 at a time, some 16 uses ahead, are worth it. Any
 * numbers are allowed; the call changes nothing and does not fail.
 */
void toe_prefetch(const int *fds, unsigned n);

/* Returns 1 if fd is a socket that the TOE carries, or an epoll instance that libtoe serves, else
 * 0.
 */
int toe_is_offloaded(int fd);
/* Returns a sentence on why fd is not carried; NULL when it is carried or unknown. */
const char *toe_why_not(int fd);

#pragma GCC visibility pop

#endif
