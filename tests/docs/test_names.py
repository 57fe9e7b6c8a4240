# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The documents name what is there: functions and files of the source, and each other. What HOWTOs
show as examples is in their code blocks, which are not looked at."""
import glob
import os
import re
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCS = ['README.md', 'CONTRIBUTING.md', 'doc/README.md', 'doc/COMPARISON.md', 'doc/DESIGN.md', 'doc/STYLE.md',
        'doc/GLOSSARY.md', 'doc/HAZARDS.md', 'doc/HOWTO_ADD_FW_COMMAND.md', 'doc/HOWTO_ADD_METHOD.md',
        'doc/HOWTO_ADD_MAD_ATTRIBUTE.md', 'doc/HOWTO_ADD_CM_COMMAND.md', 'doc/HOWTO_ADD_POINT.md', 'doc/HOWTO_FUZZ.md',
        'doc/INTERNALS.md', 'doc/SUPPORT.md'] + sorted(
            os.path.relpath(f, TOP) for f in glob.glob(os.path.join(TOP, 'doc/internals/*.md')))
# What an example adds.
EXAMPLES = {'std_<object>', 'counters', 'std_counters', 'uv_def_counters'}
OTHERS = {  # of libibverbs, librdmacm, libc and the kernel
    'rdma_connect', 'rdma_accept', 'rdma_establish', 'rdma_get_cm_event',
    'ibv_create_qp', 'ibv_destroy_qp', 'mlx5_free_db', 'devx_is_obj_modify_cmd', 'ibv_post_send', 'ibv_req_notify_cq', 'ibv_query_device_ex',
    'ibv_query_rt_values_ex', 'ibv_import_device', 'process_vm_readv', 'process_vm_writev', 'fork', 'ioctl', 'close', 'write', 'syscall', 'freopen',
}


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8', errors='replace') as f:
        return f.read()


def prose(path):
    """Without code blocks, fenced or indented."""
    text = re.sub(r'^```.*?^```', '', read(path), flags=re.S | re.M)
    return re.sub(r'^    .*$', '', text, flags=re.M)


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.words, cls.files = set(), set()
        for folder, dirs, files in os.walk(TOP):
            rel = os.path.relpath(folder, TOP)
            dirs[:] = [d for d in dirs if not d.startswith('.') and
                       not (rel == '.' and d.startswith('build'))]
            for f in files:
                path = os.path.normpath(os.path.join(rel, f))
                cls.files.add(path)
                if path.startswith('src/') and f.endswith(('.c', '.h', '.S')):
                    cls.words |= set(re.findall(r'\w+', read(path)))

    def test_functions_are_in_the_source(self):
        for doc in DOCS:
            named = set(re.findall(r'\b([a-z]\w*_\w+|[a-z]+)\(\)', prose(doc)))
            missing = named - self.words - OTHERS - EXAMPLES
            self.assertEqual(missing, set(), doc)

    def test_files_are_there(self):
        for doc in DOCS:
            for name in re.findall(r'`([\w./-]+\.(?:c|h|S|py|md|build))`', prose(doc)):
                stem = os.path.basename(name).rsplit('.', 1)[0]
                if stem in EXAMPLES:
                    continue
                there = [f for f in self.files if f == name or f == 'src/' + name or
                         ('/' not in name and os.path.basename(f) == name)]
                outside = name.startswith(('tests/mlx5_prm', 'mlx5_ifc'))  # rdma-core's, the kernel's
                self.assertTrue(there or outside, f'{doc}: {name}')

    def test_links_lead_somewhere(self):
        for doc in DOCS:
            for to in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', read(doc)):
                path = os.path.normpath(os.path.join(os.path.dirname(doc), to))
                self.assertTrue(path in self.files, f'{doc}: {to}')

    def test_cited_documents_are_there(self):
        """Comments cite a document by its name and the number of a rule or section."""
        docs = {os.path.basename(f) for f in self.files if f.endswith('.md')}
        for path in sorted(self.files):
            if not re.match(r'(src|include|tests|bench|examples|tools)/.*\.(c|h|S|py|build|inc)$', path):
                continue
            for name, rule in re.findall(r'\b([A-Za-z_]\w*\.md)\b(?: (\d+))?', read(path)):
                self.assertIn(name, docs, path)
                if rule:
                    text = read('doc/' + name)
                    there = re.search(r'^(?:\*\*|## )?%s\. ' % rule, text, re.M)
                    self.assertTrue(there, f'{path}: {name} {rule}')

    def test_all_documents_are_installed(self):
        """else links between them lead nowhere"""
        rule = read('doc/meson.build')
        for path in self.files:
            if re.fullmatch(r'doc/(\w+/)?[\w-]+\.md', path):
                self.assertIn(f"'{os.path.relpath(path, 'doc')}'", rule)


if __name__ == '__main__':
    unittest.main()
