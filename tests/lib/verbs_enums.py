# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The constants of verbs and mlx5: in some releases of pyverbs the modules have them, in others classes in these."""
import importlib

for name in ('enums', 'libibverbs_enums', 'providers.mlx5.mlx5_enums'):
    try:
        module = importlib.import_module('pyverbs.' + name)
    except ImportError:  # enums is in rdma-core 58 and older, libibverbs_enums in 56 and newer
        continue
    for key, value in vars(module).items():
        if not key.startswith('_'):
            globals().update(getattr(value, '__members__', {key: value}))
