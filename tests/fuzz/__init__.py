"""Fuzzers: wrong files, texts, settings and arguments, made by the thousand from a seed.

Whatever is wrong, npbert must end in one clear line: no traceback, no hang, no memory beyond 1 GiB, no nonsense taken
for sense. A share of the cases runs with the tests; `FUZZ_CASES=20000 FUZZ_SEED=1 pytest --thorough tests/fuzz` runs as
many as you like.
"""
