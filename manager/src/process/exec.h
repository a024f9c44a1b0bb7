/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h - a process becomes another program and keeps its connections.
 *
 * Queue pairs are descriptors and shared memory, which outlive exec. What this side knows of them,
 * of their sockets and of the numbers that lead there is written to a sealed memfd, which the new
 * program's libtoe finds when it starts, and goes on from there: the connections stay the TOE's. A
 * number that exec closes (FD_CLOEXEC) is closed then, as the kernel closes it.
 *
 * A program without libtoe (static, setuid, LD_PRELOAD gone) gets Unix sockets, which lead to the
 * connections through a process of its own that stays behind (handover.h). So does one whose
 * process has children that use connections through it (relay.h).
 */
#ifndef TOE_EXEC_H
#define TOE_EXEC_H

#include "libtoe.h"

/*
 * Before execve(). adopts: the new program will have libtoe. True: it has been prepared, the lock
 * is held, and when execve() comes back texec_failed() makes all as before and gives the lock back.
 * False: there is nothing to prepare. Not in a child of vfork().
 */
TOE_HIDDEN bool texec_begin(bool adopts);
TOE_HIDDEN void texec_failed(void);
/* At the start of a program: takes over what an exec has left, if there is anything. */
TOE_HIDDEN void texec_adopt(void);

/* Does exec leave it open, and is it a socket of the TOE's? */
TOE_HIDDEN bool texec_outlives(int fd, const struct tobj *o);
/* exec_epoll.c: epoll instances, when the sockets have their at_exec. Writes them at `at`, NULL:
 * only counts the bytes. Takes them over from there, with the sockets taken before by at_exec. */
TOE_HIDDEN size_t texec_epolls_put(uint8_t *at);
TOE_HIDDEN bool texec_epolls_take(const uint8_t *at, size_t n, struct tsock *const *socks,
                                  uint32_t socks_n);
/* exec_env.c: the environment for a program that is given a listener so. How many pointers it
 * takes, 0: it is good as it is. Then what to fill them with. */
TOE_HIDDEN size_t texec_env_room(char *const envp[]);
TOE_HIDDEN void texec_env_fill(char *const envp[], char *to[]);

/* exec_file.c: will this file, executed with this environment, load the object that we are in? */
TOE_HIDDEN bool texec_loads_us(const char *path, char *const envp[]);

#endif
