# SPDX-License-Identifier: Apache-2.0
"""What tests and benches share: namespaces, processes, toed. Python standard library only."""
