/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_new.c - the side of the new toed, which takes over from the running one
 * (takeover_talk.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/takeover_image.h"
#include "frames/engine_state.h"
#include "kernel.h"
#include "takeover_new.h"
#include "takeover_restore.h"
#include "takeover_talk.h"

__attribute__((format(printf, 4, 5))) static int fail(char *err, size_t err_size, int rc,
                                                      const char *format, ...)
{
    int n = snprintf(err, err_size, "--take-over: ");
    va_list args;

    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is above */
    vsnprintf(err + n, err_size - (size_t)n, format, args);
    va_end(args);
    return rc;
}

/* ---- request ---- */

static int reach(struct heir *h, const struct options *o, char *err, size_t err_size)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct ucred cred = {.uid = (uid_t)-1};
    socklen_t len = sizeof(cred);

    h->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (strlen(o->socket) >= sizeof(addr.sun_path))
        return fail(err, err_size, EXIT_CONFIG, "--socket %s: the path is too long", o->socket);
    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", o->socket);
    if (h->fd < 0 || connect(h->fd, (struct sockaddr *)&addr, sizeof(addr)) != 0)
        return fail(err, err_size, EXIT_CONFIG,
                    "no toed serves at %s (%s): start without --take-over, or name its --socket",
                    o->socket, strerror(errno));
    if (getsockopt(h->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0 ||
        (cred.uid != 0 && cred.uid != geteuid() && !(o->run_as && cred.uid == o->run_uid)))
        return fail(err, err_size, EXIT_CONFIG,
                    "at %s serves a process of user %u: only one of root, of the own user or of "
                    "that of --run-as may be taken over from",
                    o->socket, cred.uid);
    h->pid = cred.pid;
    return -1;
}

static int hello(struct heir *h, char *err, size_t err_size)
{
    struct toedev_hello m = {.magic = TOEDEV_MAGIC,
                             .version = TOEDEV_CONTRACT_VERSION,
                             .kind = TOEDEV_HELLO_TAKE_OVER,
                             .name = "toed " TOEHOLD_VERSION};
    struct toedev_welcome w;
    ssize_t n;

    if (talk_send(h->fd, &m, sizeof(m), NULL, 0) != 0)
        return fail(err, err_size, EXIT_CONFIG, "cannot ask the running toed: %s", strerror(errno));
    n = talk_receive(h->fd, &w, sizeof(w), NULL, NULL, engine_clock() + TAKEOVER_TIME);
    if (n != sizeof(w))
        return fail(err, err_size, EXIT_CONFIG,
                    "the running toed does not answer: it may be of a release that cannot be taken "
                    "over from");
    w.message[sizeof(w.message) - 1] = 0;
    if (w.reason)
        return fail(err, err_size, EXIT_CONFIG, "the running toed refuses: %s", w.message);
    return -1;
}

/* Finds the value of this name in lines of "name value". It extends to the end of the line; *n: its
 * length. */
static const char *value_of(const char *text, const char *name, size_t len, size_t *n)
{
    while (*text) {
        size_t end = strcspn(text, "\n");

        if (end > len && memcmp(text, name, len) == 0 && text[len] == ' ') {
            *n = end - len - 1;
            return text + len + 1;
        }
        text += end + (text[end] != 0);
    }
    *n = 0;
    return "";
}

/* Compares options: each line of ours must be one of theirs. */
static int compare(const char *ours, const char *theirs, char *err, size_t err_size)
{
    while (*ours) {
        size_t name = strcspn(ours, " "), end = strcspn(ours, "\n"), n;
        const char *is = value_of(theirs, ours, name, &n), *want = ours + name + 1;

        if (n != end - name - 1 || memcmp(is, want, n) != 0)
            return fail(err, err_size, EXIT_CONFIG,
                        "--%.*s is %.*s here and %.*s in the running toed: both must be the same",
                        (int)name, ours, (int)(end - name - 1), want, (int)n, n ? is : "");
        ours += end + (ours[end] != 0);
    }
    return -1;
}

static int agree(const struct heir *h, const struct options *o, char *err, size_t err_size)
{
    char ours[TALK_TEXT], theirs[TALK_TEXT];
    ssize_t n =
        talk_receive(h->fd, theirs, sizeof(theirs) - 1, NULL, NULL, engine_clock() + TAKEOVER_TIME);

    if (n <= 0)
        return fail(err, err_size, EXIT_CONFIG, "the running toed does not say its options");
    theirs[n] = 0;
    talk_options(o, ours, sizeof(ours));
    return compare(ours, theirs, err, err_size);
}

/* ---- receiving ---- */

static int take_head(struct heir *h, const struct options *o, struct toec_image_in *in)
{
    size_t n = 0;
    const uint8_t *p = takeover_find(&h->image, SECTION_PROCESS, 0, &n);

    if (!p)
        return -1;
    toec_image_open(in, p, n);
    if (toec_image_next(in) != 1 || in->type != TREC_HEAD ||
        toec_image_number(in, TTAG_VERSION) != TAKEOVER_VERSION ||
        toec_image_number(in, TTAG_ENGINES) != o->engines)
        return -1;
    return 0;
}

int heir_ask(struct heir *h, const struct options *o, char *err, size_t err_size)
{
    struct toec_image_in in;
    int rc = reach(h, o, err, err_size);

    if (rc < 0)
        rc = hello(h, err, err_size);
    if (rc < 0) {
        rc = agree(h, o, err, err_size);
        if (rc >= 0)
            heir_refuse(h, err);
    }
    if (rc >= 0)
        return rc;
    h->began = engine_clock();
    if (talk_send(h->fd, "GO", 2, NULL, 0) != 0 ||
        talk_receive_image(h->fd, &h->image, err, err_size) != 0)
        return EXIT_RUNTIME;
    if (take_head(h, o, &in) != 0)
        return fail(err, err_size, EXIT_RUNTIME, "what the running toed has sent is no image");
    h->listen_fd = takeover_take_fd(&h->image, toec_image_number(&in, TTAG_LISTEN_FD));
    h->lock_fd = takeover_take_fd(&h->image, toec_image_number(&in, TTAG_LOCK_FD));
    h->heir_fd = takeover_take_fd(&h->image, toec_image_number(&in, TTAG_HEIR_FD));
    /* a toed without claims sends none */
    h->addresses.fd[0] = takeover_take_fd(&h->image, toec_image_number(&in, TTAG_ADDRESS_FD));
    h->addresses.fd[1] = takeover_take_fd(&h->image, toec_image_number(&in, TTAG_ADDRESS6_FD));
    return -1;
}

static struct qp *qp_of(const struct control *c, uint32_t id)
{
    uint32_t i, j;

    for (i = 0; i < c->engine_count; i++)
        for (j = 0; j < c->engines[i]->qp_count; j++)
            if (c->engines[i]->qps[j]->id == id)
                return c->engines[i]->qps[j];
    return NULL;
}

static int restore_client(struct heir *h, struct control *c, const struct toec_image_in *in)
{
    struct client cl = {.pid = (int)toec_image_number(in, TTAG_PID),
                        .uid = (uid_t)toec_image_number(in, TTAG_UID),
                        .deadline = toec_image_number(in, TTAG_DEADLINE)};
    uint64_t qp = toec_image_number(in, TTAG_QP);

    cl.fd = takeover_take_fd(&h->image, toec_image_number(in, TTAG_FD));
    cl.pidfd = takeover_take_fd(&h->image, toec_image_number(in, TTAG_PIDFD));
    if (qp) {
        cl.qp = qp_of(c, (uint32_t)(qp - 1));
        cl.engine = cl.qp ? cl.qp->engine : NULL;
    }
    if (cl.fd < 0 || (qp && !cl.qp))
        return -1;
    return control_add_client(c, &cl);
}

/* Charges the restored queue pairs to their users. */
static int restore_accounts(struct control *c)
{
    uint32_t i, j;

    for (i = 0; i < c->engine_count; i++)
        for (j = 0; j < c->engines[i]->qp_count; j++)
            if (attach_account(c, c->engines[i]->qps[j]) != 0)
                return -1;
    return 0;
}

static int restore_process(struct heir *h, struct control *c)
{
    struct toec_image_in in;
    int got;

    if (take_head(h, c->options, &in) != 0 || restore_accounts(c) != 0)
        return -1;
    c->next_qp = (uint32_t)toec_image_number(&in, TTAG_NEXT_QP);
    c->started = toec_image_number(&in, TTAG_STARTED);
    while ((got = toec_image_next(&in)) == 1) {
        if (in.type == TREC_CLIENT && restore_client(h, c, &in) != 0)
            return -1;
        if (in.type == TREC_PORT && c->kernel &&
            kernel_restore_port(c->kernel, &in, &h->image) != 0)
            return -1;
    }
    return got;
}

void heir_refuse(const struct heir *h, const char *why)
{
    (void)talk_send(h->fd, why, strlen(why), NULL, 0);
}

int heir_restore(struct heir *h, struct control *c, char *err, size_t err_size)
{
    const char *wrong = NULL;
    uint32_t i;

    for (i = 0; i < c->engine_count && !wrong; i++)
        wrong = takeover_restore_engine(c->engines[i], &h->image, &h->tally);
    if (!wrong && restore_process(h, c) != 0)
        wrong = "who is attached cannot be taken over: the image is damaged, or there is no memory";
    if (wrong) {
        int rc = fail(err, err_size, EXIT_RUNTIME, "%s", wrong);

        heir_refuse(h, err);
        return rc;
    }
    if (c->kernel)
        kernel_resume(c->kernel);
    return -1;
}

/* Receives the other's last message; returns as talk_receive(). After the deadline no more can
 * arrive, but one that has already arrived counts, since the other toed has ended after sending
 * it. */
static ssize_t last_word(const struct heir *h, char *word, size_t room)
{
    ssize_t n = talk_receive(h->fd, word, room, NULL, NULL, engine_clock() + TAKEOVER_TIME);

    if (n >= 0)
        return n;
    (void)shutdown(h->fd, SHUT_RD);
    n = recv(h->fd, word, room, MSG_DONTWAIT);
    return n > 0 ? n : -1;
}

int heir_settle(struct heir *h, struct control *c, char *err, size_t err_size)
{
    char word[16], why[200];
    ssize_t n;

    if (netio_settle(c->engines[0]->netio, why, sizeof(why)) != 0)
        return fail(err, err_size, EXIT_RUNTIME, "%s", why);
    if (talk_send(h->fd, "DONE", 4, NULL, 0) != 0 && errno != EPIPE && errno != ECONNRESET)
        return fail(err, err_size, EXIT_RUNTIME, "the running toed does not listen any more");
    n = last_word(h, word, sizeof(word));
    if (talk_is(word, n, "BACK") || n < 0)
        return fail(err, err_size, EXIT_RUNTIME,
                    "the take-over took too long: the running toed continues to serve");
    if (n == 0)
        log_warning(
            "the running toed ended before it confirmed the end of the take-over: continuing "
            "without it");
    close(h->fd);
    h->fd = -1;
    takeover_free(&h->image, 1);
    log_msg("taken over from pid %d: %u queue pairs, %u connections, %u listeners; paused for "
            "%.1f ms",
            h->pid, h->tally.qps, h->tally.flows, h->tally.listeners,
            (double)(engine_clock() - h->began) / (double)NS_PER_MS);
    return -1;
}
