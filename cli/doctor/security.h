/* SPDX-License-Identifier: Apache-2.0 */
/* security.h - reports security modules, whose denials look like failures of Toehold. */
#ifndef TOE_CLI_DOCTOR_SECURITY_H
#define TOE_CLI_DOCTOR_SECURITY_H

#include "facts.h"

/* Adds security.selinux, security.apparmor and security.yama. */
void check_security(struct facts *f);

#endif
