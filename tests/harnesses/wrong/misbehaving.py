"""A program that does not keep to the protocol, in the way that its argument names, from the third stream on."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from reducers import fold

way = sys.argv[1]
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        answer: dict[str, Any] = {"protocol": 1, "name": way, "language": "python"}
    elif request["cmd"] == "stop":
        break
    else:
        late = request["seq"] > 2
        if late and way == "dies":
            print("out of cheese", file=sys.stderr)
            sys.exit(3)
        if late and way == "sleeps":
            time.sleep(60)
        answer = {"seq": request["seq"] + (late and way == "miscounts"), "messages": fold(request["events"])}
        if late and way == "misspells":
            answer = {"seq": request["seq"], "mesages": []}
    print("Loading model ..." if way == "chatters" and request.get("seq", 0) > 2 else json.dumps(answer), flush=True)
