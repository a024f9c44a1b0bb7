/* SPDX-License-Identifier: Apache-2.0 */
/* exec_epoll.h - epoll instances across exec (exec_epoll.c). Lock held. */
#ifndef LIBTOE_EXEC_EPOLL_H
#define LIBTOE_EXEC_EPOLL_H

#include "tsock.h"

/* Save and restore epoll instances. _put() writes them at `at` and returns the bytes; NULL: only
 * counts them. The sockets have their at_exec by then. _take() restores the instances from there;
 * socks are the sockets restored before, by at_exec. */
TOE_HIDDEN size_t texec_epolls_put(uint8_t *at);
TOE_HIDDEN bool texec_epolls_take(const uint8_t *at, size_t n, struct tsock *const *socks,
                                  uint32_t socks_n);

#endif
