# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds of fuzz_fault: the rules of the tables and manual pages, and pieces of rules."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    texts = ['ibv_reg_mr:error=EIO:when=3+2:p=0.5:count=3:per=process:until=5ms:after=fw*2',
             'fw[host=a,pid=1,comm=c,dev=d,cmd=NOP]:status=0x10,syndrome=3:until=ibv_create_qp[host=x]*3:when=2..9']
    for name in ('src/fault/rows.c', 'src/fault/test_parse.c'):
        with open(os.path.join(TOP, name), encoding='ascii') as f:
            texts += re.findall(r'"([^"\\]*[:=][^"\\]*)"', f.read())
    os.makedirs(sys.argv[1], exist_ok=True)
    for i, text in enumerate(sorted(set(texts))):
        with open(os.path.join(sys.argv[1], f'{i:03}'), 'w', encoding='ascii') as f:
            f.write(text)


main()
