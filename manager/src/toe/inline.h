/* SPDX-License-Identifier: Apache-2.0 */
/* inline.h - a TOE in this process (<toe/inline.h>; inline.c). Lock held. */
#ifndef LIBTOE_INLINE_H
#define LIBTOE_INLINE_H

#include "attach.h"
#include "config.h"

struct toe_cmd;
struct tqp;

/* In a call of the TOE: what it asks of the kernel is not for us. */
extern TOE_HIDDEN __thread int tinline_inside;

/* Reads the TOE's options and fills what tctx has of them. 0, or -1 with a sentence in err. */
TOE_HIDDEN int tinline_know(const struct tconfig *cfg, char *err, size_t err_size);
/* As tqp_attach(). */
TOE_HIDDEN struct tqp *tinline_attach(const struct tconfig *cfg, struct twelcome *w, char *err,
                                      size_t err_size);
TOE_HIDDEN void tinline_close(struct tqp *qp);
TOE_HIDDEN void tinline_forget(struct tqp *qp);
TOE_HIDDEN void tinline_command(struct tqp *qp, const struct toe_cmd *c);
/* What was sent leaves, unless more is to be expected at once. */
TOE_HIDDEN void tinline_sent(struct tqp *qp);
TOE_HIDDEN uint32_t tinline_run(struct tqp *qp);
/* n bytes of the slot's send stream, from offset `off` on, lie at data. False: they must be copied.
 */
TOE_HIDDEN bool tinline_refer(struct tqp *qp, uint32_t slot, uint32_t off, const uint8_t *data,
                              uint32_t n);
/* Such memory is not read any more when this returns. */
TOE_HIDDEN void tinline_settle(struct tqp *qp, uint32_t slot);
/* Bytes of the send buffer that are in use; more: after asking for more. */
TOE_HIDDEN uint32_t tinline_room(struct tqp *qp, uint32_t slot, bool more);
/* Commands for these slots, TOEDEV_EXPECT_MAX at most, will come soon. */
TOE_HIDDEN void tinline_expect(struct tqp *qp, const uint32_t *slots, unsigned n);
/* What frames.h does for a socket that is framed. */
TOE_HIDDEN uint8_t *tinline_where(struct tqp *qp, uint32_t slot, uint32_t off, uint32_t *n);
TOE_HIDDEN bool tinline_read_to(struct tqp *qp, uint32_t slot, uint32_t off);
TOE_HIDDEN void tinline_gather(struct tqp *qp, uint32_t slot, uint32_t off);
TOE_HIDDEN void tinline_refresh(const struct tqp *qp, uint32_t slot);
/* Rounds before a sleep: until nothing waits and an arrival will wake. Returns notifications. */
TOE_HIDDEN uint32_t tinline_prepare(struct tqp *qp);
/* The time at which the sleep must end: `deadline` or the TOE's. */
TOE_HIDDEN uint64_t tinline_cap(struct tqp *qp, uint64_t deadline);
/* What the lock's holder did may want a sleeper to wake earlier than it means to. */
TOE_HIDDEN void tinline_hurry(void);
/* IPv6 as the options say, while nothing is open. */
TOE_HIDDEN bool tinline_ip6(struct toedev_ip6 *out);

#endif
