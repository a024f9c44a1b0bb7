/* SPDX-License-Identifier: Apache-2.0 */
/* hello.h - the parts of the target `hello`: each receives one message, already pending at fd. */
#ifndef FUZZ_HELLO_H
#define FUZZ_HELLO_H

#include "fuzz.h"

#define WIRE_MTU 1500u

void hello_to_wire(int fd);
void hello_to_libtoe(int fd);
/* The valid message of a wire's other side; returns its size. */
size_t hello_of_wire(void *message);
/* Required size of the memory that is passed with it. */
uint64_t hello_wire_size(void);

#endif
