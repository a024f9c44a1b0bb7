/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.c - see verdicts.h. */
#include <stdio.h>

#include "verdicts.h"

const char *tune_verdict_text(const struct tune_row *r)
{
    bool confirmed = r->stages > 1;

    switch (r->judgement.verdict) {
    case TUNE_BETTER:
        return confirmed ? "better, confirmed" : "better";
    case TUNE_WORSE:
        return "worse";
    case TUNE_TRADE:
        return "gains and loses";
    case TUNE_FAILED:
        return "failed";
    case TUNE_IDLE:
        return "saves CPU that is idle";
    case TUNE_TOO_FEW:
        return "too few samples";
    default:
        return confirmed ? "not confirmed" : "within the spread";
    }
}

const char *tune_verdict_word(enum tune_verdict v)
{
    static const char *const words[] = {
        [TUNE_WITHIN] = "within_spread", [TUNE_BETTER] = "better", [TUNE_WORSE] = "worse",
        [TUNE_TRADE] = "trade",          [TUNE_FAILED] = "failed", [TUNE_TOO_FEW] = "too_few",
        [TUNE_IDLE] = "saves_idle_cpu"};

    return words[v];
}

const char *tune_outcome_word(enum tune_outcome o)
{
    static const char *const words[] = {[TUNE_UNKNOWN] = "unknown",
                                        [TUNE_SAME] = "within_spread",
                                        [TUNE_GAIN] = "gain",
                                        [TUNE_LOSS] = "loss"};

    return words[o];
}

const char *tune_conclusion_word(const struct tune_conclusion_of *c)
{
    static const char *const words[] = {
        [TUNE_LEAVE] = "leave", [TUNE_USE] = "use", [TUNE_NO_VERDICT] = "no_verdict"};

    return c->no_work ? "no_work" : words[c->what];
}

void tune_conclusion_text(const struct tune_trial *t, const struct tune_conclusion_of *c, char *out,
                          size_t size)
{
    const struct tune_row *base = &t->rows[0];
    struct tune_spread s = base->judgement.spread[TUNE_THROUGHPUT];

    if (c->no_work)
        snprintf(out, size, "no verdict: the workload moved nothing; run it, or watch longer");
    else if (c->what == TUNE_USE)
        snprintf(out, size, "use: %s%s", t->rows[c->best].setting.name,
                 t->rows[c->best].setting.place == TUNE_KERNEL
                     ? " (the connections stay on the kernel)"
                     : "");
    else if (c->what == TUNE_LEAVE)
        snprintf(out, size, "leave it on the kernel, as it is: no setting is better");
    else
        snprintf(
            out, size,
            "no verdict: with nothing changed, the throughput of %zu rounds varies by %.0f %%; "
            "use a quieter machine or a larger --budget",
            base->count[0], s.median > 0 ? 100 * (s.high - s.low) / s.median : 0);
}
