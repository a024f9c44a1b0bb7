/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - commands of hosts. */
#ifndef ENGINE_COMMANDS_H
#define ENGINE_COMMANDS_H

#include "qp.h"

/* Takes commands from the SW ring. Returns how many. */
unsigned commands_run(struct qp *qp);

/*
 * Its host is gone and can say CLOSE no more. It had read all that it may have read without saying
 * so: libtoe does after a quarter of the buffer at the latest. Were those bytes taken for unread, a
 * RST would overtake the answer to them.
 */
void command_close_left(struct slot *s);

/* A command: 0, CROSSED or the TOE_R_* that refuses it. Its flags are checked too. */
struct command {
    uint8_t type, flags;
    uint16_t aux;
    uint32_t flow, arg0, arg1;
};
/* Not an error and nothing to do: the flow has gone while the command was on its way. */
#define CROSSED (-1)
/* Does it, counts a refusal and answers ERROR to it; position: of that answer. */
void command_run(struct qp *qp, const struct toe_cmd *raw, uint32_t position);
/* 1 when one answer can be written; 0: not now; the queue pair is halted on an impossible tail. */
int command_can_answer(struct qp *qp);

#endif
