/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libuv program: `echo_libuv serve ADDRESS PORT` echoes what it receives; `echo_libuv client
 * ADDRESS PORT CONNECTIONS BYTES` compares the echo on each of its connections and prints "ok".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "argument.h"

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        int rc_ = (x);                                                                             \
        if (rc_ < 0) {                                                                             \
            fprintf(stderr, "%s: %s\n", #x, uv_strerror(rc_));                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static char *data; /* what each client sends */
static size_t bytes;
static unsigned running;

struct client {
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    size_t got;
};

static void alloc(uv_handle_t *h, size_t hint, uv_buf_t *out)
{
    (void)h;
    out->base = malloc(hint);
    out->len = out->base ? hint : 0;
}

static void free_handle(uv_handle_t *h)
{
    free(h);
}

/* ---- server ---- */

static void written(uv_write_t *w, int status)
{
    if (status < 0 && !uv_is_closing((uv_handle_t *)w->handle))
        uv_close((uv_handle_t *)w->handle, free_handle);
    free(w->data);
    free(w);
}

static void back(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    uv_buf_t out = uv_buf_init(b->base, n > 0 ? (unsigned)n : 0);
    uv_write_t *w;

    if (n <= 0) {
        free(b->base);
        if (n < 0 && !uv_is_closing((uv_handle_t *)s))
            uv_close((uv_handle_t *)s, free_handle);
        return;
    }
    w = malloc(sizeof *w);
    w->data = b->base;
    CHECK(uv_write(w, s, &out, 1, written));
}

static void come(uv_stream_t *listener, int status)
{
    uv_tcp_t *s = malloc(sizeof *s);

    CHECK(status);
    CHECK(uv_tcp_init(listener->loop, s));
    CHECK(uv_accept(listener, (uv_stream_t *)s));
    CHECK(uv_read_start((uv_stream_t *)s, alloc, back));
}

/* ---- client ---- */

static void compare(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct client *c = s->data;

    CHECK((int)n);
    if (c->got + (size_t)n > bytes || memcmp(b->base, data + c->got, (size_t)n) != 0) {
        fprintf(stderr, "other bytes came back, after %zu\n", c->got);
        exit(1);
    }
    free(b->base);
    c->got += (size_t)n;
    if (c->got == bytes) {
        uv_close((uv_handle_t *)s, NULL);
        if (--running == 0)
            puts("ok");
    }
}

static void sent(uv_write_t *w, int status)
{
    (void)w;
    CHECK(status);
}

static void there(uv_connect_t *r, int status)
{
    struct client *c = r->data;
    uv_buf_t out = uv_buf_init(data, (unsigned)bytes);

    CHECK(status);
    CHECK(uv_write(&c->write, r->handle, &out, 1, sent));
    CHECK(uv_read_start(r->handle, alloc, compare));
}

static void start_clients(uv_loop_t *loop, const struct sockaddr_in *at, unsigned n)
{
    struct client *all = calloc(n, sizeof *all);

    data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)(i * 2654435761u >> 16);
    running = n;
    for (struct client *c = all; c < all + n; c++) {
        CHECK(uv_tcp_init(loop, &c->tcp));
        c->tcp.data = c->connect.data = c;
        CHECK(uv_tcp_connect(&c->connect, &c->tcp, (const struct sockaddr *)at, there));
    }
    CHECK(uv_run(loop, UV_RUN_DEFAULT));
    free(all);
    free(data);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    struct sockaddr_in at;
    uv_tcp_t listener;

    if (argc < 4)
        return 2;
    CHECK(uv_ip4_addr(argv[2], port_argument(argv[3]), &at));
    if (strcmp(argv[1], "client") == 0) {
        bytes = argc > 5 ? argument("BYTES", argv[5], 1, UINT32_MAX) : 1;
        start_clients(loop, &at, argc > 4 ? (unsigned)argument("CLIENTS", argv[4], 1, 65535) : 1);
        return 0;
    }
    CHECK(uv_tcp_init(loop, &listener));
    CHECK(uv_tcp_bind(&listener, (const struct sockaddr *)&at, 0));
    CHECK(uv_listen((uv_stream_t *)&listener, 128, come));
    puts("ready");
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
