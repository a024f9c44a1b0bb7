/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_text.h - segment text and FIN (RFC 9293 3.10.7.4, seventh and eighth). Text is placed
 * directly at its stream offset, in order or not. Also decides when to acknowledge it (RFC 9293
 * 3.8.6.3, RFC 5681 4.2).
 */
#ifndef TOEC_TCP_TEXT_H
#define TOEC_TCP_TEXT_H

#include "tcb.h"

void toec_text(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g, toec_time now);

#endif
