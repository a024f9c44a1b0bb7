/* SPDX-License-Identifier: Apache-2.0 */
/* hello.h - the parts of the target `hello`: each takes one message at fd, which is there. */
#ifndef FUZZ_HELLO_H
#define FUZZ_HELLO_H

#include "fuzz.h"

#define WIRE_MTU 1500u

void hello_to_wire(int fd);
void hello_to_libtoe(int fd);
/* What the other side of a wire says when all is well: its size. */
size_t hello_of_wire(void *message);
/* How large the memory must be that comes with it. */
uint64_t hello_wire_size(void);

#endif
