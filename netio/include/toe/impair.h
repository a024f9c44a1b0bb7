/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impair.h - the impairing wire: impair(OPTIONS):SPEC puts a bad network in front of a back end.
 *
 *   loss=P          P percent of the frames are lost (0 to 100, "0.5" and "0.5%" alike)
 *   burst=P/R       Gilbert-Elliott: before each frame the good state turns bad with P percent, the
 *                   bad state good with R percent; in the bad state every frame is lost
 *   delay=T         each frame is delayed by T (a number with ns, us, ms or s)
 *   jitter=T        and by up to T more, evenly distributed; the order is kept
 *   reorder=P       P percent are held back until gap=N later frames (default 3) have passed them,
 *                   at most hold=T (default 10ms)
 *   duplicate=P     P percent are delivered twice
 *   corrupt=P       P percent get bits=N random bits flipped (default 1: an Internet checksum
 *                   detects every single flip in what it covers, but not every pair of flips)
 *   rate=N          bit/s of the line (k, M, G: 10^3, 10^6, 10^9)
 *   queue=N         frames that may wait for the line (default 1000); others are dropped
 *   memory=N        most frames held in each direction for any reason (default 4096)
 *   seed=N          seed of the random numbers (decimal or 0x...); default: netio_config.seed
 *   dir=both|rx|tx  which direction is impaired (default both, each with its own random numbers)
 *
 * A frame passes, in this order: burst, loss, corruption, duplication, line and its queue, delay,
 * reordering. The result depends only on the seed, the frames and the times passed in. For
 * different impairments in each direction nest it:
 * impair(dir=rx,loss=5):impair(dir=tx,delay=10ms):tap:toe0.
 *
 * The mode text of netio_get_info() names the seed in use. Frames lost on purpose are counted only
 * here; netio_stats.rx_dropped and tx_dropped count what overflowed queue or memory.
 */
#ifndef TOE_IMPAIR_H
#define TOE_IMPAIR_H

#include "toe/netio.h"

struct netio_impair_stats {
    uint64_t seen;
    uint64_t lost;       /* by loss= and burst= */
    uint64_t overflowed; /* no room in queue or memory */
    uint64_t corrupted;
    uint64_t duplicated;
    uint64_t reordered; /* held back */
    uint64_t passed;    /* delivered, copies included */
};

/* Gets the counters of the outermost impairing wire of n. Returns 0, or -1 when n is not an
 * impairing wire. Call it only from the thread that uses n. */
int netio_impair_get_stats(const struct netio *n, struct netio_impair_stats *rx,
                           struct netio_impair_stats *tx);

#endif
