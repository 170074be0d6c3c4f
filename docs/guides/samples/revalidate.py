import json, os, urllib.error, urllib.request

url = "http://localhost:3000/v1/pets?status=available"
headers = {"Authorization": f"Bearer {os.environ['API_KEY']}"}

with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
    etag = response.headers["ETag"]
    pets = json.load(response)

try:
    request = urllib.request.Request(url, headers={**headers, "If-None-Match": etag})
    with urllib.request.urlopen(request) as response:
        pets = json.load(response)
        print("changed")
except urllib.error.HTTPError as error:  # urllib raises for a 304
    if error.code != 304:
        raise
    print("unchanged")
