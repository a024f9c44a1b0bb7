/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - reports what was measured. */
#ifndef LOAD_RESULT_H
#define LOAD_RESULT_H

#include "state.h"

/* Prints the result, and writes the log of --hdr. Returns an exit code. */
int result_report(const struct run *run, const struct tally *t, double seconds);
/* Checks before the measurement that the log of --hdr can be written. Returns -1 after a message.
 */
int result_check_log(const struct load_options *o);

#endif
