/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - restricts scripts to the features of the stack under test: core/ supports all that gen.c
 * generates. Another stack behind the same functions (gateware/sim/toe_prop.cpp) has another
 * script_fit(). */
#include "prop.h"

void script_fit(struct script *s)
{
    (void)s;
}
