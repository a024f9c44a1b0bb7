/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - the rows of `toehold top` as text, on a terminal and in a batch. */
#ifndef TOE_CLI_TOP_VIEW_H
#define TOE_CLI_TOP_VIEW_H

#include <stdio.h>

#include "model.h"

#define VIEW_ROW 256

/* Each writes one row. */
void view_title(const struct top_look *l, const char *path, char row[VIEW_ROW]);
void view_engine_head(char row[VIEW_ROW]);
void view_engine(const struct top_engine *e, char row[VIEW_ROW]);
void view_drop(const struct top_drop *d, char row[VIEW_ROW]);
/* by: the column that flows are sorted by is marked. */
void view_flow_head(enum top_sort by, char row[VIEW_ROW]);
void view_flow(const struct top_flow *f, char row[VIEW_ROW]);
/* Writes the details of a flow and its last events, of which `trace` is the answer of the TOE
 * (NULL: none), as lines. */
void view_details(FILE *f, const struct top_flow *flow, const json_t *trace);
/* Writes the last events of a flow that has ended. */
void view_ended(FILE *f, const json_t *trace);

#endif
