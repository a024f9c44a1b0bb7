/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP by libevent, as a server (http_libevent serve ADDRESS PORT: GET /hello, POST /echo,
 * GET /bytes/N) and as a client (http_libevent client ADDRESS PORT: prints the responses as JSON).
 */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"

#define HELLOS 300
#define ECHO   5000000
#define BYTES  10000000

static char *pattern(size_t n)
{
    char *p = malloc(n);

    for (size_t i = 0; p && i < n; i++)
        p[i] = "0123456789abcdef"[i % 16];
    return p;
}

/* ---- server ---- */

static void release(const void *data, size_t n, void *arg)
{
    (void)n;
    (void)arg;
    free((void *)data);
}

static void answer(struct evhttp_request *r, void *arg)
{
    static const char bytes[] = "/bytes/";
    const char *uri = evhttp_request_get_uri(r);
    struct evbuffer *out = evbuffer_new();

    (void)arg;
    if (evhttp_request_get_command(r) == EVHTTP_REQ_POST) {
        evbuffer_add_buffer(out, evhttp_request_get_input_buffer(r));
    } else if (strncmp(uri, bytes, sizeof bytes - 1) == 0) {
        size_t n = strtoul(uri + sizeof bytes - 1, NULL, 10);

        evbuffer_add_reference(out, pattern(n), n, release, NULL);
    } else {
        evbuffer_add_printf(out, "hello\n");
    }
    evhttp_send_reply(r, 200, "OK", out);
    evbuffer_free(out);
}

static int serve(struct event_base *base, const char *address, int port)
{
    struct evhttp *http = evhttp_new(base);

    evhttp_set_gencb(http, answer, NULL);
    if (evhttp_bind_socket(http, address, (ev_uint16_t)port) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    return event_base_dispatch(base);
}

/* ---- client: its requests one after the other over one connection ---- */

struct client {
    struct evhttp_connection *connection;
    const char *address;
    char *sent;
    int done, hellos, echoed, bytes;
};

static void next(struct client *c);

static int is_body(struct evhttp_request *r, const char *expected, size_t n)
{
    struct evbuffer *in = evhttp_request_get_input_buffer(r);

    return evbuffer_get_length(in) == n &&
           memcmp(evbuffer_pullup(in, (ev_ssize_t)n), expected, n) == 0;
}

static void got(struct evhttp_request *r, void *arg)
{
    struct client *c = arg;

    if (!r) {
        fputs("no answer\n", stderr);
        exit(1);
    }
    if (c->done < HELLOS) {
        c->hellos += is_body(r, "hello\n", 6);
    } else if (c->done == HELLOS) {
        c->echoed = is_body(r, c->sent, ECHO);
    } else {
        char *expected = pattern(BYTES);

        c->bytes = is_body(r, expected, BYTES);
        free(expected);
    }
    c->done++;
    next(c);
}

static void next(struct client *c)
{
    struct evhttp_request *r;
    const char *path = c->done < HELLOS    ? "/hello"
                       : c->done == HELLOS ? "/echo"
                                           : "/bytes/10000000";

    if (c->done > HELLOS + 1) {
        printf("{\"hellos\": %d, \"echoed\": %s, \"bytes\": %s}\n", c->hellos,
               c->echoed ? "true" : "false", c->bytes ? "true" : "false");
        event_base_loopbreak(evhttp_connection_get_base(c->connection));
        return;
    }
    r = evhttp_request_new(got, c);
    evhttp_add_header(evhttp_request_get_output_headers(r), "Host", c->address);
    if (c->done == HELLOS)
        evbuffer_add(evhttp_request_get_output_buffer(r), c->sent, ECHO);
    evhttp_make_request(c->connection, r, c->done == HELLOS ? EVHTTP_REQ_POST : EVHTTP_REQ_GET,
                        path);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct client c = {.address = argc > 3 ? argv[2] : ""};
    int r;

    if (argc < 4)
        return 2;
    if (strcmp(argv[1], "serve") == 0)
        return serve(base, argv[2], port_argument(argv[3]));
    c.connection = evhttp_connection_base_new(base, NULL, argv[2], port_argument(argv[3]));
    c.sent = pattern(ECHO);
    c.sent[ECHO / 2] = 'x';
    next(&c);
    r = event_base_dispatch(base);
    evhttp_connection_free(c.connection);
    event_base_free(base);
    free(c.sent);
    return r < 0;
}
