/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - see stack.h. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../device/tests/alone.h"
#include "stack.h"

#if defined(__SANITIZE_ADDRESS__)
#define DEEP 0 /* a sanitizer's allocator cannot be bypassed */
#else
#define DEEP RTLD_DEEPBIND
#endif

void stack_alone(void)
{
    (void)move_alone_as_any_user(); /* without the right, with the machine's ports */
}

/* A separate file, so that the loader does not reuse an object that it has loaded. */
static int copy(const char *path)
{
    char buf[65536];
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
    ssize_t n;

    assert_true(from >= 0 && to >= 0);
    while ((n = read(from, buf, sizeof(buf))) > 0)
        assert_int_equal(write(to, buf, (size_t)n), n);
    close(from);
    return to;
}

static void *symbol(const struct stack *s, const char *name)
{
    void *p = dlsym(s->handle, name);

    if (!p)
        fail_msg("no symbol %s", name);
    return p;
}

#define SYMBOL(member)                                                                             \
    do {                                                                                           \
        void *p_ = symbol(s, "toevt_" #member);                                                    \
        memcpy(&s->member, &p_, sizeof(p_));                                                       \
    } while (0)

void stack_again(struct stack *s, const char *flags)
{
    char err[256];

    if (s->init(flags, &s->t, err, sizeof(err)) != 0)
        fail_msg("%s", err);
}

void stack_load(struct stack *s, const char *path, const char *flags)
{
    char name[64];
    int fd = copy(path);

    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    s->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | DEEP);
    if (!s->handle)
        fail_msg("%s", dlerror());
    /* fd stays open: the loader knows objects by their names too */
    SYMBOL(init);
    SYMBOL(set);
    SYMBOL(get);
    SYMBOL(now);
    SYMBOL(next);
    SYMBOL(run);
    SYMBOL(receive);
    SYMBOL(send);
    SYMBOL(counter);
    SYMBOL(usage);
    SYMBOL(trace);
    stack_again(s, flags);
}

void stack_free(struct stack *s)
{
    s->t.free(s->t.userdata);
    dlclose(s->handle);
}

void stack_address(struct sockaddr *out, const char *ip, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

    assert_int_equal(inet_pton(AF_INET, ip, &a.sin_addr), 1);
    memcpy(out, &a, sizeof(a));
}

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static unsigned sum(const uint8_t *p, size_t n, uint32_t s)
{
    size_t i;

    for (i = 0; i < n; i++)
        s += i & 1 ? p[i] : (uint32_t)p[i] << 8;
    while (s >> 16)
        s = (s & 0xffff) + (s >> 16);
    return s;
}

size_t segment_write(uint8_t *out, const char *from, const char *to, const struct segment *g)
{
    size_t len = 20 + g->len, i;
    uint8_t *t = out + 20;

    memset(out, 0, 20 + len);
    out[0] = 0x45;
    put16(out + 2, (unsigned)(20 + len));
    out[8] = 64;
    out[9] = 6;
    inet_pton(AF_INET, from, out + 12);
    inet_pton(AF_INET, to, out + 16);
    put16(out + 10, ~sum(out, 20, 0));
    put16(t, g->sport);
    put16(t + 2, g->dport);
    put32(t + 4, g->seq);
    put32(t + 8, g->ack);
    t[12] = 5 << 4;
    t[13] = g->flags;
    put16(t + 14, g->window);
    for (i = 0; i < g->len; i++)
        t[20 + i] = (uint8_t)i;
    put16(t + 16, ~sum(t, len, sum(out + 12, 8, (uint32_t)(6 + len))));
    return 20 + len;
}

struct segment segment_read(const uint8_t *p, size_t n)
{
    const uint8_t *t = p + 20;
    struct segment g = {.sport = (uint16_t)(t[0] << 8 | t[1]),
                        .dport = (uint16_t)(t[2] << 8 | t[3]),
                        .seq = get32(t + 4),
                        .ack = get32(t + 8),
                        .flags = t[13],
                        .window = (uint16_t)(t[14] << 8 | t[15])};

    g.len = (uint32_t)(n - 20 - (t[12] >> 4) * 4u);
    return g;
}
