/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testing.h - shared by the unit tests of netio.
 */
#ifndef TOE_NETIO_TESTING_H
#define TOE_NETIO_TESTING_H

/* cmocka wants these before its header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toe/netio.h"

#define MS UINT64_C(1000000)

/* Opens a back end that must open. */
struct netio *open_ok(const char *spec);
/* Opens one that must not; the sentence for people must contain part. */
void open_fails(const char *spec, const char *part);
/* Sends one frame of len bytes that begins with a 32-bit number after the Ethernet header, and
 * flushes. Returns 0, or -1 without a buffer. */
int send_number(struct netio *n, uint32_t number, uint32_t len, uint64_t now_ns);
uint32_t frame_number(const struct netio_frame *f);
/* Receives one frame and releases it; returns its number, or -1 if there is none. */
int64_t receive_number(struct netio *n, uint64_t now_ns);
/* Creates a folder; remove_folder() removes it with its content. */
const char *make_folder(void);
void remove_folder(void);
/* The text with "@" replaced by the folder, in one of a few rotating buffers. */
const char *in_folder(const char *text);
/* A test with its own folder. */
#define WITH_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)
int folder_setup(void **state);
int folder_teardown(void **state);
/* CLOCK_MONOTONIC. */
uint64_t clock_now(void);
/* Waits until an end of the shared-memory wire is connected to the other end. */
int is_linked(struct netio *n);
void wait_linked(struct netio *n, int linked);
/* The seed of this run: TOEHOLD_SEED, else fixed. Printed at the first call. */
uint64_t test_seed(void);

#endif
