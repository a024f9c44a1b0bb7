/* SPDX-License-Identifier: Apache-2.0 */
/* fds.c - descriptors in the control data of a message (toe/fds.h). */
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <toe/fds.h>

void toe_fds_put(struct msghdr *m, void *room, const int *fds, size_t n)
{
    size_t size = CMSG_SPACE(n * sizeof(int));
    struct cmsghdr *c;

    if (!n) {
        m->msg_control = NULL;
        m->msg_controllen = 0;
        return;
    }
    memset(room, 0, size);
    m->msg_control = room;
    m->msg_controllen = size;
    c = CMSG_FIRSTHDR(m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(c), fds, n * sizeof(int));
}

size_t toe_fds_take(struct msghdr *m, int *fds, size_t max)
{
    size_t came = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < n; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
            if (came++ < max)
                fds[came - 1] = fd;
            else /* not close(): under the preload library that is libtoe's close() */
                (void)syscall(SYS_close, fd);
        }
    }
    return came;
}
