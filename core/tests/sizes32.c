/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sizes32.c - a 32-bit program without a C library (check_amalgamation.py runs it): configurations
 * that do not fit are rejected, and no size is smaller than requested. Exits with the line of the
 * first failure, or 0.
 */
#include "toe_easy.h"

int main(void);
void *memcpy(void *dst, const void *src, __SIZE_TYPE__ n);
void *memset(void *dst, int c, __SIZE_TYPE__ n);

void *memcpy(void *dst, const void *src, __SIZE_TYPE__ n)
{
    char *to = dst;
    const char *from = src;

    while (n--)
        *to++ = *from++;
    return dst;
}

void *memset(void *dst, int c, __SIZE_TYPE__ n)
{
    char *to = dst;

    while (n--)
        *to++ = (char)c;
    return dst;
}

static int send_frame(void *user, const toec_u8 *frame, toec_u32 len)
{
    (void)user;
    (void)frame;
    (void)len;
    return 0;
}

static void on_event(void *user, struct toec_conn *c, unsigned what)
{
    (void)user;
    (void)c;
    (void)what;
}

static struct toec_easy_config config(toec_u32 flows, toec_u32 ring)
{
    static struct toec_easy_config c;

    memset(&c, 0, sizeof(c));
    c.core.mac[0] = 2;
    c.core.ip[0] = 10;
    c.core.ip[3] = 1;
    c.core.prefix_len = 24;
    c.core.max_flows = flows;
    c.tx_size = c.rx_size = ring;
    c.send = send_frame;
    c.event = on_event;
    return c;
}

static unsigned long size(toec_u32 flows)
{
    struct toec_easy_config c = config(flows, 0);

    return toec_size(&c.core);
}

static unsigned long easy_size(toec_u32 flows, toec_u32 ring)
{
    struct toec_easy_config c = config(flows, ring);

    return toec_easy_size(&c);
}

int main(void)
{
    struct toec_easy_config c = config(1u << 20, 0);
    toec_u32 flows;

    for (flows = 1024; flows <= 1u << 20; flows += 1024) {
        unsigned long n = size(flows);

        if (n ? n / flows < 8000 || flows > 250000 : flows < 210000)
            return __LINE__;
    }
    c.core.max_records = 1;
    if (toec_size(&c.core) < 600ul << 20) /* the flows themselves have room */
        return __LINE__;
    c.core.max_ao_keys = c.core.max_time_wait = c.core.max_records = 1u << 20;
    c.core.ao = (const struct toec_ao_ops *)&c; /* not reached */
    if (toec_size(&c.core))
        return __LINE__;
    if (easy_size(1024, 1u << 19) < 1ul << 30 || easy_size(1024, 1u << 20))
        return __LINE__;
    if (easy_size(1024, 1u << 21) || easy_size(256, 1u << 24) || easy_size(131072, 0))
        return __LINE__;
    return 0;
}

void _start(void);
void _start(void)
{
    register long status __asm__("a0") = main();
    register long call __asm__("a7") = 93; /* exit */

    __asm__ volatile("ecall" : : "r"(status), "r"(call));
    for (;;)
        ;
}
