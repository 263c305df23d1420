"""Ctrl-C at all points where CPython handles signals.

These are after calls, at the start of functions and at the end of each loop iteration.
"""

import dis
import sys

HANDLED_AFTER = ("CALL", "RESUME", "JUMP_BACKWARD")


class Interrupt:
    """Context manager that raises KeyboardInterrupt at the ``number``-th such point.

    Only code of files in ``folder`` counts.

    Attributes:
        raised: True once the exception was raised.
    """

    def __init__(self, number, folder):
        self.left, self.folder, self.raised = number, str(folder), False

    def __enter__(self):
        sys.settrace(self._called)
        return self

    def __exit__(self, *exc):
        sys.settrace(None)

    def _called(self, frame, event, arg):
        if not frame.f_code.co_filename.startswith(self.folder):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        latest = ""

        def follow(frame, event, arg):
            nonlocal latest
            if event == "opcode":
                self.left -= latest.startswith(HANDLED_AFTER)
                if self.left == 0 and not self.raised:
                    self.raised = True
                    raise KeyboardInterrupt
                latest = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            return follow

        return follow
