#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libdevx as it is installed: what it exports, what it needs, its manual pages, its pkg-config file."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('SOFTHCA_BUILD', os.path.join(TOP, 'build')))
SOFTHCA = os.path.join(BUILD, 'softhca')
LIB = os.path.join(BUILD, 'src', 'devx', 'libdevx.so.1')
ARCHIVE = os.path.join(BUILD, 'src', 'devx', 'libdevx.a')
OF_VFIO = {'mlx5dv_devx_alloc_msi_vector', 'mlx5dv_devx_free_msi_vector', 'mlx5dv_devx_create_eq',
           'mlx5dv_devx_destroy_eq'}
# Of rdma-core after 44, see doc/SUPPORT.md, section 12.
LATER = {'mlx5dv_devx_uar_export_dmabuf_fd', *(f'mlx5dv_devx_{what}_{how}' for what in ('obj', 'umem')
                                               for how in ('export', 'import', 'unimport'))}


def sh(*cmd, **kw):
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace',
                          check=True, **kw).stdout


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def exported():
    names = re.findall(r' T (\w+)(\S*)$', sh('nm', '-D', '--defined-only', LIB), re.M)
    return {name for name, version in names if version == '@@LIBDEVX_1.0'}


def declared(header):
    text = re.sub(r'/\*.*?\*/|static inline.*?^}', '', read(header), flags=re.S | re.M)
    return set(re.findall(r'\b(\w+)\([^()]*\);', text))


class Library(unittest.TestCase):
    def test_it_has_every_devx_call(self):
        header = declared('/usr/include/infiniband/mlx5dv.h')
        want = {n for n in header if n.startswith('mlx5dv_devx_')} - OF_VFIO - LATER
        self.assertGreaterEqual(len(want), 30)
        want |= {'mlx5dv_open_device', 'mlx5dv_is_supported'}
        want |= declared(os.path.join(TOP, 'include', 'libdevx.h'))
        self.assertEqual(exported(), want)

    def test_it_needs_libc_only(self):
        needed = re.findall(r'NEEDED.*\[(.*)\]', sh('readelf', '-d', LIB))
        self.assertEqual([n for n in needed if not re.match(r'libc\.so|lib\w*san\.', n)], [])

    def test_the_archive_exports_nothing(self):
        for line in sh('readelf', '-sW', ARCHIVE).splitlines():
            f = line.split()
            if len(f) == 8 and f[3] == 'FUNC' and f[4] == 'GLOBAL' and f[6] != 'UND':
                self.assertEqual(f[5], 'HIDDEN', f[7])

    def test_every_call_has_a_manual_page(self):
        pages = {p: read(p) for p in glob.glob(os.path.join(TOP, 'doc', 'man', 'devx_*.3'))}
        text = '\n'.join(pages.values())
        self.assertEqual(set(re.findall(r'^\.Fn (\w+) ".*"$', text, re.M)), exported())
        self.assertEqual(set(re.findall(r'^\.Nm (\w+)', text, re.M)), exported())
        see = read(os.path.join(TOP, 'doc', 'man', 'libdevx.7'))
        installed = read(os.path.join(TOP, 'doc', 'meson.build'))
        for p in pages:
            name = os.path.basename(p)
            self.assertIn(f'.Xr {name[:-2]} 3', see)
            self.assertIn(f"'man/{name}'", installed)

    def prm_builds(self, place, flags):
        code = os.path.join(place, 'prm.c')
        with open(code, 'w', encoding='utf-8') as f:
            f.write('#include <softhca/prm.h>\nint main(void) { return PRM_OP_CREATE_CQ != 0x400; }\n')
        exe = os.path.join(place, 'prm')
        sh('gcc', code, '-o', exe, *flags)
        sh(exe)

    def test_a_program_builds_from_the_build_directory(self):
        """With each NAME-uninstalled.pc, which pkg-config prefers where it finds it."""
        place = os.path.join(BUILD, 'meson-uninstalled')
        env = dict(os.environ, PKG_CONFIG_PATH=place)
        known = {'libdevx-uninstalled.pc', 'softhca-prm-uninstalled.pc'}
        self.assertEqual({os.path.basename(f) for f in glob.glob(place + '/*.pc')}, known)
        with tempfile.TemporaryDirectory() as root:
            self.prm_builds(root, sh('pkg-config', '--cflags', '--libs', 'softhca-prm', env=env).split())
            if 'san.' in sh('ldd', LIB):
                self.skipTest('a sanitized library')
            flags = sh('pkg-config', '--cflags', '--libs', 'libdevx', env=env).split()
            exe = os.path.join(root, 'shared')
            sh('gcc', os.path.join(TOP, 'examples', 'devx_send.c'), '-o', exe, *flags,
               '-Wl,-rpath,' + os.path.dirname(LIB))
            self.assertIn('bytes received', sh(SOFTHCA, 'run', '--', exe))

    def test_a_program_builds_from_what_is_installed(self):
        if 'san.' in sh('ldd', LIB):
            self.skipTest('a sanitized library')
        with tempfile.TemporaryDirectory() as root:
            sh('meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', root)
            found = {os.path.basename(f): f for f in
                     glob.glob(root + '/**', recursive=True) if os.path.isfile(f)}
            for f in ('libdevx.h', 'libdevx.so', 'libdevx.so.1', 'libdevx.a', 'libdevx.pc',
                      'devx_device.h', 'devx_send.c', 'prm.h'):
                self.assertIn(f, found)
            env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(found['libdevx.pc']),
                       PKG_CONFIG_SYSROOT_DIR=root)
            flags = sh('pkg-config', '--cflags', '--libs', 'libdevx', env=env).split()
            libdir = os.path.dirname(found['libdevx.so'])
            for name, link in (('shared', flags + ['-Wl,-rpath,' + libdir]),
                               ('static', [f for f in flags if f != '-ldevx'] +
                                [found['libdevx.a']])):
                exe = os.path.join(root, name)
                sh('gcc', found['devx_send.c'], '-o', exe, *link)
                libs = sh('ldd', exe)
                self.assertNotRegex(libs, 'ibverbs|mlx5|libnl')
                self.assertEqual('libdevx' in libs, name == 'shared')
                self.assertIn('bytes received', sh(SOFTHCA, 'run', '--', exe))
            prm = sh('pkg-config', '--cflags', '--libs', 'softhca-prm', env=env).split()
            self.prm_builds(root, prm)
            exe = os.path.join(root, 'stock')
            sh('gcc', found['devx_send.c'], '-o', exe, '-lmlx5', '-libverbs')
            self.assertNotIn('libdevx', sh('ldd', exe))
            self.assertIn('bytes received', sh(SOFTHCA, 'run', '--', exe))


if __name__ == '__main__':
    unittest.main()
