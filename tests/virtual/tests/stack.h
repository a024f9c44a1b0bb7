/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - a copy of libtoe_packetdrill.so loaded for a test: its table and its other functions.
 */
#ifndef VIRTUAL_TESTS_STACK_H
#define VIRTUAL_TESTS_STACK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <toe/virtual.h>

#define SECOND 1000000000ull
#define MS     1000000ull

struct stack {
    void *handle;
    struct packetdrill_interface t;
    int (*init)(const char *flags, struct packetdrill_interface *out, char *err, size_t size);
    int (*set)(const char *flags, char *err, size_t size);
    const char *(*get)(const char *name);
    uint64_t (*now)(void);
    uint64_t (*next)(void);
    void (*run)(uint64_t until);
    size_t (*receive)(void *packet, size_t room, uint64_t until, uint64_t *at);
    int (*send)(const void *packet, size_t n);
    int64_t (*counter)(const char *name);
    void (*usage)(uint32_t out[4]);
    uint64_t (*trace)(void);
};

/* Called first, by each program: a stack's sockets are bound in the kernel too, where another
 * program may have their ports. */
void stack_alone(void);

/* Loads another copy: it shares nothing with those loaded before. */
void stack_load(struct stack *s, const char *path, const char *flags);
void stack_free(struct stack *s);
/* Calls toevt_init() again. */
void stack_again(struct stack *s, const char *flags);
void stack_address(struct sockaddr *out, const char *ip, uint16_t port);

/* TCP over IPv4 as the peer of a stack writes and reads it. */
struct segment {
    uint16_t sport, dport;
    uint32_t seq, ack;
    uint8_t flags;
    uint16_t window;
    uint32_t len; /* of the payload */
};
#define FIN 1u
#define SYN 2u
#define RST 4u
#define PSH 8u
#define ACK 16u
size_t segment_write(uint8_t *out, const char *from, const char *to, const struct segment *g);
struct segment segment_read(const uint8_t *packet, size_t n);

#endif
