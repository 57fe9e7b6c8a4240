#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The plugin's tests, from the source; exit status 77 where pytest is not installed."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

if __name__ == '__main__':
    try:
        import pytest  # noqa: F401
    except ImportError:
        sys.exit(77)
    build = os.environ.get('SOFTHCA_BUILD', os.path.join(HERE, '..', '..', 'build'))
    env = dict(os.environ, SOFTHCA=os.path.join(os.path.abspath(build), 'softhca'), PYTHONPATH=os.path.dirname(HERE),
               PYTHONDONTWRITEBYTECODE='1', PYTEST_DISABLE_PLUGIN_AUTOLOAD='1')
    sys.exit(subprocess.run([sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '-p', 'pytester', '-v',
                             HERE], env=env).returncode)
