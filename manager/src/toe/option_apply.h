/* SPDX-License-Identifier: Apache-2.0 */
/* option_apply.h - sends all options that were set before there was a flow or a listener
 * (option_apply.c). Lock held. */
#ifndef LIBTOE_OPTION_APPLY_H
#define LIBTOE_OPTION_APPLY_H

#include "tsock.h"

/* Sends OPTION for each value of s->opts that is not the default. At establishment. */
TOE_HIDDEN void tsock_apply_options(struct tsock *s);
/* The same after CONNECT, with the options that precede the SYN, and for an accepted connection. */
TOE_HIDDEN void tconnect_options(struct tsock *s);
/* Sends an option of the path: of a flow, or of a listener's flows. */
TOE_HIDDEN void tpath_option(struct tsock *s, uint16_t option, uint32_t value);
/* Send the value that packets of s's family have. A listener sends that of its flows. */
TOE_HIDDEN void tpath_send_tos(struct tsock *s);
TOE_HIDDEN void tpath_send_discover(struct tsock *s);
/* Sends the options of the path that were set: of a flow before its SYN, or of a listener's flows.
 */
TOE_HIDDEN void tpath_apply(struct tsock *s);

#endif
