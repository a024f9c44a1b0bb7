/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo_uv.c - an echo server within an existing event loop: libuv watches a TAP device and a timer,
 * and calls core/ for both. toe/easy.h supplies the buffers.
 *
 *   echo_uv tap0 192.0.2.10/24 7
 *
 * The loop stays free for anything else: here it also prints the number of connections each second
 * with -v. The same three calls fit libevent (event_new, evtimer) and any other loop.
 */
#include <toe/easy.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>
#include <uv.h>

struct server {
    struct toec_easy *easy;
    int tap;
    uv_poll_t readable;
    uv_timer_t due, each_second;
};

/* ---- the callbacks of toe/easy.h ---- */

static int send_frame(void *user, const toec_u8 *frame, toec_u32 len)
{
    const struct server *s = user;

    return write(s->tap, frame, len) < 0 && errno == EAGAIN ? -1 : 0;
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

/* ---- the loop ---- */

static void on_due(uv_timer_t *t);

/* Polls core/, and sets the timer to its next deadline. */
static void work(struct server *s)
{
    uint64_t now = uv_hrtime(), next = toec_easy_poll(s->easy, now);

    if (next == TOEC_NEVER)
        uv_timer_stop(&s->due);
    else /* round up: libuv counts milliseconds from the start of this loop iteration */
        uv_timer_start(&s->due, on_due, next > now ? (next - now + 999999) / 1000000 : 0, 0);
}

static void on_due(uv_timer_t *t)
{
    uv_update_time(t->loop);
    work(t->data);
}

static void on_readable(uv_poll_t *p, int status, int events)
{
    struct server *s = p->data;
    uint8_t frame[2048];
    ssize_t n;
    int i;

    (void)events;
    for (i = 0; i < 64 && (n = read(s->tap, frame, sizeof(frame))) > 0; i++)
        toec_easy_input(s->easy, frame, (toec_u32)n, 0, uv_hrtime());
    if (status < 0) { /* the device is gone */
        fprintf(stderr, "the device: %s\n", uv_strerror(status));
        exit(1);
    }
    uv_update_time(p->loop);
    work(s);
}

static void on_second(uv_timer_t *t)
{
    const struct server *s = t->data;
    struct toec_usage u;

    toec_usage(toec_easy_stack(s->easy), &u);
    printf("%u connections\n", u.flows);
    fflush(stdout);
}

/* ---- start ---- */

static int open_tap(const char *name)
{
    struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);

    if (snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name) >= (int)sizeof(ifr.ifr_name)) {
        errno = ENAMETOOLONG;
        fd = -1;
    }
    if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr) < 0) {
        perror(name);
        exit(1);
    }
    return fd;
}

int main(int argc, char **argv)
{
    struct server s = {0};
    struct toec_easy_config cfg = {
        .core = {.mac = {2}, .user = &s, .max_flows = 256}, .send = send_frame, .event = on_event};
    int port = argc > 3 ? atoi(argv[3]) : 7;
    unsigned long size;
    char more;

    if (argc < 3 || sscanf(argv[2], "%*[0-9.]/%2hhu%c", &cfg.core.prefix_len, &more) != 1 ||
        inet_pton(AF_INET, strtok(argv[2], "/"), cfg.core.ip) != 1) {
        fprintf(stderr, "usage: %s TAP ADDRESS/LENGTH [PORT [-v]]\n", argv[0]);
        return 2;
    }
    cfg.core.ip6 = TOEC_IP6_AUTO; /* link-local and SLAAC addresses */
    s.tap = open_tap(argv[1]);
    if (getrandom(cfg.core.secret, sizeof(cfg.core.secret), 0) < 0 ||
        getrandom(cfg.core.mac + 1, 5, 0) < 0)
        return 1;
    size = toec_easy_size(&cfg);
    s.easy = toec_easy_init(aligned_alloc(64, size), size, &cfg, uv_hrtime());
    if (!s.easy || port > 65535 || toec_easy_listen(s.easy, NULL, (toec_u16)port, NULL, NULL)) {
        fprintf(stderr, "%s: the address or the port cannot be used\n", argv[0]);
        return 1;
    }
    s.readable.data = s.due.data = s.each_second.data = &s;
    uv_poll_init(uv_default_loop(), &s.readable, s.tap);
    uv_timer_init(uv_default_loop(), &s.due);
    uv_poll_start(&s.readable, UV_READABLE, on_readable);
    uv_timer_init(uv_default_loop(), &s.each_second);
    if (argc > 4 && !strcmp(argv[4], "-v"))
        uv_timer_start(&s.each_second, on_second, 1000, 1000);
    work(&s);
    printf("listening; %lu KiB for stack and buffers\n", size >> 10);
    fflush(stdout);
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
