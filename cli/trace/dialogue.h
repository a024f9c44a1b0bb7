/* SPDX-License-Identifier: Apache-2.0 */
/* dialogue.h - a flow's events as lines of a dialogue between program, TCP and peer. */
#ifndef TOE_CLI_TRACE_DIALOGUE_H
#define TOE_CLI_TRACE_DIALOGUE_H

#include <jansson.h>
#include <stdio.h>

/* Writes whose flow it is: id, ends, process, TOE. */
void dialogue_head(FILE *f, const json_t *flow);
/* Writes one event as a sentence, without its time: "program  sends 100 bytes in 1 call". */
void dialogue_sentence(FILE *f, const json_t *event);
/* Writes one event with its time since `start` and since the event before, in seconds. */
void dialogue_event(FILE *f, const json_t *event, long long start, long long before);
/* Writes the whole answer of a TOE. */
void dialogue_write(FILE *f, const json_t *flow);

#endif
