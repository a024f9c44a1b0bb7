/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual.h - a whole Toehold (core/, engine/, libtoe) in one thread and in virtual time, beside
 * the table of packetdrill.h. One per loaded object: libtoe has one context per process. To have
 * two, load two copies of the object's file.
 *
 * Time is a number that these functions move. Nothing runs but inside their calls and those of the
 * table; each settles before it returns: whatever is due at the present time has been done. The
 * same flags and the same calls give the same packets at the same times.
 *
 * Flags are knobs, "name=value" separated by commas or blanks (knobs.c has the list; several carry
 * the name of the sysctl of the same meaning). The stack itself is made by the first call that
 * needs it; until then knobs may be changed.
 */
#ifndef TOE_VIRTUAL_H
#define TOE_VIRTUAL_H

#include <stddef.h>
#include <stdint.h>

#include <toe/packetdrill.h>

#pragma GCC visibility push(default)

#define TOEVT_NEVER UINT64_MAX

/* As packetdrill_interface_init(), but reports an invalid flag: returns 0, or -1 with a message in
 * err. */
int toevt_init(const char *flags, struct packetdrill_interface *out, char *err, size_t err_size);
/* Sets knobs. -1 with a sentence in err: an unknown one, a bad value, or the stack runs already
 * and takes this one at its making only. */
int toevt_set(const char *flags, char *err, size_t err_size);
/* The value of a knob as text, or NULL: unknown. Valid until the next call. */
const char *toevt_get(const char *name);
/* The name of the i-th knob and what it is, or NULL beyond the last. */
const char *toevt_knob(unsigned i, const char **help);

/* Nanoseconds. Begins at 1000 s. */
uint64_t toevt_now(void);
/* When something is due next, TOEVT_NEVER when nothing is. */
uint64_t toevt_next(void);
/* Time passes until `until`. */
void toevt_run(uint64_t until);
/*
 * Returns the length of the next packet that the stack sends until `until` (at most `room` bytes
 * are written); *at is its time. 0: none was sent; with TOEVT_NEVER: none ever will be. Packets are
 * IP, without Ethernet; ARP and neighbour discovery are answered internally.
 */
size_t toevt_receive(void *packet, size_t room, uint64_t until, uint64_t *at);
/* An IP packet arrives. -1: it is longer than a frame can be, or no IP. */
int toevt_send(const void *packet, size_t n);
/* A counter of core/ by its name (toe/counters.h); -1 when there is none of that name. */
int64_t toevt_counter(const char *name);
/* Flows, half-open flows, listeners and TIME-WAITs of the stack, for tests of leaks. */
void toevt_usage(uint32_t out[4]);
/* Hash of all packets in and out and their times since the beginning. */
uint64_t toevt_trace(void);

/* sendfile(), which packetdrill's table lacks; u is ignored. */
ssize_t toevt_sendfile(void *u, int out, int in, off_t *at, size_t n);

/*
 * Makes a call of the table in a separate thread, for calls that are expected to block. fn: a
 * member of the table; args: its arguments after userdata, up to 6 words. Returns once the call has
 * ended or sleeps: 1 ended, 0 sleeps, -1 another call is in progress or no thread could start.
 */
int toevt_begin(void *fn, const long *args);
/* Ends calls that sleep in other threads: they fail with EDEADLK. */
void toevt_cancel(void);
/* 1 when that call has ended: its result, errno, and when; it is then forgotten. */
int toevt_ended(long *result, int *error, uint64_t *at);

#pragma GCC visibility pop

#endif
