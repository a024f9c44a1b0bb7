/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - the two sets of socket calls: libc, which a preloaded library may replace, and toe_*.
 */
#include <sys/types.h>
#include <unistd.h>

#include <toe/toe.h>

#include "calls.h"

const struct load_calls load_libc = {"sockets",  socket,       bind,       listen,        accept4,
                                     connect,    send,         recv,       recvmsg,       shutdown,
                                     close,      setsockopt,   getsockopt, epoll_create1, epoll_ctl,
                                     epoll_wait, epoll_pwait2, NULL,       NULL,          NULL};

const struct load_calls load_libtoe = {
    "toe",          toe_socket,       toe_bind,       toe_listen,        toe_accept4,
    toe_connect,    toe_send,         toe_recv,       toe_recvmsg,       toe_shutdown,
    toe_close,      toe_setsockopt,   toe_getsockopt, toe_epoll_create1, toe_epoll_ctl,
    toe_epoll_wait, toe_epoll_pwait2, toe_prefetch,   toe_recv_borrow,   toe_recv_return};

/* libtoe's own numbers, not descriptors: connections are limited by memory only. */
const struct load_calls load_libtoe_own = {
    "toe-own",      toe_own_socket,   toe_bind,       toe_listen,        toe_own_accept4,
    toe_connect,    toe_send,         toe_recv,       toe_recvmsg,       toe_shutdown,
    toe_close,      toe_setsockopt,   toe_getsockopt, toe_epoll_create1, toe_epoll_ctl,
    toe_epoll_wait, toe_epoll_pwait2, toe_prefetch,   toe_recv_borrow,   toe_recv_return};
