"""Attacks on the proof: wrong backwards that must not pass, right ones that must, and what may be left behind."""
