/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - an HTTP server on the rings of a TOE, with no operating system and no C library: TCP is
 * in the chip's other processor (queue.h). Events change what is known of a connection; then each
 * connection writes the commands that it needs and the ring has room for.
 *
 *   GET /          how many requests, and for how long it runs
 *   GET /bytes/N   N bytes, byte n is n modulo 251
 */
#include "board.h"
#include "http.h"
#include "queue.h"

#ifndef ADDRESS
#define ADDRESS 0xc000020au /* 192.0.2.10 */
#define PREFIX  24
#endif
#define PORT     80
#define BACKLOG  TOECHIP_SLOTS
#define TEXT     256u /* bytes of a header with a short body */
#define COMMANDS 5u   /* of a connection at once */

struct connection {
    uint8_t open, accepts, half, closed, ended;
    uint8_t answers; /* a request is complete, its answer not all sent */
    struct http_request request;
    uint32_t rx_at, rx_end; /* stream offsets: read, received */
    uint32_t tx_at, acked;  /* written, acknowledged */
    uint32_t body, left;    /* of an answer by HTTP_BYTES: sent, to send */
};

static struct connection connections[TOECHIP_SLOTS];
static uint32_t requests;

static void clear(struct http_request *r)
{
    *r = (struct http_request){.status = 200};
}

/* ---- events ---- */

static void on_event(const struct queue_event *e)
{
    struct connection *c = &connections[e->flow % TOECHIP_SLOTS];

    switch (e->type) {
    case TOE_CMD_LISTEN_ESTABLISHED:
        *c = (struct connection){.open = 1, .accepts = 1};
        clear(&c->request);
        break;
    case TOE_CMD_DATA_RECEIVED:
        c->rx_end += e->arg0;
        break;
    case TOE_CMD_SEND_COMPLETE:
        c->acked += e->arg0;
        break;
    case TOE_CMD_CLOSE_EVENT:
        if (e->flags & TOE_F_CLOSE_EVENT_HALF)
            c->half = 1;
        else
            c->ended = 1;
        break;
    case TOE_CMD_ERROR:
        board_print("the TOE refuses a command, reason ");
        board_print_number(e->aux);
        board_print("\n");
        break;
    default:
        break;
    }
}

/* ---- answers ---- */

static uint32_t tx_room(const struct connection *c)
{
    return TOECHIP_TX - (c->tx_at - c->acked);
}

static void send_text(struct connection *c, uint32_t slot, const char *text, uint32_t n)
{
    uint8_t *to = queue_send_buffer(slot);

    while (n--)
        to[c->tx_at++ % TOECHIP_TX] = (uint8_t)*text++;
}

static uint32_t put(char *to, const char *text)
{
    uint32_t n = 0;

    for (; text[n]; n++)
        to[n] = text[n];
    return n;
}

static uint32_t put_number(char *to, uint32_t v)
{
    char digits[10];
    uint32_t n = 0, i = 0;

    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    while (n)
        to[i++] = digits[--n];
    return i;
}

static uint32_t page(const struct http_request *r, char *to)
{
    uint32_t n;

    if (r->what == HTTP_TEXT || r->status != 200)
        return put(to, "no such page\n");
    n = put(to, "requests ");
    n += put_number(to + n, requests);
    n += put(to + n, "\nmilliseconds ");
    n += put_number(to + n, board_milliseconds());
    return n + put(to + n, "\n");
}

/* Writes the header, with a short body behind it. */
static void begin_answer(struct connection *c, uint32_t slot)
{
    static char header[TEXT], text[TEXT / 4];
    const struct http_request *r = &c->request;
    int bytes = r->what == HTTP_BYTES && r->status == 200;
    uint32_t n = bytes ? 0 : page(r, text);

    requests++;
    send_text(c, slot, header, http_header(r, bytes ? r->size : n, header));
    if (!r->head)
        send_text(c, slot, text, n);
    c->body = 0;
    c->left = bytes && !r->head ? r->size : 0;
    c->answers = 1;
}

static void more_body(struct connection *c, uint32_t slot)
{
    uint32_t n = tx_room(c), value = c->body % 251, at = c->tx_at;
    uint8_t *to = queue_send_buffer(slot);

    if (n > c->left)
        n = c->left;
    c->left -= n;
    c->body += n;
    c->tx_at += n;
    while (n--) {
        to[at++ % TOECHIP_TX] = (uint8_t)value;
        value = value == 250 ? 0 : value + 1;
    }
}

/* ---- a connection's turn ---- */

static void read_requests(struct connection *c, uint32_t slot)
{
    const uint8_t *from_peer = queue_receive_buffer(slot);
    uint32_t from = c->rx_at;

    while (!c->answers && c->rx_at != c->rx_end && tx_room(c) >= TEXT)
        if (http_byte(&c->request, from_peer[c->rx_at++ % TOECHIP_RX]))
            begin_answer(c, slot);
    if (c->rx_at != from)
        queue_command(TOE_CMD_RECV, slot, c->rx_at - from, 0);
}

/* Writes what there is to send. */
static void send_answer(struct connection *c, uint32_t slot, uint32_t from)
{
    more_body(c, slot);
    if (c->tx_at != from)
        queue_command(TOE_CMD_SEND | TOE_F_SEND_PUSH << 8, slot, c->tx_at - from, 0);
    if (c->left == 0) {
        c->answers = 0;
        c->closed = c->request.close;
        clear(&c->request);
        if (c->closed)
            queue_command(TOE_CMD_CLOSE, slot, 0, 0);
    }
}

/* Returns 1 when the connection can do more at once: a request may follow in what has come. */
static int turn(struct connection *c, uint32_t slot)
{
    uint32_t from = c->tx_at;

    if (c->ended) {
        queue_command(TOE_CMD_RELEASE, slot, 0, 0);
        c->open = 0;
        return 0;
    }
    if (c->accepts)
        queue_command(TOE_CMD_ACCEPT, slot, 0, 0);
    c->accepts = 0;
    if (c->closed)
        return 0;
    read_requests(c, slot);
    if (c->answers)
        send_answer(c, slot, from);
    if (c->half && !c->closed && !c->answers && c->rx_at == c->rx_end) {
        queue_command(TOE_CMD_CLOSE, slot, 0, 0);
        c->closed = 1;
    }
    return !c->closed && !c->answers && c->rx_at != c->rx_end && tx_room(c) >= TEXT;
}

/* Returns whether a connection waits for room in the ring (1), or can continue at once (2). */
static int turns(void)
{
    uint32_t slot;
    int waits = 0;

    for (slot = 0; slot < TOECHIP_SLOTS; slot++) {
        if (!connections[slot].open)
            continue;
        if (queue_room() < COMMANDS)
            return waits | 1;
        if (turn(&connections[slot], slot))
            waits |= 2;
    }
    return waits;
}

int main(void);
int main(void)
{
    /* A board needs a source of secrets; the chip has none (docs/CHIP.md). */
    static const struct toechip_page page = {
        .mac = {2, 0, 0, 0, 0, 10},
        .mtu = 1500,
        .ip4 = ADDRESS,
        .prefix = PREFIX,
        .secret = {1, 2, 3, 4, 5, 6, 7, 8},
    };
    struct queue_event e;

    queue_open(&page);
    queue_command(TOE_CMD_LISTEN | PORT << 16, 1, 0, BACKLOG);
    queue_publish();
    board_print("listening\n");
    for (;;) {
        int waits;

        while (queue_event(&e))
            on_event(&e);
        if (queue_halted())
            board_fail("the TOE has halted the queue pair");
        waits = turns();
        queue_publish();
        if (!(waits & 2))
            queue_wait(waits & 1);
    }
}
