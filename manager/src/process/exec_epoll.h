/* SPDX-License-Identifier: Apache-2.0 */
/* exec_epoll.h - epoll instances across exec (exec_epoll.c). Lock held. */
#ifndef LIBTOE_EXEC_EPOLL_H
#define LIBTOE_EXEC_EPOLL_H

#include "tsock.h"

/* Epoll instances, when the sockets have their at_exec. Writes them at `at`, NULL:
 * only counts the bytes. Takes them over from there, with the sockets taken before by at_exec. */
TOE_HIDDEN size_t texec_epolls_put(uint8_t *at);
TOE_HIDDEN bool texec_epolls_take(const uint8_t *at, size_t n, struct tsock *const *socks,
                                  uint32_t socks_n);

#endif
