/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover_old.c - the side of the running toed, which hands its state over to a new one
 * (takeover_talk.h). Until it has sent YOURS, everything that was stopped can be resumed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/takeover_image.h"
#include "kernel.h"
#include "process.h"
#include "round/engine.h"
#include "setup.h"
#include "takeover_old.h"
#include "takeover_save.h"
#include "takeover_talk.h"

#define ANSWER_TIME (5 * NS_PER_S) /* for the comparison of options */
#define LET_GO_TIME (2 * NS_PER_S) /* for the other's end after BACK */

static int no(const struct client *cl, const char *why)
{
    log_warning("pid %d does not take over: %s", cl->pid, why);
    return 0;
}

/* Returns the reason for a refusal; NULL: none. */
static const char *objection(const struct control *c, const struct client *cl)
{
    const char *netif = c->options->netif;

    if (cl->uid != 0 && cl->uid != geteuid())
        return "only root, or the user of the running toed, may take over";
    if (strstr(netif, "dpdk:") || strstr(netif, "pcap:"))
        return "packets of dpdk and pcap cannot be handed over: end the running toed first";
    return NULL;
}

/* ---- stop and go ---- */

/* Polls until an event or the end of the time. Returns 0 on timeout. */
static int await(struct pollfd *p, nfds_t count, uint64_t time)
{
    uint64_t until = engine_clock() + time, now;
    int n;

    do {
        now = engine_clock();
        n = poll(p, count, now < until ? (int)((until - now) / NS_PER_MS) + 1 : 0);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* Sends BACK, and waits until the other toed has ended or closed the connection, or kills it. Only
 * then has it closed all that it opened, and cannot replace our XDP program by its own. */
static void end_other(const struct client *cl)
{
    struct pollfd p[] = {{cl->pidfd, POLLIN, 0}, {cl->fd, 0, 0}}; /* the connection: only its end */

    (void)talk_send(cl->fd, "BACK", 4, NULL, 0);
    if (await(p, 2, LET_GO_TIME) != 0)
        return;
    log_warning("pid %d does not let go: it is killed", cl->pid);
    if (syscall(SYS_pidfd_send_signal, cl->pidfd, SIGKILL, NULL, 0) != 0)
        log_error("pid %d cannot be killed: %s", cl->pid, strerror(errno));
    else
        (void)await(p, 1, LET_GO_TIME);
}

static int open_queue(struct control *c, uint32_t i, int heir, char *err, size_t err_size)
{
    struct netio *n = NULL;

    if (c->engines[i]->netio)
        return 0;
    if (setup_netio(c->options, c->netio_seed, i, i ? -1 : heir, NULL, &n, err, err_size) >= 0)
        return -1;
    if (engine_set_netio(c->engines[i], n) == 0)
        return 0;
    snprintf(err, err_size, "%s", strerror(errno));
    (void)engine_set_netio(c->engines[i], NULL);
    return -1;
}

/* Reopens the interface. Retries, since a process's resources are freed some time after its end. */
static int open_again(struct control *c, int heir)
{
    const struct timespec shortly = {0, 5 * (long)NS_PER_MS};
    uint64_t until = engine_clock() + LET_GO_TIME;
    char err[256] = "no descriptors";
    uint32_t i;

    for (i = 0; i < c->engine_count; i++)
        while (open_queue(c, i, heir, err, sizeof(err)) != 0) {
            if (engine_clock() >= until) {
                log_error("the interface cannot be had back: %s", err);
                return -1;
            }
            nanosleep(&shortly, NULL);
        }
    if (c->kernel)
        kernel_announce_ports(c->kernel);
    if (netio_settle(c->engines[0]->netio, err, sizeof(err)) != 0)
        log_warning("%s", err); /* our XDP program is still there, or interface_watch.c acts */
    return 0;
}

/* Resumes everything as before. */
static int go(struct control *c, int heir)
{
    if (open_again(c, heir) != 0)
        return -1;
    if (attach_listen(c) != 0)
        log_warning("the socket keeps the name of the other: %s", strerror(errno));
    control_resume(c);
    return 0;
}

/* ---- saving the state ---- */

static void save_client(struct toec_image_out *o, struct takeover *t, const struct client *cl)
{
    toec_image_begin(o, TREC_CLIENT);
    toec_image_int(o, TTAG_PID, (uint64_t)cl->pid);
    toec_image_int(o, TTAG_UID, cl->uid);
    toec_image_int(o, TTAG_DEADLINE, cl->deadline);
    toec_image_int(o, TTAG_QP, cl->qp ? (uint64_t)cl->qp->id + 1 : 0);
    toec_image_int(o, TTAG_ENGINE, cl->engine ? cl->engine->cfg.id : 0);
    toec_image_int(o, TTAG_FD, takeover_fd(t, cl->fd));
    toec_image_int(o, TTAG_PIDFD, takeover_fd(t, cl->pidfd));
    toec_image_end(o);
}

static int save_process(const struct control *c, const struct client *asker, int heir,
                        struct takeover *t)
{
    struct toec_image_out o;
    uint32_t i;

    takeover_section(t, SECTION_PROCESS, 0);
    toec_image_start(&o, takeover_put, t);
    toec_image_begin(&o, TREC_HEAD);
    toec_image_int(&o, TTAG_VERSION, TAKEOVER_VERSION);
    toec_image_int(&o, TTAG_ENGINES, c->engine_count);
    toec_image_int(&o, TTAG_NEXT_QP, c->next_qp);
    toec_image_int(&o, TTAG_STARTED, c->started);
    toec_image_int(&o, TTAG_LISTEN_FD, takeover_fd(t, c->listen_fd));
    toec_image_int(&o, TTAG_LOCK_FD, takeover_fd(t, c->lock_fd));
    toec_image_int(&o, TTAG_HEIR_FD, takeover_fd(t, heir));
    toec_image_int(&o, TTAG_ADDRESS_FD, takeover_fd(t, c->addresses.fd[0]));
    toec_image_int(&o, TTAG_ADDRESS6_FD, takeover_fd(t, c->addresses.fd[1]));
    toec_image_end(&o);
    for (i = 0; i < c->client_count; i++)
        if (&c->clients[i] != asker && !c->clients[i].captures) /* a capture ends with us */
            save_client(&o, t, &c->clients[i]);
    if (c->kernel)
        kernel_save_ports(c->kernel, &o, t);
    takeover_section_end(t);
    return t->failed || o.failed ? -1 : 0;
}

static int save(const struct control *c, const struct client *asker, int heir, struct takeover *t)
{
    uint32_t i;
    int rc = save_process(c, asker, heir, t);

    for (i = 0; i < c->engine_count && rc == 0; i++)
        rc = takeover_save_engine(c->engines[i], t);
    return rc;
}

/* ---- the protocol ---- */

/* Sends the options and receives the answer: GO, or the reason of a refusal. */
static int agree(const struct control *c, const struct client *cl)
{
    char text[TALK_TEXT];
    ssize_t n;

    talk_options(c->options, text, sizeof(text));
    if (talk_send(cl->fd, text, strlen(text), NULL, 0) != 0)
        return no(cl, "it does not listen");
    n = talk_receive(cl->fd, text, sizeof(text) - 1, NULL, NULL, engine_clock() + ANSWER_TIME);
    if (talk_is(text, n, "GO"))
        return 1;
    if (n <= 0)
        return no(cl, "it has gone");
    text[n] = 0;
    return no(cl, text);
}

/* Sends the image, and waits until the other toed has restored it. */
static int hand_over(struct control *c, const struct client *cl, int heir)
{
    struct takeover t = {0};
    char word[256] = "";
    ssize_t n = -1;
    int rc = save(c, cl, heir, &t);
    uint32_t i;

    for (i = 0; i < c->engine_count && rc == 0; i++)
        (void)engine_set_netio(c->engines[i], NULL);
    if (rc == 0)
        rc = talk_send_image(cl->fd, &t);
    if (rc == 0)
        n = talk_receive(cl->fd, word, sizeof(word) - 1, NULL, NULL,
                         engine_clock() + TAKEOVER_TIME);
    takeover_free(&t, 0);
    if (talk_is(word, n, "DONE"))
        return talk_send(cl->fd, "YOURS", 5, NULL, 0) == 0;
    if (rc != 0)
        return no(cl, "what there is could not be written down and sent");
    return no(cl, n > 0 ? word : n == 0 ? "it has gone" : "it takes too long");
}

int takeover_give(struct control *c, struct client *cl)
{
    const char *why = objection(c, cl);
    int heir;

    if (attach_answer_take_over(c, cl, why) != 0 || why)
        return 0;
    if (!agree(c, cl))
        return 0;
    control_pause(c);
    heir = netio_heir(c->engines[0]->netio);
    if (heir >= 0)
        heir = dup(heir);
    if (hand_over(c, cl, heir)) {
        log_msg("pid %d has taken over", cl->pid);
        return 1;
    }
    end_other(cl);
    if (go(c, heir) != 0) { /* toed cannot continue */
        log_error("ending: the engines that paused for pid %d do not resume", cl->pid);
        _exit(EXIT_RUNTIME);
    }
    log_msg("serving on");
    return 0;
}
