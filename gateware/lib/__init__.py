# SPDX-License-Identifier: Apache-2.0
"""The implementation of the commands of scripts/gateware."""
