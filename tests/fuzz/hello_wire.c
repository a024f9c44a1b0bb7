/* SPDX-License-Identifier: Apache-2.0 */
/* hello_wire.c - target `hello`: side b of netio's shared-memory wire receives from side a. */
#include "../../netio/src/wire_link.c" /* NOLINT(bugprone-suspicious-include) */

#include "hello.h"

/* Replaces those of netio.c; unused here. */
void netio_err_set(const struct netio_err *err, const char *format, ...)
{
    (void)err;
    (void)format;
}

size_t hello_of_wire(void *message)
{
    const struct hello well = {WIRE_MAGIC, WIRE_LINKED, WIRE_MTU};

    memcpy(message, &well, sizeof(well));
    return sizeof(well);
}

uint64_t hello_wire_size(void)
{
    return wire_shm_size(WIRE_MTU);
}

void hello_to_wire(int fd)
{
    struct wire_link l = {.mtu = WIRE_MTU, .side = WIRE_B, .control_fd = -1, .epoll_fd = -1};
    int up;

    l.pending_fd = dup(fd);
    up = receive_hello(&l);
    FUZZ_CHECK(up == (l.state == WIRE_LINKED) && up == (l.shm != NULL));
    FUZZ_CHECK(l.pending_fd < 0 && up == (l.control_fd >= 0));
    wire_link_drop(&l);
}
