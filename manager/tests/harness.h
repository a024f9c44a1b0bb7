/* SPDX-License-Identifier: Apache-2.0 */
/* harness.h - shared by the tests of libtoe: a looptoe per test, and sockets over it. */
#ifndef TOE_TEST_HARNESS_H
#define TOE_TEST_HARNESS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <toe/toe.h>

#include "looptoe.h"

#define RX_SIZE 8192
#define TX_SIZE 4096
#define SLOTS   64

/* How long a wait may last: it ends what hangs, and is far beyond the delays of a busy machine. */
#define HARNESS_PATIENCE_MS 100000

/* cmocka group fixtures: a TOE, and settings that lead to it. */
int harness_setup(void **state);
/* Also checks that the TOE got all its slots and listeners back. */
int harness_teardown(void **state);

const char *harness_path(void);
pid_t harness_toe(void);
/* The number of its engines: LOOPTOE_ENGINES, default 1. */
unsigned harness_engines(void);
/* The tests run over a whole stack in this process: HARNESS_ENGINE, inline or thread. */
bool harness_inline(void);
/* Starts another TOE in the place of one that was killed. */
void harness_new_toe(void);

/* A listener at the TOE's address. */
int harness_listener(uint16_t port);
/* A connection: [0] has connected, [1] was accepted. */
void harness_pair(int fd[2]);
/* connect()s a blocking socket to a port; the descriptor. */
int harness_connect(uint16_t port);
/* The same without waiting. */
int harness_connect_async(uint16_t port);
struct sockaddr_in harness_address(const char *ip, uint16_t port);
void harness_nonblock(int fd);
/* Waits until fd has one of the events; fails the test after HARNESS_PATIENCE_MS. */
short harness_wait(int fd, short events);
/* Waits until a thread of this process sleeps in the kernel; tid: gettid()'s. */
void harness_await_sleep(pid_t tid);
/* Waits until fd has exactly n bytes to read, by FIONREAD: what comes in several notices is there
 * only after the last one. */
void harness_await_bytes(int fd, int n);
/* Waits until the peer has acknowledged all that was sent, by TIOCOUTQ. */
void harness_await_acked(int fd);
/* Fills the peer's receive buffer, whatever its TOE's delays; the own send buffer is empty. */
void harness_fill_peer(int fd);
/* Waits until the TOE holds so many slots. */
void harness_slots(unsigned want);
uint32_t harness_random(void);

/* A new looptoe for each test. */
#define TOE_TEST(f) cmocka_unit_test_setup_teardown(f, harness_setup, harness_teardown)

#endif
