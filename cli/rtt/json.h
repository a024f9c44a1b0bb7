/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - a result as JSON. */
#ifndef TOE_CLI_JSON_H
#define TOE_CLI_JSON_H

#include "measure.h"

/* Prints the result to standard output. */
void json_result(const struct rtt *r);

#endif
