"""From the start of a process to its first sentence vector, in npbert and in transformers, turn by turn.

    python benchmarks/first_vector.py FOLDER [--rounds N]

Each round starts a fresh process for each side. Shown are medians of the wall-clock time from before the process starts
until it ends, and of its peak memory, and the ratios of npbert's to transformers'.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

SENTENCE = "A plane is taking off."
SIDES = {
    "npbert": """
from npbert.inference import Embed
print(*Embed.from_pretrained(FOLDER)(SENTENCE)[:5])
""",
    "transformers": """
import torch
from transformers import AutoModel, AutoTokenizer
tokenizer, model = AutoTokenizer.from_pretrained(FOLDER), AutoModel.from_pretrained(FOLDER).eval()
with torch.no_grad():
    print(*model(**tokenizer(SENTENCE, return_tensors="pt")).last_hidden_state.mean(dim=1)[0, :5].tolist())
""",
}


def measure(side: str, folder: str) -> tuple[float, float, list[float]]:
    """Seconds, peak memory in MiB, and the first numbers of the vector."""
    code = f"FOLDER, SENTENCE = {folder!r}, {SENTENCE!r}\n{SIDES[side]}"
    code += "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    start = time.perf_counter()
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    vector, peak = process.stdout.splitlines()[-2:]
    return seconds, int(peak) / 1024, [float(number) for number in vector.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="a checkpoint of a BertModel")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    results: dict[str, list[tuple[float, float, list[float]]]] = {side: [] for side in SIDES}
    for side in SIDES:
        measure(side, args.folder)  # the disk's cache is warm for both
    for _ in range(args.rounds):
        for side in SIDES:
            results[side].append(measure(side, args.folder))

    medians = {
        side: (statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs))
        for side, runs in results.items()
    }
    for side, (seconds, peak) in medians.items():
        print(f"{side:<14}{seconds:>8.2f} s{peak:>9.0f} MiB   {results[side][0][2]}")
    ratios = [ours / theirs for ours, theirs in zip(medians["npbert"], medians["transformers"], strict=True)]
    print(f"{'ratio':<14}{ratios[0]:>8.3f}{ratios[1]:>11.3f}")


if __name__ == "__main__":
    main()
