"""A harness to copy: it speaks the protocol of schemas/meta/harness.json for the reducer that stands in `fold`."""

import json
import sys

from eventfold import check_and_fold


def fold(events):
    """Put your reducer here: a list of events in, a list of messages out, one for each reply."""
    return check_and_fold("".join(json.dumps(event) + "\n" for event in events).encode()).messages


for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        answer = {"protocol": 1, "name": "my reducer", "language": "python"}
    elif request["cmd"] == "run":
        try:
            answer = {"seq": request["seq"], "messages": fold(request["events"])}
        except Exception as error:
            answer = {"seq": request["seq"], "error": repr(error)}
    else:
        break
    print(json.dumps(answer), flush=True)
