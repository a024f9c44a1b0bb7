/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux_6_1.c - preloaded: AF_XDP as in Linux 6.1, for tests on newer kernels. Newer features are
 * rejected as 6.1 rejects them (net/xdp/xsk.c, xdp_umem.c).
 *
 * TOE_TEST_NO_FRAGS=1: XDP programs cannot take frames of several buffers either, as in 5.17.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define KNOWN_UMEM XDP_UMEM_UNALIGNED_CHUNK_FLAG
#define KNOWN_BIND (XDP_SHARED_UMEM | XDP_COPY | XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP)

static int refuse(void)
{
    errno = EINVAL;
    return -1;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    int (*next)(int, int, int, const void *, socklen_t) =
        (int (*)(int, int, int, const void *, socklen_t))dlsym(RTLD_NEXT, "setsockopt");
    const struct xdp_umem_reg *reg = value;

    if (level == SOL_XDP && name > XDP_OPTIONS) {
        errno = ENOPROTOOPT;
        return -1;
    }
    if (level == SOL_XDP && name == XDP_UMEM_REG && reg->flags & ~(unsigned)KNOWN_UMEM)
        return refuse();
    return next(fd, level, name, value, len);
}

int bind(int fd, const struct sockaddr *to, socklen_t len)
{
    int (*next)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "bind");
    const struct sockaddr_xdp *xdp = (const void *)to;

    if (to->sa_family == AF_XDP && xdp->sxdp_flags & ~(unsigned)KNOWN_BIND)
        return refuse();
    return next(fd, to, len);
}

/* The call by which libbpf reaches bpf(2). */
long syscall(long number, ...)
{
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long a, b, c, d, e, f;
    va_list args;

    va_start(args, number);
    a = va_arg(args, long);
    b = va_arg(args, long);
    c = va_arg(args, long);
    d = va_arg(args, long);
    e = va_arg(args, long);
    f = va_arg(args, long);
    va_end(args);
    if (number == SYS_bpf && a == BPF_PROG_LOAD && getenv("TOE_TEST_NO_FRAGS") &&
        ((const union bpf_attr *)b)->prog_flags & BPF_F_XDP_HAS_FRAGS)
        return refuse();
    return next(number, a, b, c, d, e, f);
}
