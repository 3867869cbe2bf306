"""Writes forged files for `check`: python3 -I forgeries.py FOLDER [SEED]

Each is one of the example files, changed so that its text seems to claim something else, or so that Rocq prints its theorem in other words. `check` refuses all of them by
their form. Those in FOLDER/compiled are also compiled, past that refusal: of these either nothing is said, or what the example proves.
"""

import random
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GROUPS = "(* Group: num den move copies, then step left width reach. LaplaceGroup: num den move copies, then step norm reach. *)"
FALSE = "Theorem of the State level,\n  1e-11 0.1 0.2.\n"


def once(text, old, new):
    """With one change, which must be one."""
    if old not in text:
        raise SystemExit(f"forgeries.py: the example has no {old!r}")
    return text.replace(old, new, 1)


def example(name):
    return (HERE / f"{name}.v").read_text(encoding="ascii")


def before_theorem(name, lines):
    return once(example(name), "Theorem ", f"{lines}\nTheorem ")


def known():
    """The forgeries by which `check` was once deceived: a comment in place of the theorem, quotients in place of whole numbers."""
    state = example("State")
    yield "Comment", once(state, GROUPS, f"(* Group: num den move copies, then step left width reach.\n{FALSE}*)")
    point = example("TradeoffPoint")
    yield "CommentPoint", once(point, GROUPS, "(* Group: num den.\nTheorem of the State level,\n  0.05 0.99 0.991.\n*)")
    for name, shift in (("Quotient", "(5 / 5)"), ("QuotientOne", "(1 / 1)")):
        yield name, once(state, "(Count (50000 / 10001) 1)", f"(Count (50000 / 10001) {shift})")
    yield "QuotientCopies", once(example("Boxes"), "(1 / 10000000)) 10", "(1 / 10000000)) (10 / 1)")
    yield "QuotientTwo", once(example("TwoCounts"), "1130346459) 1) 1", "1130346459) (9 / 9)) 1")
    yield "Box", once(example("Boxes"), "repeat (Box (1 / 2) (1 / 10000000)) 10", "repeat (Box (1 / 2) (1 / 10000000)) (20 / 2)")


def compiled():
    """Other meanings of the theorem's words, of which Rocq has to know nothing when it is asked."""
    one = "repeat (Count (50000 / 10001) 1) 1"
    for name, text in known():
        if name in ("Comment", "Quotient"):
            yield name, text
    trivial = re.sub(r"Proof\. exact \(delta_is_between above.*\n$", "Proof. cbv; auto. Qed.\n", example("OneCount"))
    yield "Shadowed", once(
        trivial, "Theorem ", "Definition delta (_ : list count) (_ : R) : Prop := True.\nNotation \"a < x <= b\" := x (at level 70, x at next level).\nTheorem "
    )
    yield "Module", before_theorem("OneCount", "Module HockeyStick. Definition delta := HockeyStick.delta. End HockeyStick. Import HockeyStick.")
    yield "Notation", once(
        before_theorem("OneCount", 'Notation "\'repeat\' \'ten\'" := (repeat (Count (50000 / 10001) 1) 1) (at level 0).'), f"({one})\n", "(repeat ten)\n"
    )
    hidden = before_theorem("OneCount", "Section Hidden.\nVariable never : False.").replace("0.00336853", "0.1").replace("0.00336852", "0.09")
    yield "Section", re.sub(r"Proof\. exact \(delta_is_between above.*\n$", "Proof. destruct never. Qed.\nEnd Hidden.\n", hidden)
    yield "Arguments", example("OneCount") + "Global Arguments HockeyStick.Count {sigma2} shift.\nGlobal Arguments HockeyStick.delta cs%list_scope eps%Z_scope.\n"
    yield "Printing", before_theorem("OneCount", "Global Set Printing Depth 3. Global Unset Printing Notations. Global Set Printing Width 9.")
    yield "Coercion", before_theorem("OneCount", "Definition of_bool (b : bool) : R := if b then 1 else 0.\n#[global] Coercion of_bool : bool >-> R.")
    yield "Import", once(example("OneCount"), "Import ListNotations.", "Import ListNotations.\nFrom Coq Require Export Lra Psatz QArith.\nExport ListNotations.")
    yield "Defined", once(before_theorem("OneCount", f"Definition counts := {one}."), f"({one})\n", "counts\n")
    yield "Negative", once(example("OneCount"), "10001) 1) 1", "10001) (- -1)) 1")


def random_change(draw, name):
    """A change of one of the examples that `check` must not take for a file of this program."""
    text = example(name)
    head, theorem = text.split("\nTheorem ")
    numbers = [match.span() for match in re.finditer(r"(?<![\w.])[0-9]+(?![\w.])", theorem)]
    first, last = draw.choice(numbers)
    number = theorem[first:last]
    arguments = [lambda: f"({number} / 1)", lambda: f"(- {number})", lambda: f"-{number}", lambda: f"({number})", lambda: f"0{number}", lambda: f"({number} + 0)",
                 lambda: f"{number}%Z", lambda: f"(let n := {number} in n)", lambda: f"(* {number} *) 1", lambda: f"(Z.abs {number})"]
    lines = ["(* Theorem\n  1 2 3. *)", 'Notation "x ++ y" := (y ++ x).', "Definition repeat := repeat.", "Section S.\nVariable x : False.", "Open Scope Z_scope.",
             "Arguments Count shift sigma2.", "Coercion IZR : Z >-> R.", "From Coq Require Import Lra.", "Definition private := smallest_epsilon.", "Module M.",
             "Set Printing All.", "Ltac exact x := idtac.", "Theorem epsilon_is_between : True.\nProof. exact I. Qed."]
    if draw.random() < 0.5:
        return f"{head}\nTheorem {theorem[:first]}{draw.choice(arguments)()}{theorem[last:]}"
    at = [match.start() for match in re.finditer("\n\n", head)]
    place = draw.choice(at)
    return f"{head[:place]}\n{draw.choice(lines)}{head[place:]}\nTheorem {theorem}"


def write(folder, seed):
    draw = random.Random(seed)
    names = [line.split(".")[0] for line in sorted(path.name for path in (HERE / "answers").glob("*.txt"))]
    (folder / "compiled").mkdir(parents=True)
    for name, text in known():
        (folder / f"Known{name}.v").write_text(text, encoding="ascii")
    for name, text in compiled():
        (folder / f"Compiled{name}.v").write_text(text, encoding="ascii")
        (folder / "compiled" / f"Forged{name}.v").write_text(text, encoding="ascii")
    for turn in range(200):
        name = names[turn % len(names)]
        (folder / f"Random{turn}{name}.v").write_text(random_change(draw, name), encoding="ascii")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    write(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else "forgeries")
