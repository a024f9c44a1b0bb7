/* SPDX-License-Identifier: Apache-2.0 */
/* inline.h - a TOE in this process (<toe/inline.h>; inline.c). Lock held. */
#ifndef LIBTOE_INLINE_H
#define LIBTOE_INLINE_H

#include "attach.h"
#include "config.h"

struct toe_cmd;
struct tqp;

/* Nonzero in a call of the TOE: its own system calls bypass libtoe. */
extern TOE_HIDDEN __thread int tinline_inside;

/* Reads the TOE's options and fills tctx from them. 0, or -1 with a sentence in err. */
TOE_HIDDEN int tinline_know(const struct tconfig *cfg, char *err, size_t err_size);
/* As tqp_attach(). */
TOE_HIDDEN struct tqp *tinline_attach(const struct tconfig *cfg, struct twelcome *w, char *err,
                                      size_t err_size);
TOE_HIDDEN void tinline_close(struct tqp *qp);
TOE_HIDDEN void tinline_forget(struct tqp *qp);
TOE_HIDDEN void tinline_command(struct tqp *qp, const struct toe_cmd *c);
/* Has the TOE send the pending frames, unless the caller is likely to add more at once. */
TOE_HIDDEN void tinline_sent(struct tqp *qp);
TOE_HIDDEN uint32_t tinline_run(struct tqp *qp);
/* Returns the pause between two polls of a loop that finds nothing, in nanoseconds. */
TOE_HIDDEN uint32_t tinline_rest(const struct tqp *qp);
/* Lets the TOE send n bytes of the slot's stream, from offset `off` on, from memory at data. False:
 * they must be copied. */
TOE_HIDDEN bool tinline_refer(struct tqp *qp, uint32_t slot, uint32_t off, const uint8_t *data,
                              uint32_t n);
/* Copies such memory where needed: the TOE no longer reads it when this returns. */
TOE_HIDDEN void tinline_settle(struct tqp *qp, uint32_t slot);
/* Returns the size of the send buffer in use, bytes; more: after requesting a larger one. */
TOE_HIDDEN uint32_t tinline_room(struct tqp *qp, uint32_t slot, bool more);
/* Announces that commands for these slots, TOEDEV_EXPECT_MAX at most, will follow soon. */
TOE_HIDDEN void tinline_expect(struct tqp *qp, const uint32_t *slots, unsigned n);
/* The implementation of frames.h for a framed socket. */
TOE_HIDDEN uint8_t *tinline_where(struct tqp *qp, uint32_t slot, uint32_t off, uint32_t *n);
TOE_HIDDEN bool tinline_read_to(struct tqp *qp, uint32_t slot, uint32_t off);
TOE_HIDDEN void tinline_gather(struct tqp *qp, uint32_t slot, uint32_t off);
TOE_HIDDEN void tinline_refresh(const struct tqp *qp, uint32_t slot);
/* Runs rounds before a sleep until nothing is pending and an arrival will wake the thread. Returns
 * the number of notifications. */
TOE_HIDDEN uint32_t tinline_prepare(struct tqp *qp);
/* Returns the time at which the sleep must end: the earlier of `deadline` and the TOE's. */
TOE_HIDDEN uint64_t tinline_cap(struct tqp *qp, uint64_t deadline);
/* Wakes a sleeper whose deadline is too late after what the lock's holder did. */
TOE_HIDDEN void tinline_hurry(void);
/* Returns the IPv6 settings of the options, while no engine is open. */
TOE_HIDDEN bool tinline_ip6(struct toedev_ip6 *out);

#endif
