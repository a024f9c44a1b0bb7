/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide.h - the verdict of `toehold tune`: a pure function of samples. A difference counts only if
 * the samples of both settings do not overlap, and the medians differ by TUNE_LEAST.
 */
#ifndef TOE_CLI_TUNE_DECIDE_H
#define TOE_CLI_TUNE_DECIDE_H

#include <stdbool.h>
#include <stddef.h>

enum tune_metric {
    TUNE_THROUGHPUT, /* more is better; of all others less is */
    TUNE_CPU,        /* seconds of all cores per unit of work */
    TUNE_P50,        /* nanoseconds */
    TUNE_P99,
    TUNE_METRICS
};

/* The least samples of a setting for a verdict. By chance alone, those of two equal settings do not
 * overlap in one of 126 comparisons of five samples each. */
#define TUNE_ROUNDS 5
/* From this many samples on, the lowest and the highest are left out of the spread. */
#define TUNE_TRIM 9
/* The least difference of medians that counts. */
#define TUNE_LEAST 0.02
/* Saved CPU counts as a gain from this load of the busiest core on (SEEDS S3.4: offload when the
 * CPU is busy). */
#define TUNE_BUSY 0.8
/* A spread of the base above this, relative to its median, hides what tune looks for. */
#define TUNE_NOISY 0.25

/* One run. A metric that was not measured is NAN. */
struct tune_sample {
    double metric[TUNE_METRICS];
    double busiest; /* load of the busiest core, 0 to 1 */
};

struct tune_series {
    const struct tune_sample *samples;
    size_t count;
    bool failed; /* a run failed: the setting cannot be recommended */
};

struct tune_spread {
    double median, low, high; /* NAN: not measured in each sample */
};

enum tune_outcome { TUNE_UNKNOWN, TUNE_SAME, TUNE_GAIN, TUNE_LOSS };

enum tune_goal { TUNE_BALANCED, TUNE_GOAL_THROUGHPUT, TUNE_GOAL_LATENCY, TUNE_GOAL_CPU };

enum tune_verdict {
    TUNE_WITHIN,  /* no difference beyond the spread */
    TUNE_BETTER,  /* the goal gains; without a goal: something gains, and nothing loses */
    TUNE_WORSE,   /* something loses, and nothing gains */
    TUNE_TRADE,   /* gains and losses, or gains that are not the goal */
    TUNE_FAILED,  /* a run failed */
    TUNE_TOO_FEW, /* fewer than TUNE_ROUNDS samples */
    TUNE_IDLE     /* saves CPU, of which there is enough */
};

struct tune_judgement {
    struct tune_spread spread[TUNE_METRICS];
    enum tune_outcome outcome[TUNE_METRICS];
    enum tune_verdict verdict;
    double score; /* of TUNE_BETTER: the sum of logarithms of the gains that count */
};

/* What to do about all settings. */
enum tune_conclusion {
    TUNE_LEAVE,     /* nothing is better than what is set */
    TUNE_USE,       /* the best setting */
    TUNE_NO_VERDICT /* the samples of the base vary too much */
};

/* Returns median and spread of a metric. */
struct tune_spread tune_spread_of(const struct tune_series *s, enum tune_metric m);

/* Compares a setting with the base. */
struct tune_judgement tune_judge(const struct tune_series *base, const struct tune_series *setting,
                                 enum tune_goal goal);

/* Concludes from the judgements of all settings. *best is the index of the best, if it is TUNE_USE.
 * A base that varies gives no verdict only where some setting is within its spread. */
enum tune_conclusion tune_conclude(const struct tune_series *base,
                                   const struct tune_judgement *settings, size_t count,
                                   enum tune_goal goal, size_t *best);

#endif
