"""A program that ends while a model computes."""

import subprocess
import sys

_PROGRAM = """
import threading
from polymnia.errors import NoModel
from polymnia.inference.built_in import EnglishEmbedder

model, begun = EnglishEmbedder(), threading.Event()
model.load()

def compute():
    try:
        while True:
            model.embed(["The harbour master and his cranes in Lisbon. " * 20] * 4)
            begun.set()
    except NoModel:
        pass

threading.Thread(target=compute, daemon=True).start()
begun.wait()
slow_to_free = [str(number) * 20 for number in range(1_000_000)]
"""


def test_a_program_that_ends_while_a_model_computes_is_not_aborted() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
