/* SPDX-License-Identifier: Apache-2.0 */
/* sleep.h - how a thread waits: in the kernel, or between two looks; and how it is woken. */
#ifndef ENGINE_SLEEP_H
#define ENGINE_SLEEP_H

#include <stdint.h>

struct epoll_event;
/* As epoll_wait(), for ns nanoseconds; rounded up to milliseconds where the kernel has no other. */
int engine_epoll(int ep, struct epoll_event *ev, int max, uint64_t ns);
/* Pauses the CPU between two looks of a thread that polls. */
void engine_relax(void);
/* Wakes the thread that waits for the eventfd. Any thread. */
void wake_fd_write(int fd);

#endif
