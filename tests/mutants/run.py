"""
Plant faults, and see the suite find each.

Each mutant is one small change of the engine or of a schema, of the kind that reducers have had. It is planted in a copy of
the project, and the suite is run there until it fails. A mutant that survives makes the exit code 1.

    python tests/mutants/run.py [--laws] [NAME...]

With --laws, a second run says which mutants the laws kill without a single example written by hand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
#: What is copied.
PARTS = ("src", "schemas", "generated", "tests", "codegen.py", "generators", "pyproject.toml", "README.md", ".ci")
#: What is run, the quickest to fail first.
SUITE = (
    "tests/test_vectors.py",
    "tests/test_cases.py",
    "tests/test_recordings.py",
    "tests/test_shortcuts.py",
    "tests/test_laws.py",
    "tests/test_mutations.py",
    "tests/test_fold.py",
)
LAWS_ONLY = ("tests/test_laws.py", "tests/test_mutations.py", "tests/test_stateful.py")


class Mutant(NamedTuple):
    """A fault: the file, what stands there, and what is put in its place."""

    file: str
    old: str
    new: str


EFFECTS, LIFECYCLE, DRAFT = "src/eventfold/effects.py", "src/eventfold/lifecycle.py", "src/eventfold/draft.py"
BASE64, INTERPRETER, SHORTCUTS = "src/eventfold/base64_text.py", "src/eventfold/interpreter.py", "src/eventfold/shortcuts.py"
INSTANCES = "src/eventfold/instances.py"
CHECK, FINDINGS = "src/eventfold/check.py", "src/eventfold/findings.py"
TABLE, RESUME, UNFOLD, SHAPE = "schemas/lifecycle.json", "src/eventfold/resume.py", "src/eventfold/unfold.py", "src/eventfold/shape.py"

MUTANTS: dict[str, Mutant] = {
    "usage overwritten instead of summed": Mutant(
        EFFECTS, "spent.get(name, 0) + (getattr(event, name) or 0)", "(getattr(event, name) or 0)"
    ),
    "cache tokens forgotten": Mutant(EFFECTS, '_USAGE = FIELDS["Usage"]', '_USAGE = FIELDS["Usage"][:2]'),
    "created_at from the clock": Mutant(
        EFFECTS,
        'wire["created_at"] = event.created_at\n        instance.draft = TextDraft',
        'wire["created_at"] = __import__("time").ctime()\n        instance.draft = TextDraft',
    ),
    "base64 joined as padded text": Mutant(
        DRAFT,
        "binascii.b2a_base64(self.data, newline=False)",
        "b''.join(binascii.b2a_base64(self.data[i:i+4], newline=False) for i in range(0, len(self.data), 4))",
    ),
    "base64 decoded leniently": Mutant(BASE64, "strict_mode=True", "strict_mode=False"),
    "trailing bits accepted": Mutant(BASE64, 'if text.endswith("=") and', 'if text.endswith("*") and'),
    "final text ignored": Mutant(EFFECTS, "    if text is not None:\n        instance.draft.replace(text)\n", ""),
    "edited input ignored": Mutant(EFFECTS, '    instance.draft.replace(call["input"])\n', ""),
    "edited name ignored": Mutant(EFFECTS, 'state="allowed", name=call["name"]', 'state="allowed"'),
    "metadata replaced instead of updated": Mutant(
        EFFECTS, 'wire.setdefault("metadata", {}).update(copy_object(metadata))', 'wire["metadata"] = copy_object(metadata)'
    ),
    "provider fields dropped": Mutant(
        EFFECTS, "    instance.draft.wire.update({key: copy_json(value) for key, value in extra.items() if key not in known})\n", ""
    ),
    "result text joined over data": Mutant(
        DRAFT,
        "last = self.parts[-1] if self.parts else None",
        "last = next((part for part in self.parts if isinstance(part, TextDraft)), None)",
    ),
    "empty first delta dropped": Mutant(
        EFFECTS, "    instance.result.append_text(event.delta)\n", "    if event.delta:\n        instance.result.append_text(event.delta)\n"
    ),
    "aliased metadata": Mutant(DRAFT, "wire: Wire = copy_object(self.head)", "wire: Wire = dict(self.head)"),
    "aliased output": Mutant(
        "src/eventfold/jsonvalue.py",
        "        return [copy_json(item) for item in value]\n    return value",
        "        return value\n    return value",
    ),
    "blocks in order of their ends": Mutant(
        EFFECTS,
        '    instance.draft.wire["finished_at"] = event.created_at\n    return _set_extra(instance, event)',
        '    instance.draft.wire["finished_at"] = event.created_at\n    reply.draft.content.sort(key=lambda block: block is instance.draft)\n    return _set_extra(instance, event)',
    ),
    "blocks found by id alone": Mutant(
        LIFECYCLE,
        '        known = reply.instances.get(kind or "")\n',
        "        known = next((held for held in reply.instances.values() if key in held), None)\n",
    ),
    "redelivery by bare id": Mutant(LIFECYCLE, "same = digest == first or (event_id, digest) in reply.reused", "same = True"),
    "an id used again comes again": Mutant(
        LIFECYCLE, "same = digest == first or (event_id, digest) in reply.reused", "same = digest == first"
    ),
    "the newest content of an id forgotten": Mutant(LIFECYCLE, "        elif first is not mark:\n            seen[event_id] = mark\n", ""),
    "checkpoint forgets ids used again": Mutant(
        RESUME, 'reply.reused = {(key, int(digest, 16)) for key, digest in saved["reused"]}', "reply.reused = set()"
    ),
    "aliased usage": Mutant(DRAFT, 'wire["usage"] = dict(self.usage)', 'wire["usage"] = self.usage'),
    "redelivery looks at created_at": Mutant(
        "src/eventfold/table.py", '_IDENTITY = ("type", "id", "reply_id", "created_at")', '_IDENTITY = ("type", "id", "reply_id")'
    ),
    "redelivery not recognised": Mutant(LIFECYCLE, "first = seen.setdefault(event_id, mark)", "first = seen[event_id] = mark"),
    "redelivery forgotten after the end": Mutant(INSTANCES, "self.packed = _pack(self.applied)", "self.packed = _pack({})"),
    "text lost at the end": Mutant(DRAFT, "            self.text = self._buffer.getvalue()\n", ""),
    "a lane outlives what ends it": Mutant(INTERPRETER, "        feed.reply.lane = None\n", ""),
    "a lane outlives a walk": Mutant(LIFECYCLE, "        reply.lane = None\n", ""),
    "a lane takes redeliveries": Mutant(
        LIFECYCLE, "if reply.seen.setdefault(event_id, mark) is mark:", "if reply.seen.setdefault(event_id, mark):"
    ),
    "a lane takes cumulative deltas": Mutant(EFFECTS, "Appender(_append, _append_other)", "Appender(_append, _append)"),
    "walks of one role made for another": Mutant(
        SHORTCUTS, "key = (reply.role, reply.states, *reply.counts)", "key = (reply.states, *reply.counts)"
    ),
    "a walk forgets how many wait": Mutant(LIFECYCLE, "        reply.parked += walk.parked\n", ""),
    "a walk forgets how many are open": Mutant(LIFECYCLE, "        reply.counts = list(situation.counts)\n", ""),
    "walks kept that broke a rule": Mutant(INTERPRETER, "            self._trace.fit = False\n", "            pass\n"),
    "second end wins": Mutant(
        TABLE,
        '"ended": {"next": "ended", "rule": "reply.already-ended", "drop": true}',
        '"ended": {"next": "ended", "effect": "close_message"}',
    ),
    "events after the end applied": Mutant(
        TABLE, '"ended": {"next": "ended", "rule": "reply.after-end", "drop": true}', '"ended": {"next": "ended"}'
    ),
    "arguments change after approval": Mutant(
        TABLE,
        '"closed": {"next": "closed", "rule": "tool-call.after-end", "drop": true}',
        '"closed": {"next": "closed", "effect": "append_arguments"}',
    ),
    "state regression accepted": Mutant(
        TABLE,
        '"finished": {"next": "finished", "rule": "tool-call.regressed", "drop": true}',
        '"finished": {"next": "asking", "effect": "ask_call"}',
    ),
    "stale answer accepted": Mutant(
        TABLE,
        '"allowed": {"next": "allowed", "rule": "tool-call.already-answered", "drop": true}',
        '"allowed": {"next": "denied", "effect": "finish_call"}',
    ),
    "deltas after the end applied": Mutant(
        TABLE,
        '"closed": {"next": "closed", "rule": "block.after-end", "drop": true}',
        '"closed": {"next": "closed", "effect": "append_text"}',
    ),
    "external result does not finish the call": Mutant(
        TABLE, '"effect": ["fill_result", "mark_provisional"], "then": ["call.finish"]', '"effect": ["fill_result", "mark_provisional"]'
    ),
    "external result doubled by its deltas": Mutant(TABLE, '"effect": ["clear_output", "append_output"]', '"effect": "append_output"'),
    "reopened block goes on in the old one": Mutant(
        TABLE,
        '"closed": {"next": "open", "effect": "open_block", "renew": true, "rule": "block.reopened"}',
        '"closed": {"next": "open", "rule": "block.reopened"}',
    ),
    "model call end taken without a start": Mutant(
        TABLE, '"idle": {"next": "idle", "rule": "model-call.not-started", "drop": true}', '"idle": {"next": "idle", "effect": "add_usage"}'
    ),
    "parked reply called broken off": Mutant(
        TABLE,
        '"when": {"parked": true},\n      "next": "open"\n    },\n    {\n      "description": "A reply\'s role',
        '"when": {"parked": true, "overtaken": true},\n      "next": "open"\n    },\n    {\n      "description": "A reply\'s role',
    ),
    "checkpoint forgets the ids": Mutant(
        RESUME, '[[key, f"{digest:016x}", index] for key, (digest, index) in reply.applied.items()]', "[]"
    ),
    "checkpoint forgets the counts": Mutant(
        RESUME, '("role", "started", "counts", "parked", "parked_at")', '("role", "started", "parked", "parked_at")'
    ),
    "stored results given to the newest call": Mutant(RESUME, "drafts[max(calls[key], 1) - 1] if calls[key] else drafts[-1]", "drafts[0]"),
    "unknown fields of requests lost": Mutant(EFFECTS, "if key not in known or key in more", "if key in more"),
    "unknown fields of answers lost": Mutant(EFFECTS, "update(_unknown(call), state=", "update(state="),
    "optional nulls written": Mutant(SHAPE, "if item is not None or key not in optional", "if True"),
    "unfold loses the last piece": Mutant(UNFOLD, "        if at < len(whole):\n            yield whole[at:]\n", ""),
    "unfold forgets the rules": Mutant(
        UNFOLD, '("type", "id", "name", "input", "suggested_rules") if name in block', '("type", "id", "name", "input") if name in block'
    ),
    "unfold denies every finished call": Mutant(
        UNFOLD, 'denied = state == "finished" and not ended and not', 'denied = state == "finished" and not'
    ),
    "unfold forgets the error": Mutant(
        UNFOLD, '("finished_reason", "error", "structured_output")', '("finished_reason", "structured_output")'
    ),
    "unfold takes usage of nothing for none": Mutant(
        UNFOLD, "        if usage is not None:\n            tokens", "        if any((usage or {}).values()):\n            tokens"
    ),
    "unfold makes no delta of an empty text": Mutant(UNFOLD, 'list(self.pieces(part["text"])) or [""]', 'list(self.pieces(part["text"]))'),
    "unfold says nothing of a source's unknown fields": Mutant(
        UNFOLD, '        self.lose_unknown(f"{pointer}/source", source, FIELDS[class_of(source, "DataSource")])\n', ""
    ),
    "unfold gives the second result to the first call": Mutant(UNFOLD, "        if self.answered.get(key):\n", "        if False:\n"),
    "what is wrong with a stored message is said of an event": Mutant(
        CHECK, "self._remark(self.messages if type(event) is StoredMessage else index)", "self._remark(index)"
    ),
    "an event of unknown type is not counted": Mutant(
        CHECK, "self.events += any(remark.type or remark.rule == TOO_DEEP for remark in remarks)", "pass"
    ),
    "a finding forgets what it clashes with": Mutant(CHECK, "related=breach.since,", "related=None,"),
    "findings of all blocks are one": Mutant(CHECK, "            (breach.reply_id, breach.key),\n", "            (breach.reply_id,),\n"),
    "findings of all replies are one": Mutant(CHECK, "            (breach.reply_id, breach.key),\n", "            (breach.key,),\n"),
    "an event of the guessed class goes unjudged": Mutant(CHECK, "(extended and not self._repeats(event))", "False"),
    "times are not looked at": Mutant(
        CHECK, "                self._look_at_time(event, index)\n            apply", "                pass\n            apply"
    ),
    "every event of a piece stands on its last line": Mutant(CHECK, "self._last - length_hint(self._rest)", "self._last"),
    "the end of the stream is not looked at": Mutant(CHECK, "        self.folder.lifecycle.finish(self.events)\n", ""),
    "a rule that breaks again is forgotten": Mutant(
        FINDINGS, "            self._counts[key] += 1\n            return\n", "            return\n"
    ),
}


def plant(mutant: Mutant, project: Path) -> None:
    """Copy the project, with the fault in it."""
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, project / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules", "target"))
        else:
            shutil.copy(source, project / name)
    path = project / mutant.file
    text = path.read_text("utf-8")
    if mutant.old not in text:
        message = f"{mutant.file} no longer holds {mutant.old!r}: mend the mutant"
        raise SystemExit(message)
    path.write_text(text.replace(mutant.old, mutant.new), "utf-8")
    if mutant.file.startswith("schemas"):
        subprocess.run([sys.executable, "codegen.py", "--only", "python"], cwd=project, check=True)


def killed_by(project: Path, suite: tuple[str, ...]) -> str | None:
    """Run the suite until it fails. Gives the test that failed, and how many examples it took if they were drawn."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(project / "src"), str(project / "generated/python")])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--hypothesis-profile=unshrunk",
        "--hypothesis-show-statistics",
        *suite,
    ]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, env=environment, timeout=600)
    if result.returncode == 0:
        return None
    if result.returncode != 1:
        message = f"the suite could not be run:\n{(result.stdout + result.stderr)[-2000:]}"
        raise SystemExit(message)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", result.stdout, re.MULTILINE)
    name = failed[0].split("::")[-1] if failed else "an error in a fixture"
    examples = re.findall(r"(\d+) passing, (\d+) failing", result.stdout)
    drawn = next((int(passing) + 1 for passing, failing in examples if int(failing)), None)
    return f"{name}" + (f", example {drawn}" if drawn else "")


def main() -> int:
    """Run the mutants that are named, or all."""
    survived = 0
    laws = "--laws" in sys.argv
    for name in [argument for argument in sys.argv[1:] if argument != "--laws"] or MUTANTS:
        with tempfile.TemporaryDirectory() as scratch:
            plant(MUTANTS[name], Path(scratch))
            before = time.monotonic()
            killer = killed_by(Path(scratch), SUITE)
            alone = killed_by(Path(scratch), LAWS_ONLY) if laws else None
        survived += killer is None
        verdict = f"killed by {killer}" if killer else "SURVIVED"
        by_laws = (f"; by the laws alone: {alone}" if alone else "; not by the laws alone") if laws else ""
        print(f"{name}: {verdict}{by_laws} ({time.monotonic() - before:.0f} s)", flush=True)
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
