/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_tables.h - the saved form of queue pairs, slots and listeners (takeover_save.h). */
#ifndef ENGINE_TAKEOVER_TABLES_H
#define ENGINE_TAKEOVER_TABLES_H

#include <stdint.h>

#include <toe/image.h>

/* Both directions use one table for each of these. */
struct saved_slot {
    uint32_t index, state, pending, flags, reason, soft_error, cookie, tx_used, una, rx_reported,
        pend_data, pend_acked, urgent_at, generation, record_seq, member, port;
};
struct saved_member {
    uint32_t qp, id, backlog, weak;
};
struct saved_group {
    uint8_t addr[16];
    uint32_t v6only, port, core_id;
};
struct takeover_table {
    const struct toec_field *row;
    unsigned count;
};
extern const struct takeover_table takeover_t_qp, takeover_t_slot, takeover_t_group,
    takeover_t_member;

#define SAVED_FLOW       1u /* has a flow whose handle is known */
#define SAVED_CONNECTING 2u /* ... its CONNECT is unanswered */
#define SAVED_ACTIVE     4u
#define SAVED_ANNOUNCED  8u
#define SAVED_ACCEPTED   16u
#define SAVED_COUNTED    32u
#define SAVED_HALF       64u
#define SAVED_FAST       128u
#define SAVED_DOOMED     256u
#define SAVED_ABORT      512u
#define SAVED_MEMBER     1024u /* belongs to the listener `member` */
#define SAVED_CURRENT    2048u

#endif
