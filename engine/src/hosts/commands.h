/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - commands from hosts. */
#ifndef ENGINE_COMMANDS_H
#define ENGINE_COMMANDS_H

#include "qp.h"

/* Processes commands from the SW ring. Returns how many. */
unsigned commands_run(struct qp *qp);

/*
 * Closes a flow whose host is gone and cannot send CLOSE. Bytes that the host may have read without
 * sending RECV count as read; libtoe sends RECV after a quarter of the buffer at the latest. If
 * they counted as unread, a RST would overtake the answer to them.
 */
void command_close_left(struct slot *s);

/* A decoded command. */
struct command {
    uint8_t type, flags;
    uint16_t aux;
    uint32_t flow, arg0, arg1;
};
/* Result of a command that is ignored, not refused: the flow ended while the command was in
 * transit. */
#define CROSSED (-1)
/* Executes the command. A refusal is counted and answered by ERROR, with this position. */
void command_run(struct qp *qp, const struct toe_cmd *raw, uint32_t position);
/* Returns 1 when one answer can be written, 0 when not now. Halts the queue pair on an impossible
 * tail. */
int command_can_answer(struct qp *qp);

#endif
