/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - reports on standard error what a slow command is at, every two seconds. */
#ifndef TOE_CLI_DOCTOR_PROGRESS_H
#define TOE_CLI_DOCTOR_PROGRESS_H

/* Starts and ends the reports. */
void progress_start(void);
void progress_end(void);

/* Names the step that begins: number `at` of `all`. `what` stays the caller's. */
void progress_step(const char *what, unsigned at, unsigned all);

#endif
