"""Grades files of rows {"id", "gold", "response"} with Math-Verify: mathverify.py FOLDER FILE.jsonl.gz ...

Writes FOLDER/FILE.jsonl with {"id", "verdict", "seconds"}, seconds of CPU. The gold is given as a formula, as its
documentation asks for.
"""

import gzip
import json
import pathlib
import sys
import time

from math_verify import parse, verify


def main(folder, *files):
    out = pathlib.Path(folder)
    partial = out.with_suffix(".partial")
    partial.mkdir(parents=True, exist_ok=True)
    for name in files:
        with gzip.open(name, "rt") as rows, open(partial / pathlib.Path(name).stem, "w") as to:
            for line in rows:
                row = json.loads(line)
                start = time.process_time()
                gold = parse("$" + row["gold"] + "$")
                right = verify(gold, parse(row["response"]))
                seconds = time.process_time() - start
                verdict = "equal" if right else "different"
                print(json.dumps({"id": row["id"], "verdict": verdict, "seconds": seconds}), file=to)
    partial.rename(out)


main(*sys.argv[1:])
