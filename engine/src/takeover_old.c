/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover_old.c - the toed that runs gives all it has to a new one (takeover.h). Until the word
 * YOURS has gone out nothing is undone: what was stopped goes on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach.h"
#include "kernel.h"
#include "log.h"
#include "setup.h"
#include "takeover_talk.h"

#define ANSWER_TIME (5 * NS_PER_S) /* to compare options */

static int no(const struct client *cl, const char *why)
{
    log_msg("pid %d does not take over: %s", cl->pid, why);
    return 0;
}

/* What stands in the way; NULL: nothing. */
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

static void stop(struct control *c)
{
    uint32_t i;

    for (i = 0; i < c->engine_count; i++)
        engine_join(c->engines[i]);
    polling_join(c->polling);
}

static int open_again(struct control *c, int heir)
{
    char err[256] = "no descriptors";
    uint32_t i;

    for (i = 0; i < c->engine_count; i++) {
        struct engine *e = c->engines[i];
        struct netio *n = NULL;

        if (!e->netio &&
            setup_netio(c->options, c->netio_seed, i, i ? -1 : heir, &n, err, sizeof(err)) >= 0)
            n = NULL;
        if (!e->netio && (!n || engine_set_netio(e, n) != 0)) {
            log_msg("the interface cannot be had back: %s", err);
            return -1;
        }
    }
    if (c->kernel)
        ports_say(c->kernel->shared.ports);
    if (netio_settle(c->engines[0]->netio, err, sizeof(err)) != 0)
        log_msg("%s", err); /* its own program is there still, or is looked after (tend.c) */
    return 0;
}

/* Everything runs again, as before. */
static int go(struct control *c, int heir)
{
    uint32_t i;

    if (open_again(c, heir) != 0)
        return -1;
    if (c->polling &&
        polling_start(c->polling, c->options->manager_pinned, c->options->manager_cpu) != 0) {
        log_msg("cannot start the thread of the polling manager again");
        return -1;
    }
    for (i = 0; i < c->engine_count; i++) {
        atomic_store(&c->engines[i]->quit, 0);
        if (engine_start(c->engines[i]) != 0) {
            log_msg("cannot start the thread of engine %u again", i);
            return -1;
        }
    }
    return 0;
}

/* ---- writing it down ---- */

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
    toec_image_end(&o);
    for (i = 0; i < c->client_count; i++)
        if (&c->clients[i] != asker)
            save_client(&o, t, &c->clients[i]);
    if (c->kernel)
        ports_save(c->kernel->shared.ports, &o, t);
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

/* ---- the talk ---- */

/* Options are shown; it says GO, or why not. */
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

/* Sends it all, and waits until the other has it. */
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
    stop(c);
    heir = netio_heir(c->engines[0]->netio);
    if (heir >= 0)
        heir = dup(heir);
    if (hand_over(c, cl, heir)) {
        log_msg("pid %d has taken over", cl->pid);
        return 1;
    }
    if (go(c, heir) != 0) { /* nothing can be served any more */
        log_msg("ending: what was stopped for pid %d cannot go on", cl->pid);
        _exit(EXIT_RUNTIME);
    }
    (void)talk_send(cl->fd, "BACK", 4, NULL, 0);
    log_msg("serving on");
    return 0;
}
