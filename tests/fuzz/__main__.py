"""`python -m tests.fuzz --cases 20000`: a table of the kinds of cases and how they ended, and every bad one."""

import argparse
import sys
import time
from collections import Counter

from tests.fuzz.outcome import limit
from tests.fuzz.run import KINDS, a_base, counts, run_case, run_kind


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, metavar="N", help="how many, shared out among the kinds")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another seed, other cases (0)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; may be given several times")
    parser.add_argument("--number", type=int, metavar="I", help="only the case of this number, of one kind")
    args = parser.parse_args()
    start, bad = time.perf_counter(), 0
    with a_base() as base:
        if args.number is not None:
            limit()
            print(run_case(base, args.kind[0], args.seed, args.number))
            return 0
        for kind, count in counts(args.cases, args.kind).items():
            results = run_kind(base, kind, args.seed, max(1, count))
            print(f"{kind:<18}{dict(Counter(outcome.what for outcome in results))}", flush=True)
            for number, outcome in enumerate(results):
                if not outcome.is_good:
                    bad += 1
                    print(f"--- {kind} {number}: {outcome.what}: {outcome.said[-1500:]}", file=sys.stderr)
    print(f"\n{bad} bad, in {time.perf_counter() - start:.0f} s; one of them again: --kind K --seed S --number I")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
