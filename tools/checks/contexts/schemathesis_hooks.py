import os
from datetime import datetime

import schemathesis
from hypothesis import strategies

# Times of the API are exact to the millisecond, which `date-time` does not say.
times = strategies.datetimes(datetime(1000, 1, 2), datetime(9999, 12, 30))
schemathesis.openapi.format("date-time", times.map(lambda time: time.isoformat(timespec="milliseconds") + "Z"))

# Schemathesis knows few types of files.
for media_type in filter(None, os.environ["FILE_TYPES"].split(",")):
    schemathesis.serializer.alias(media_type, "application/octet-stream")


# Schemathesis 4.32 sends integers that it has learnt from responses in headers, and then fails itself.
@schemathesis.hook
def before_call(context, case, kwargs):
    for name, value in (case.headers or {}).items():
        case.headers[name] = str(value)
