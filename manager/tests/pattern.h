/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - a stream whose bytes follow from their place in it. */
#ifndef PATTERN_H
#define PATTERN_H

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "harness.h"

/* Returns byte i of the stream. */
static inline uint8_t byte_at(uint32_t i)
{
    return (uint8_t)(i * 2654435761u >> 24);
}

/* Writes n bytes, from byte `from` of the stream on. */
static inline void write_pattern(const struct iovec iov[2], uint32_t n, uint32_t from)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *to = i < iov[0].iov_len ? (uint8_t *)iov[0].iov_base + i
                                         : (uint8_t *)iov[1].iov_base + i - iov[0].iov_len;

        *to = byte_at(from + i);
    }
}

/* Asserts that n bytes are those from byte `from` on. */
static inline void check_pattern(const struct iovec iov[2], uint32_t n, uint32_t from)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *at = i < iov[0].iov_len
                                ? (const uint8_t *)iov[0].iov_base + i
                                : (const uint8_t *)iov[1].iov_base + i - iov[0].iov_len;

        assert_int_equal(*at, byte_at(from + i));
    }
}

/* Sends up to n bytes of the pattern, in place or by send(); returns their number. */
static inline uint32_t send_some(int fd, uint32_t n, uint32_t from)
{
    uint8_t out[TX_SIZE];
    struct iovec iov[2];
    ssize_t r;

    if (harness_random() % 4 == 0) {
        n = n < sizeof(out) ? n : sizeof(out);
        write_pattern((struct iovec[2]){{out, n}, {NULL, 0}}, n, from);
        r = toe_send(fd, out, n, 0);
        assert_true(r > 0 || errno == EAGAIN);
        return r > 0 ? (uint32_t)r : 0;
    }
    r = toe_send_reserve(fd, n, iov, 0);
    if (r < 0) {
        assert_int_equal(errno, EAGAIN);
        return 0;
    }
    assert_true(r > 0 && r <= (ssize_t)n);
    assert_int_equal(iov[0].iov_len + iov[1].iov_len, r);
    n = harness_random() % ((uint32_t)r + 1);
    write_pattern(iov, n, from);
    assert_int_equal(toe_send_commit(fd, n, harness_random() % 2 ? MSG_MORE : 0), n);
    return n;
}

/* Reads some available bytes, in place or by recv(); returns their number. */
static inline uint32_t read_some(int fd, uint32_t from)
{
    struct iovec iov[2];
    uint8_t in[1000];
    ssize_t r;
    uint32_t n;

    if (harness_random() % 4 == 0) {
        r = toe_recv(fd, in, sizeof(in), 0);
        assert_true(r > 0 || errno == EAGAIN);
        if (r > 0)
            check_pattern((struct iovec[2]){{in, (size_t)r}, {NULL, 0}}, (uint32_t)r, from);
        return r > 0 ? (uint32_t)r : 0;
    }
    r = toe_recv_peek(fd, iov, 0);
    if (r < 0) {
        assert_int_equal(errno, EAGAIN);
        return 0;
    }
    assert_true(r > 0);
    assert_int_equal(iov[0].iov_len + iov[1].iov_len, r);
    check_pattern(iov, (uint32_t)r, from);
    n = harness_random() % ((uint32_t)r + 1);
    assert_int_equal(toe_recv_consume(fd, n), n);
    return n;
}

#endif
