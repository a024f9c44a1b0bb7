/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_runs.c - the full record of transmissions: which runs are merged, what merged runs still
 * record, which runs stay separate. The RTT is 100 ms.
 */
#include "tcptalk.h"

#include "cc/tcp_record.h"
#include "tcp/tcp.h"
#include "tcp/tcp_runs.h"

#define STEP 1000u /* bytes per run */

/* Fills the flow's record with n runs of STEP bytes, sent a millisecond apart; runs with an odd
 * index get the marks `odd`, the others `even`. The flow wants rate samples, as in its first slow
 * start. */
static struct toec_tcb *fill(struct talk *t, unsigned n, unsigned even, unsigned odd,
                             struct toec_news *news)
{
    struct toec_tcb *f;
    unsigned i;

    talk_init(t);
    t->s.host[0].tx_buf = 1 << 17;
    talk_flight(t, 1, 10);
    craft_pass(&t->s, 100 * MSEC);
    f = t->c->flow;
    memset(news, 0, sizeof(*news));
    news->now = t->s.now;
    news->stamp = toec_stamp(t->s.now);
    f->snd_max = f->snd_nxt = f->snd_una + n * STEP;
    f->cc.sampling = 1;
    assert_non_null(toec_record_borrow(t->s.host[0].stack, f));
    memset(f->rack.run, 0, TOEC_RUNS * sizeof(*f->rack.run));
    f->rack.n = (toec_u8)n;
    f->rack.sacked = f->rack.lost = 0;
    for (i = 0; i < n; i++) {
        struct toec_run *r = &f->rack.run[i];

        r->end = f->snd_una + (i + 1) * STEP;
        r->sent = news->stamp - 50000 - (n - i) * 1000;
        r->marks = i % 2 ? odd : even;
        f->rack.sacked += r->marks & TOEC_RUN_SACKED ? STEP : 0;
        f->rack.lost += r->marks & TOEC_RUN_LOST ? STEP : 0;
    }
    assert_true(f->cc.sampling);
    return f;
}

static void sacked(struct talk *t, struct toec_tcb *f, uint32_t from, uint32_t to,
                   struct toec_news *news)
{
    toec_runs_sacked(t->s.host[0].stack, f, f->snd_una + from, f->snd_una + to, news);
}

/* Asserts that the runs cover what is outstanding, and that the counters match the marks. */
static void assert_sound(const struct toec_tcb *f)
{
    toec_u32 at = f->snd_una, n_sacked = 0, n_lost = 0;
    unsigned i;

    assert_in_range(f->rack.n, 1, TOEC_RUNS);
    for (i = 0; i < f->rack.n; i++) {
        const struct toec_run *r = &f->rack.run[i];

        assert_true(TOEC_SEQ_GT(r->end, at));
        n_sacked += r->marks & TOEC_RUN_SACKED ? r->end - at : 0;
        n_lost += r->marks & TOEC_RUN_LOST ? r->end - at : 0;
        at = r->end;
    }
    assert_int_equal(at, f->snd_max);
    assert_int_equal(n_sacked, f->rack.sacked);
    assert_int_equal(n_lost, f->rack.lost);
}

/* While the record has room, a SACK within a run gives the RTT of that run. */
static void test_one_run_gives_its_rtt(void **state)
{
    struct toec_news news;
    struct talk t;
    struct toec_tcb *f = fill(&t, TOEC_RUNS - 2, 0, 0, &news);
    toec_u32 sent = f->rack.run[20].sent;

    (void)state;
    sacked(&t, f, 20 * STEP + 100, 20 * STEP + 200, &news);
    assert_int_equal(f->rack.n, TOEC_RUNS);
    assert_int_equal(news.timed, 1);
    assert_int_equal(news.run_rtt, news.stamp - sent);
    assert_sound(f);
    talk_end(&t);
}

/* A full record merges runs, each spanning at most an eighth of the SRTT. A merged run has the time
 * of its last one, and any of them may have been delivered: no RTT sample. */
static void test_merged_runs_give_no_rtt(void **state)
{
    struct toec_news news;
    struct talk t;
    struct toec_tcb *f = fill(&t, TOEC_RUNS, 0, 0, &news);
    toec_u32 first = f->rack.run[0].sent, sent;
    unsigned i;

    (void)state;
    sacked(&t, f, 20 * STEP + 100, 20 * STEP + 200, &news);
    assert_int_equal(news.compacted, 1);
    assert_in_range(f->rack.n, TOEC_RUNS / 12, TOEC_RUNS / 4);
    assert_int_equal(news.timed, 1);
    assert_int_equal(news.sacked, 100);
    assert_int_equal(news.run_rtt, 0);
    assert_sound(f);
    /* a run's time is never earlier than its data was sent, and not much later */
    for (i = 0; i < f->rack.n; i++) {
        const struct toec_run *r = &f->rack.run[i];

        sent = first + ((r->end - f->snd_una + STEP - 1) / STEP - 1) * 1000;
        assert_in_range(r->sent - sent, 0, 13000);
    }
    talk_end(&t);
}

/* A run that was not merged still gives an RTT sample. */
static void test_unmerged_runs_still_do(void **state)
{
    struct toec_news news;
    struct talk t;
    struct toec_tcb *f = fill(&t, TOEC_RUNS, 0, 0, &news);
    toec_u32 sent;

    (void)state;
    f->rack.run[20].marks = TOEC_RUN_LOST; /* its neighbours have other marks */
    f->rack.lost = STEP;
    sent = f->rack.run[20].sent;
    sacked(&t, f, 20 * STEP + 100, 20 * STEP + 200, &news);
    assert_int_equal(news.compacted, 1);
    assert_int_equal(news.run_rtt, news.stamp - sent);
    assert_int_equal(f->rack.lost, STEP - 100);
    assert_sound(f);
    talk_end(&t);
}

/* No two neighbours have the same marks: nothing is merged, and the SACK is dropped. */
static void test_nothing_alike(void **state)
{
    struct toec_run before[TOEC_RUNS];
    struct toec_news news;
    struct talk t;
    struct toec_tcb *f = fill(&t, TOEC_RUNS, 0, TOEC_RUN_LOST, &news);

    (void)state;
    memcpy(before, f->rack.run, sizeof(before));
    sacked(&t, f, 20 * STEP + 100, 20 * STEP + 200, &news);
    assert_int_equal(f->rack.n, TOEC_RUNS);
    assert_memory_equal(before, f->rack.run, sizeof(before));
    assert_int_equal(talk_count(&t, TOEC_C_tcp_scoreboard_full), 1);
    assert_int_equal(news.sacked, 0);
    assert_sound(f);
    talk_end(&t);
}

/* ... the newest run absorbs new data, and has its time. The older data in it, when delivered,
 * gives no RTT sample and does not pass for the new data: nothing sent since is lost. */
static void test_absorbed_data_is_older(void **state)
{
    struct toec_news news;
    struct talk t;
    struct toec_tcb *f = fill(&t, TOEC_RUNS, TOEC_RUN_SACKED, TOEC_RUN_LOST, &news);
    struct toec_stack *stack = t.s.host[0].stack;
    toec_u32 xmit = toec_episode_get(stack, f, t.s.now)->xmit_ts;

    (void)state;
    toec_runs_sent(stack, f, f->snd_max + STEP, t.s.now);
    f->snd_max += STEP;
    assert_int_equal(talk_count(&t, TOEC_C_tcp_scoreboard_full), 1);
    assert_int_equal(f->rack.n, TOEC_RUNS);
    news.stamp += 10000; /* a tenth of the RTT later */
    news.now += 10 * MSEC;
    sacked(&t, f, (TOEC_RUNS - 1) * STEP, (TOEC_RUNS + 1) * STEP, &news);
    assert_int_equal(news.delivered, 2 * STEP);
    assert_int_equal(news.run_rtt, 0);
    assert_int_equal(f->rack.episode->xmit_ts, xmit);
    assert_sound(f);
    talk_end(&t);
}

/* A SACK that needs no additional run is recorded in a full record too, without merging. */
static void test_whole_runs_need_no_room(void **state)
{
    struct toec_news news;
    struct talk t;
    struct toec_tcb *f = fill(&t, TOEC_RUNS, 0, TOEC_RUN_LOST, &news);

    (void)state;
    sacked(&t, f, 20 * STEP, 23 * STEP, &news);
    assert_int_equal(news.compacted, 0);
    assert_int_equal(f->rack.n, TOEC_RUNS - 2);
    assert_int_equal(f->rack.sacked, 3 * STEP);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_scoreboard_full), 0);
    assert_sound(f);
    /* and so is a whole run that is retransmitted */
    toec_runs_resent(t.s.host[0].stack, f, f->snd_una + STEP, f->snd_una + 2 * STEP, news.now);
    assert_int_equal(f->rack.n, TOEC_RUNS - 2);
    assert_int_equal(f->rack.run[1].marks, TOEC_RUN_RTX);
    assert_sound(f);
    talk_end(&t);
}

/* Merging may free one run where two are wanted: enough for a block at the edge of a run. */
static void test_one_run_of_room(void **state)
{
    struct toec_news news;
    struct talk t;
    struct toec_tcb *f = fill(&t, TOEC_RUNS, 0, TOEC_RUN_LOST, &news);

    (void)state;
    f->rack.run[0].marks = TOEC_RUN_LOST; /* the same as run 1 */
    f->rack.lost += STEP;
    sacked(&t, f, 20 * STEP, 20 * STEP + 100, &news);
    assert_int_equal(news.compacted, 1);
    assert_int_equal(f->rack.sacked, 100);
    assert_int_equal(f->rack.n, TOEC_RUNS);
    assert_sound(f);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_run_gives_its_rtt),
        cmocka_unit_test(test_merged_runs_give_no_rtt),
        cmocka_unit_test(test_unmerged_runs_still_do),
        cmocka_unit_test(test_nothing_alike),
        cmocka_unit_test(test_absorbed_data_is_older),
        cmocka_unit_test(test_whole_runs_need_no_room),
        cmocka_unit_test(test_one_run_of_room),
    };

    return cmocka_run_group_tests_name("tcp_runs", tests, 0, 0);
}
