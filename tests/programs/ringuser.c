/* SPDX-License-Identifier: Apache-2.0 */
/* ringuser.c - creates a ring by liburing and one by syscall(2); prints the result of each. */
#define _GNU_SOURCE
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
    struct io_uring_params params;
    struct io_uring ring;
    int rc = io_uring_queue_init(4, &ring, 0);
    long fd;

    printf("liburing: %s\n", strerror(-rc));
    memset(&params, 0, sizeof(params));
    fd = syscall(SYS_io_uring_setup, 4, &params);
    printf("syscall: %s\n", fd < 0 ? strerror(errno) : "Success");
    /* other calls pass with all their arguments */
    printf("pid: %d\n", syscall(SYS_getpid) == getpid());
    fd = syscall(SYS_splice, -1, NULL, -1, NULL, 1, 0);
    printf("splice: %ld %d\n", fd, errno == EBADF);
    return 0;
}
