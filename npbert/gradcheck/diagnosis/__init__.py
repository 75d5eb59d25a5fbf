"""The diagnosis: what is true of the error, in words, when a gradient is wrong.

    for finding in explain(wrong, right, name="x", sizes={"D": 7}):
        print(finding.text)  # dx is 7.000 times too large, everywhere: 7 is D, as if a sum stood where …

Nothing is guessed. Each statement is a formula for the wrong gradient that is tried on the numbers, and it is only made
when it explains all of the error but a millionth, with numbers to spare that it was not fitted to. What the numbers
cannot show, the cause, is said with "as if".
"""

from npbert.gradcheck.diagnosis.explain import explain
from npbert.gradcheck.diagnosis.finding import Finding

__all__ = ["Finding", "explain"]
