/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - a measurement: starts the threads and merges their results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "common.h"
#include "result.h"
#include "worker.h"

static void *in_thread(void *arg)
{
    worker_run(arg);
    return NULL;
}

/* The first worker runs in the calling thread: an inline TOE has one thread less to serve. */
static void run_all(struct worker *workers, uint32_t n)
{
    uint32_t i;

    for (i = 1; i < n; i++) {
        int error = pthread_create(&workers[i].thread, NULL, in_thread, &workers[i]);

        if (error) { /* the others wait for it at a barrier */
            load_message("cannot start thread %u: %s", i, strerror(error));
            exit(LOAD_FAILURE);
        }
    }
    worker_run(&workers[0]);
    for (i = 1; i < n; i++)
        pthread_join(workers[i].thread, NULL);
}

static int sum_up(const struct run *run, struct worker *workers)
{
    const struct load_options *o = run->o;
    struct tally sum;
    uint64_t ended = 0, record = workers[0].t_record;
    uint32_t i;
    int rc = tally_init(&sum);

    for (i = 0; rc == 0 && i < o->threads; i++) {
        rc = tally_add(&sum, &workers[i].tally);
        ended = workers[i].ended > ended ? workers[i].ended : ended;
    }
    if (rc != 0) {
        load_message("no memory for the result");
        rc = LOAD_FAILURE;
    } else {
        double seconds = ended > record ? (double)(ended - record) / 1e9 : 0;

        rc = result_report(run, &sum, seconds);
    }
    tally_free(&sum);
    return rc;
}

int load_client(const struct load_options *o)
{
    struct worker *workers = calloc(o->threads, sizeof *workers);
    struct run run = {.o = o, .alive = o->connections};
    uint32_t i, made = 0;
    int rc = workers && result_check_log(o) == 0 ? 0 : LOAD_FAILURE;

    for (; rc == 0 && made < o->threads; made++)
        rc = worker_init(&workers[made], &run, made) ? LOAD_FAILURE : 0;
    if (rc == 0) {
        pthread_barrier_init(&run.ready, NULL, o->threads);
        run_all(workers, o->threads);
        rc = run.failed ? LOAD_FAILURE : sum_up(&run, workers);
        pthread_barrier_destroy(&run.ready);
    }
    for (i = 0; i < made; i++)
        worker_free(&workers[i]);
    free(workers);
    return rc;
}
