# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The constants of verbs: in rdma-core 59 and newer pyverbs has them in classes, and no module enums."""
try:
    from pyverbs.enums import *  # noqa: F401,F403
except ImportError:
    import pyverbs.libibverbs_enums as scoped
    for scope in list(vars(scoped).values()):
        globals().update(getattr(scope, '__members__', {}))
