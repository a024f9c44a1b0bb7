/* SPDX-License-Identifier: Apache-2.0 */
/* reflect.h - the far end of a wire that leads back (reflect.c). */
#ifndef TOE_TEST_REFLECT_H
#define TOE_TEST_REFLECT_H

#include <sys/types.h>

/* Starts it in a separate process, as side a of the wire. */
pid_t reflect_start(const char *wire);

#endif
