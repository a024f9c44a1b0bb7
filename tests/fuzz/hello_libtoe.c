/* SPDX-License-Identifier: Apache-2.0 */
/* hello_libtoe.c - target `hello`: libtoe receives the reply from toed's socket. */
#include "../../manager/src/toe/attach.c" /* NOLINT(bugprone-suspicious-include) */

#include "hello.h"

void hello_to_libtoe(int fd)
{
    struct tqp *qp = calloc(1, sizeof(*qp));
    struct toedev_welcome w = {0};
    struct twelcome out = {0};
    char err[256] = "";

    FUZZ_CHECK(qp);
    qp->doorbell_fd = qp->irq_fd = qp->mem_fd = -1;
    qp->ctl_fd = tfd_internal(dup(fd));
    if (take_welcome(qp, &w, err, sizeof(err)) == 0) {
        FUZZ_CHECK(qp->doorbell_fd >= 0);
        note_welcome(&w, &out);
        FUZZ_CHECK(out.engines >= 1 && out.engines <= TOE_MAX_ENGINES);
    } else {
        FUZZ_CHECK(err[0] && memchr(err, 0, sizeof(err)));
    }
    tqp_forget(qp);
}
