"""`python -m tests.fuzz --cases 20000`: a table of the kinds of cases and how they ended, and every bad one."""

import argparse
import sys
import time
from collections import Counter

from tests.fuzz.outcome import GOOD
from tests.fuzz.run import KINDS, run_case, run_cases


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, metavar="N", help="how many (1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another seed, other cases (0)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; may be given several times")
    parser.add_argument("--number", type=int, metavar="I", help="only the case of this number, of one kind")
    args = parser.parse_args()
    if args.number is not None:
        print(run_case(args.kind[0], args.seed, args.number))
        return 0

    start, bad = time.perf_counter(), 0
    print(f"{'kind':<18}{'cases':>7}{'accepted':>10}{'refused':>9}   {'bad':<40}")
    for kind, results in run_cases(args.cases, args.seed, args.kind):
        counts = Counter(outcome.what for _, outcome in results)
        rest = ", ".join(f"{what} {count}" for what, count in counts.items() if what not in GOOD) or "0"
        print(f"{kind:<18}{len(results):>7}{counts['accepted']:>10}{counts['refused']:>9}   {rest}", flush=True)
        for number, outcome in results:
            if not outcome.is_good:
                bad += 1
                print(f"--- {kind} {number}: {outcome.what}: {outcome.said[-1500:]}", file=sys.stderr)
    print(f"\n{bad} bad, in {time.perf_counter() - start:.0f} s; one of them again: --kind K --seed S --number I")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
