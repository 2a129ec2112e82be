"""The program ``barkeep``."""

import signal
import sys

from . import _barkeep


def main() -> int:
    """Runs the program on the command line's arguments."""
    # The program watches for Ctrl-C itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _barkeep.program(["barkeep", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
