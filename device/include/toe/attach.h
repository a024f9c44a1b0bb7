/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - how a host gets a queue pair from a TOE process (toed, a simulated TOE): one
 * SOCK_SEQPACKET Unix socket connection per queue pair. The connection's life is the queue pair's
 * life: when it ends, or the process that made it dies, the TOE resets the flows and frees it.
 *
 *   host -> TOE   struct toedev_hello   + SCM_RIGHTS: DMA area memfd, interrupt eventfd
 *   TOE -> host   struct toedev_welcome + SCM_RIGHTS: page-0 register memfd (read only),
 *                                          doorbell eventfd (host writes it when status.sleeping)
 *
 * A host that only wants to ask sends struct toedev_hello with kind TOEDEV_HELLO_QUERY: the answer
 * is one message of JSON text (statistics), and the TOE closes the connection. With kind
 * TOEDEV_HELLO_OFFLOAD the text tells what is offloaded, after the change that name asks for, if
 * any: "tso=off". With TOEDEV_HELLO_REGISTERS the answer is a welcome with the register memfd
 * alone. With TOEDEV_HELLO_TAKE_OVER another toed asks for all there is; hosts notice nothing of
 * it. With TOEDEV_HELLO_RTT the text has the round trips that an engine has timed; name is its
 * number and that of the first sample wanted, "0 1234".
 *
 * On a queue pair's connection the host may say one thing: struct toedev_hello with kind
 * TOEDEV_HELLO_MOVED and a pidfd by SCM_RIGHTS. From then on the queue pair ends with that process,
 * one of the same user, rather than with the one that made the connection. There is no answer.
 */
#ifndef TOE_ATTACH_H
#define TOE_ATTACH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <toe/device.h>

#define TOEDEV_MAGIC          0x31454f54u /* "TOE1" */
#define TOEDEV_DEFAULT_SOCKET "/run/toehold/toed.sock"
#define TOEDEV_SOCKET_ENV     "TOEHOLD_SOCKET"

enum toedev_hello_kind {
    TOEDEV_HELLO_ATTACH = 1,
    TOEDEV_HELLO_QUERY = 2,
    TOEDEV_HELLO_OFFLOAD = 3,
    TOEDEV_HELLO_REGISTERS = 4,
    TOEDEV_HELLO_TAKE_OVER = 5,
    TOEDEV_HELLO_RTT = 6,
    TOEDEV_HELLO_MOVED = 7
};

struct toedev_hello {
    uint32_t magic, version, kind;
    uint32_t engine; /* which engine core, 0..engines-1 */
    struct toedev_qp_config qp;
    char name[32]; /* the program's name, for people; NUL-terminated */
};

/* The host's kernel has the address too: what it has of TCP ports it keeps. */
#define TOEDEV_WELCOME_SHARED 1u
/* A flow that a listener's queue pair has got stays there, accepted or not; so WEAK ones get none.
 */
#define TOEDEV_WELCOME_STAYS 2u

struct toedev_welcome {
    uint32_t magic, version;
    uint32_t reason;  /* 0, or why it was refused; then message says it in words and no fds come */
    uint32_t qp_id;   /* number of the queue pair, for tools */
    uint32_t engines; /* engine cores behind this socket: a host attaches to each it wants to use */
    uint32_t mtu;
    uint8_t mac[6], ip[4], prefix_len;
    uint8_t flags; /* TOEDEV_WELCOME_* */
    uint8_t gateway[4];
    char message[128];
};

/* For the TOE, of what comes with a hello. 0; -1: err says what is wrong.
 *
 * The area: a memfd that can neither shrink (SIGBUS) nor stand on huge pages that may be missing
 * (SIGBUS again), of exactly this size. */
int toedev_check_area(int fd, uint64_t total, char *err, size_t n);
/* The interrupt: an eventfd (nothing whose write may do other things) that does not block.
 * may_block: it was in use before; a host can change that at any time. */
int toedev_check_irq(int fd, int may_block, char *err, size_t n);
/* TOEDEV_HELLO_MOVED: the process of a pidfd. 0: it is none, or of a process that is gone, not to
 * be seen, or of another user. */
int toedev_process_of(int pidfd, uid_t uid);

#endif
