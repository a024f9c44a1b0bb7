/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_pass.c - echoes its input, one connection after the other, without its own buffers (toe.h).
 * It links to libtoe; nothing is preloaded.
 *
 *   toe_pass PORT place      toe_recv_peek() and toe_send_reserve(): from buffer to buffer
 *   toe_pass PORT ref        toe_recv_peek() and toe_send_ref(): sent from the receive buffer
 *   toe_pass PORT lend       toe_recv_borrow() and toe_send_ref(): the same, several at once
 *
 * Prints "ready" when it listens, and "passed BYTES ..." at the end of each connection.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/toe.h>

#define LOANS 4
#define PIECE 8192

static int fail(const char *what)
{
    fprintf(stderr, "toe_pass: %s: %s\n", what, strerror(errno));
    return 1;
}

/* n bytes from one pair of ranges to another. */
static void copy(const struct iovec to[2], const struct iovec from[2], size_t n)
{
    for (size_t done = 0, k; done < n; done += k) {
        int i = done >= to[0].iov_len, j = done >= from[0].iov_len;
        size_t at = done - (i ? to[0].iov_len : 0), of = done - (j ? from[0].iov_len : 0);

        k = n - done;
        if (k > to[i].iov_len - at)
            k = to[i].iov_len - at;
        if (k > from[j].iov_len - of)
            k = from[j].iov_len - of;
        memcpy((char *)to[i].iov_base + at, (const char *)from[j].iov_base + of, k);
    }
}

/* Bytes passed, 0 at the end, -1 with errno. */
static ssize_t in_place(int fd)
{
    struct iovec in[2], out[2];
    ssize_t n = toe_recv_peek(fd, in, 0), k;

    if (n <= 0)
        return n;
    k = toe_send_reserve(fd, (size_t)n, out, 0);
    if (k < 0)
        return -1;
    copy(out, in, (size_t)k);
    if (toe_send_commit(fd, (size_t)k, MSG_NOSIGNAL) < 0)
        return -1;
    return toe_recv_consume(fd, (size_t)k);
}

static unsigned long copied, referred; /* completions */

/* Waits for a completion: its token, or UINT64_MAX with errno. */
static uint64_t told(int fd)
{
    struct toe_completion c;

    while (toe_send_completions(fd, &c, 1) == 0) {
        struct pollfd p = {.fd = fd};

        if (toe_poll(&p, 1, 20000) != 1) {
            errno = ETIMEDOUT;
            return UINT64_MAX;
        }
    }
    copied += c.flags & TOE_COPIED;
    referred += !(c.flags & TOE_COPIED);
    return c.token;
}

static ssize_t by_reference(int fd)
{
    struct iovec in[2];
    ssize_t n = toe_recv_peek(fd, in, 0), k;

    if (n <= 0)
        return n;
    k = toe_send_ref(fd, in, 2, MSG_NOSIGNAL, 0);
    if (k < 0 || told(fd) == UINT64_MAX)
        return -1;
    return toe_recv_consume(fd, (size_t)k);
}

/* Loans are sent, and returned when the peer has them; the limit of concurrent loans. */
static ssize_t lent(int fd)
{
    static unsigned under_way;
    struct iovec in[2];
    uint64_t loan;
    ssize_t n;

    while (under_way == LOANS) {
        if (toe_recv_return(fd, told(fd)) < 0)
            return -1;
        under_way--;
    }
    n = toe_recv_borrow(fd, PIECE, in, &loan, 0);
    for (; n == 0 && under_way; under_way--)
        if (toe_recv_return(fd, told(fd)) < 0)
            return -1;
    if (n <= 0)
        return n;
    if (toe_send_ref(fd, in, 2, MSG_NOSIGNAL, loan) != n)
        return -1;
    under_way++;
    return n;
}

static int serve(int l, ssize_t (*pass)(int fd))
{
    for (;;) {
        int fd = toe_accept(l, NULL, NULL);
        size_t total = 0;
        ssize_t n;

        if (fd < 0)
            return fail("accept");
        if (!toe_is_offloaded(fd))
            return fail("the TOE does not carry the connection");
        while ((n = pass(fd)) > 0)
            total += (size_t)n;
        if (n < 0)
            return fail("pass");
        toe_close(fd);
        printf("passed %zu, %lu by reference, %lu copied\n", total, referred, copied);
        fflush(stdout);
    }
}

static const struct {
    const char *name;
    ssize_t (*pass)(int fd);
} methods[] = {{"place", in_place}, {"ref", by_reference}, {"lend", lent}};

int main(int argc, char **argv)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    size_t m = 0;
    int l;

    while (argc == 3 && m < 3 && strcmp(argv[2], methods[m].name))
        m++;
    if (argc != 3 || m == 3) {
        fprintf(stderr, "usage: toe_pass PORT place|ref|lend\n");
        return 2;
    }
    a.sin_port = htons((uint16_t)atoi(argv[1]));
    l = toe_socket(AF_INET, SOCK_STREAM, 0);
    if (l < 0 || toe_bind(l, (struct sockaddr *)&a, sizeof(a)) < 0 || toe_listen(l, 16) < 0)
        return fail("listen");
    printf("ready\n");
    fflush(stdout);
    return serve(l, methods[m].pass);
}
