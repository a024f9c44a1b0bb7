/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_tables.c - see takeover_tables.h. Tags increase in each table and never change. */
#include "takeover_tables.h"
#include "hosts/qp.h"

#define N(tag, type, member) TOEC_FIELD(tag, TOEC_FIELD_INT, type, member, offsetof(type, member))
#define B(tag, type, member) TOEC_FIELD(tag, TOEC_FIELD_BYTES, type, member, offsetof(type, member))
#define TABLE(rows)                                                                                \
    {                                                                                              \
        rows, sizeof(rows) / sizeof((rows)[0])                                                     \
    }

_Static_assert(OWNER_KIN == 8, "a row for each");
static const struct toec_field qp_rows[] = {
    N(1, struct qp, id),
    N(2, struct qp, pid),
    N(3, struct qp, uid),
    B(4, struct qp, name),
    N(5, struct qp, cfg.sw_entries),
    N(6, struct qp, cfg.hw_entries),
    N(7, struct qp, cfg.slots),
    N(8, struct qp, cfg.tx_size),
    N(9, struct qp, cfg.rx_size),
    N(10, struct qp, cfg.addresses),
    N(11, struct qp, sw.tail),
    N(12, struct qp, hw.head),
    N(13, struct qp, hw.tail),
    N(14, struct qp, hw_published),
    N(15, struct qp, fresh),
    N(16, struct qp, opening_salt),
    N(17, struct qp, ip6_seq),
    N(18, struct qp, outlet.irq.fired),
    N(19, struct qp, outlet.irq.broken),
    N(20, struct qp, outlet.irq.waiting),
    N(21, struct qp, outlet.irq.deadline),
    N(22, struct qp, halted),
    N(23, struct qp, dropped),
    N(24, struct qp, leaving),
    N(25, struct qp, paced),
    N(26, struct qp, full),
    N(27, struct qp, abort_next),
    N(28, struct qp, abort_all),
    N(29, struct qp, orphan_deadline),
    N(30, struct qp, pace.due),
    N(31, struct qp, sw_commands),
    N(32, struct qp, hw_commands),
    N(33, struct qp, errors),
    N(34, struct qp, owner.self.pid),
    N(35, struct qp, owner.self.born),
    N(36, struct qp, owner.parent[0].pid),
    N(37, struct qp, owner.parent[0].born),
    N(38, struct qp, owner.parent[1].pid),
    N(39, struct qp, owner.parent[1].born),
    N(40, struct qp, owner.parent[2].pid),
    N(41, struct qp, owner.parent[2].born),
    N(42, struct qp, owner.parent[3].pid),
    N(43, struct qp, owner.parent[3].born),
    N(44, struct qp, owner.parent[4].pid),
    N(45, struct qp, owner.parent[4].born),
    N(46, struct qp, owner.parent[5].pid),
    N(47, struct qp, owner.parent[5].born),
    N(48, struct qp, owner.parent[6].pid),
    N(49, struct qp, owner.parent[6].born),
    N(50, struct qp, owner.parent[7].pid),
    N(51, struct qp, owner.parent[7].born),
    N(52, struct qp, last_due),
};
const struct takeover_table takeover_t_qp = TABLE(qp_rows);

static const struct toec_field slot_rows[] = {
    N(1, struct saved_slot, index),       N(2, struct saved_slot, state),
    N(3, struct saved_slot, pending),     N(4, struct saved_slot, flags),
    N(5, struct saved_slot, reason),      N(6, struct saved_slot, soft_error),
    N(7, struct saved_slot, cookie),      N(8, struct saved_slot, tx_used),
    N(9, struct saved_slot, una),         N(10, struct saved_slot, rx_reported),
    N(11, struct saved_slot, pend_data),  N(12, struct saved_slot, pend_acked),
    N(13, struct saved_slot, urgent_at),  N(14, struct saved_slot, generation),
    N(15, struct saved_slot, record_seq), N(16, struct saved_slot, member),
    N(17, struct saved_slot, port),
};
const struct takeover_table takeover_t_slot = TABLE(slot_rows);

static const struct toec_field group_rows[] = {
    B(1, struct saved_group, addr),
    N(2, struct saved_group, v6only),
    N(3, struct saved_group, port),
    N(4, struct saved_group, core_id),
};
const struct takeover_table takeover_t_group = TABLE(group_rows);

static const struct toec_field member_rows[] = {
    N(1, struct saved_member, qp),
    N(2, struct saved_member, id),
    N(3, struct saved_member, backlog),
    N(4, struct saved_member, weak),
};
const struct takeover_table takeover_t_member = TABLE(member_rows);
