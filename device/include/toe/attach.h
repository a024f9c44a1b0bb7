/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - how a host gets a queue pair from a TOE process (toed, a simulated TOE): one
 * SOCK_SEQPACKET Unix socket connection per queue pair. The queue pair lives as long as the
 * connection. When the connection ends, or the process that opened it dies, the TOE resets the
 * flows and frees the queue pair.
 *
 *   host -> TOE   struct toedev_hello   + SCM_RIGHTS: DMA area memfd, interrupt eventfd
 *   TOE -> host   struct toedev_welcome + SCM_RIGHTS: page-0 register memfd (read only),
 *                                          doorbell eventfd (host writes it when status.sleeping)
 *
 * A client that only requests information sends struct toedev_hello with another kind. For
 * TOEDEV_HELLO_QUERY the answer is one message of JSON text (statistics), and the TOE closes the
 * connection. For TOEDEV_HELLO_OFFLOAD the text lists the active offloads, after the change that
 * name requests, if any: "tso=off". For TOEDEV_HELLO_REGISTERS the answer is a welcome with only
 * the register memfd. With TOEDEV_HELLO_TAKE_OVER another toed requests the whole state; hosts do
 * not notice. For TOEDEV_HELLO_RTT the text contains the round trips that an engine has timed; name
 * holds the engine's number and that of the first sample wanted, "0 1234". For TOEDEV_HELLO_FLOWS
 * the text lists listeners and flows; name holds where to begin, "0 0 0" or the `next` of the
 * answer before. For TOEDEV_HELLO_TRACE the text contains the last events of a flow, name is
 * "flow ID", ID as TOEDEV_HELLO_FLOWS reports it; or it lists the flows that have events, ended
 * ones too, and name is "list 0 0" or the `next` of the answer before. With "time ID" the TOE times
 * the exchanges of a flow, and the text contains those timed so far; "done ID" ends that, as do ten
 * seconds without a request.
 * For TOEDEV_HELLO_CAPTURE the answer is a welcome with the memory of
 * toe/capture.h, or a refusal; name holds the bytes recorded of each frame and the MiB of each
 * engine's ring, a power of two: "262144 8". The capture ends with the connection.
 *
 * With TOEDEV_HELLO_STRANDED a process reports that it cannot accept from a listener that it has
 * inherited, because it gets no queue pair or its LISTEN is refused; name holds the port, "80".
 * Where only its ancestors have the listener, and keep it open for others (WEAK), the TOE resets
 * the flows that wait there, until a process joins the listener or accepts. There is no answer.
 *
 * On a queue pair's connection the host may send one message: struct toedev_hello with kind
 * TOEDEV_HELLO_MOVED and a pidfd by SCM_RIGHTS. From then on the queue pair ends with that process,
 * which must be of the same user, rather than with the process that opened the connection. There is
 * no answer.
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

/* Name of a TOEDEV_HELLO_QUERY whose answer also has "help": {group: {name: {unit, help}}}. */
#define TOEDEV_QUERY_HELP "help"

enum toedev_hello_kind {
    TOEDEV_HELLO_ATTACH = 1,
    TOEDEV_HELLO_QUERY = 2,
    TOEDEV_HELLO_OFFLOAD = 3,
    TOEDEV_HELLO_REGISTERS = 4,
    TOEDEV_HELLO_TAKE_OVER = 5,
    TOEDEV_HELLO_RTT = 6,
    TOEDEV_HELLO_MOVED = 7,
    TOEDEV_HELLO_FLOWS = 8,
    TOEDEV_HELLO_CAPTURE = 9,
    TOEDEV_HELLO_TRACE = 10,
    TOEDEV_HELLO_STRANDED = 11
};

struct toedev_hello {
    uint32_t magic, version, kind;
    uint32_t engine; /* which engine core, 0..engines-1 */
    struct toedev_qp_config qp;
    char name[32]; /* the program's name, for people; NUL-terminated */
};

/* The host's kernel has the address too and keeps the TCP ports that it uses. */
#define TOEDEV_WELCOME_SHARED 1u
/* A flow delivered to a listener's queue pair stays there, accepted or not, so WEAK listeners get
 * no flows.
 */
#define TOEDEV_WELCOME_STAYS 2u
/* SEND may have EOR. */
#define TOEDEV_WELCOME_EOR 4u
/* Record boundaries that a TOE keeps per flow, until the bytes before them are acknowledged; a host
 * sends no EOR beyond it.
 */
#define TOEDEV_EOR_MAX 31u

struct toedev_welcome {
    uint32_t magic, version;
    uint32_t reason;  /* 0, or why it was refused; then message has the reason as text, and no
                       * descriptors come */
    uint32_t qp_id;   /* number of the queue pair, for tools */
    uint32_t engines; /* engine cores behind this socket: a host attaches to each it wants to use */
    uint32_t mtu;
    uint8_t mac[6], ip[4], prefix_len;
    uint8_t flags; /* TOEDEV_WELCOME_* */
    uint8_t gateway[4];
    char message[128];
};

/* For the TOE: the following functions check what comes with a hello. They return 0, or -1 with the
 * reason in err.
 *
 * Checks the area: a memfd of exactly this size that cannot shrink (SIGBUS) and is not on huge
 * pages, which may be missing (SIGBUS again). */
int toedev_check_area(int fd, uint64_t total, char *err, size_t n);
/* Checks the interrupt: an eventfd (a write to another kind of file may have other effects) that
 * does not block. may_block: also accepts one that blocks, if it was in use before; a host can
 * change that at any time. */
int toedev_check_irq(int fd, int may_block, char *err, size_t n);
/* Returns the process of a pidfd (TOEDEV_HELLO_MOVED). 0: it is not a pidfd, or its process has
 * ended, is not visible, or belongs to another user. */
int toedev_process_of(int pidfd, uid_t uid);

#endif
