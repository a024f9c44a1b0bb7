/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - checks of toed: whether it answers, and what earlier ones have left behind. */
#ifndef TOE_CLI_DOCTOR_SERVICE_H
#define TOE_CLI_DOCTOR_SERVICE_H

#include "facts.h"

/* Adds toed.state, toed.namespace, toed.halted and toed.left_behind. */
void check_service(struct facts *f);

#endif
