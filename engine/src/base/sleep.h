/* SPDX-License-Identifier: Apache-2.0 */
/* sleep.h - how a thread sleeps, pauses between two polls, and is woken. */
#ifndef ENGINE_SLEEP_H
#define ENGINE_SLEEP_H

#include <stdint.h>

struct epoll_event;
/* Like epoll_wait(), with a timeout of ns nanoseconds; rounded up to milliseconds where the kernel
 * lacks epoll_pwait2(). */
int engine_epoll(int ep, struct epoll_event *ev, int max, uint64_t ns);
/* Pauses the CPU between two polls. */
void engine_relax(void);
/* Pauses for at least so many nanoseconds; 0: as engine_relax(). */
void engine_rest(uint64_t ns);
/* Wakes the thread that waits on the eventfd. Any thread. */
void wake_fd_write(int fd);

#endif
