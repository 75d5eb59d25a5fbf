"""Where npbert meets the machine and people: files, messages and errors, libraries that may be missing, launchers."""
