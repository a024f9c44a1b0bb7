/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo.c - an echo server with no operating system and no C library: core/ in one file, core/easy
 * in another, on QEMU's RISC-V machine `virt`, 32 or 64 bits. Reads the card, polls core/,
 * sleeps until a frame arrives or core/'s next deadline.
 */
#include "toe_easy.h"

#include "board.h"
#include "virtio.h"

#ifndef ADDRESS
#define ADDRESS 10, 77, 0, 1 /* /24 */
#endif
#define PORT  7
#define CONNS 256

static uint8_t memory[12u << 20] __attribute__((aligned(64)));

static int send_frame(void *user, const toec_u8 *frame, toec_u32 len)
{
    (void)user;
    return net_send(frame, len);
}

static void on_event(void *user, struct toec_conn *c, unsigned what)
{
    const toec_u8 *p;
    toec_u32 n;

    (void)user;
    if (what & TOEC_EASY_GONE)
        return;
    while ((n = toec_easy_peek(c, &p)) > 0 && (n = toec_easy_write(c, p, n)) > 0)
        toec_easy_skip(c, n); /* bytes without room stay until TOEC_EASY_WRITE */
    if (toec_easy_ended(c))
        toec_easy_close(c);
}

static void configure(struct toec_easy_config *cfg)
{
    static const uint8_t address[4] = {ADDRESS};
    unsigned i;

    for (i = 0; i < 4; i++)
        cfg->core.ip[i] = address[i];
    cfg->core.prefix_len = 24;
    cfg->core.max_flows = CONNS;
    cfg->core.max_time_wait = CONNS;
    cfg->send = send_frame;
    cfg->event = on_event;
    if (net_start(cfg->core.mac) < 0)
        board_fail("no virtio-net-device");
    if (virtio_random(cfg->core.secret, sizeof(cfg->core.secret)) < 0)
        board_fail("no virtio-rng-device: nothing to make a secret of");
}

int main(void)
{
    static struct toec_easy_config cfg;
    struct toec_easy *easy;

    configure(&cfg);
    easy = toec_easy_init(memory, sizeof(memory), &cfg, board_time());
    if (!easy || toec_easy_listen(easy, 0, PORT, 0, 0))
        board_fail("the stack refuses its configuration or needs more memory");
    board_print("listening; ");
    board_print_number(toec_easy_size(&cfg) >> 10);
    board_print(" KiB for stack and buffers\n");
    for (;;) {
        uint64_t now = board_time(), next;
        const uint8_t *frame;
        uint32_t n;

        while ((n = net_receive(&frame)) > 0)
            toec_easy_input(easy, frame, n, 0, now);
        next = toec_easy_poll(easy, now);
        net_flush();
        if (next > now)
            board_sleep(next);
    }
}
