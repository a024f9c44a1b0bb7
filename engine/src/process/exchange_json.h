/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_json.h - times of a flow's exchanges for TOEDEV_HELLO_TRACE, "time ID" and "done ID". */
#ifndef ENGINE_EXCHANGE_JSON_H
#define ENGINE_EXCHANGE_JSON_H

#include <jansson.h>
#include <stdint.h>

struct control;

/* Begins to time the flow of a ring, or continues, and returns what was measured so far:
 * {first, times: [NAME...], exchanges: [[NS... BYTES_IN BYTES_OUT]...], ended}; {unknown}, {gone}
 * when the flow has ended and was not timed, {busy: ID} while another flow is. NULL: no memory. */
json_t *exchange_json(struct control *c, uint32_t engine, uint32_t ring, uint32_t serial);
/* Ends that timing before its lease does: the reader has all it wants. Returns {}. */
json_t *exchange_done_json(struct control *c, uint32_t engine, uint32_t ring, uint32_t serial);

#endif
