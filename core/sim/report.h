/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - samples of a run, and its result. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "net.h"

/* Appends a sample of every flow and of the queue. */
void report_sample(struct net *n);
/* Write the result. Return -1 after a message. */
int report_json(const struct net *n, const char *path, int argc, char **argv);
int report_csv(const struct net *n, const char *path);

#endif
