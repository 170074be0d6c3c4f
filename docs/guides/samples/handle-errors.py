import json, os, urllib.error, urllib.request

request = urllib.request.Request(
    "http://localhost:3000/v1/pets?limit=0",
    headers={"Authorization": f"Bearer {os.environ['API_KEY']}"},
)
try:
    urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    try:
        code = json.load(error)["code"]
    except (KeyError, TypeError, ValueError):  # a proxy's error may not be JSON
        code = "no code"
    retry = error.code in (408, 429, 500, 502, 503, 504)
    print(error.code, code, "retry" if retry else "do not retry")
