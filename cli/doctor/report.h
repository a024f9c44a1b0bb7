/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what `toehold doctor` has found: findings in order, each with the command that cures
 * it. */
#ifndef TOE_CLI_DOCTOR_REPORT_H
#define TOE_CLI_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stddef.h>

enum severity { FOUND_OK, FOUND_NOTE, FOUND_WARNING, FOUND_ERROR };

struct report;

/* Returns an empty report; NULL: no memory. */
struct report *report_new(void);
void report_free(struct report *r);

/* Adds a finding. id: "AREA.NAME", which scripts may rely on. Control characters of the text are
 * replaced: names of processes and files are their owners' choice. */
void report_add(struct report *r, enum severity severity, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sets the command that cures the last finding, for the caller's shell. A command with a control
 * character, which the reader could not see, is left out. */
void report_cure(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets what to do about the last finding where no single command does it. */
void report_advice(struct report *r, const char *text);

/* Returns the worst severity. */
enum severity report_worst(const struct report *r);

/* Print on standard output. worse_than_note: leaves out findings up to notes. */
void report_print(const struct report *r, bool worse_than_note);
void report_print_json(const struct report *r, const char *version);

#endif
