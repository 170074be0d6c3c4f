import json, os, urllib.request

request = urllib.request.Request(
    "http://localhost:3000/v1/pets?status=available&limit=100",
    headers={"Authorization": f"Bearer {os.environ['API_KEY']}"},
)
with urllib.request.urlopen(request) as response:
    for pet in json.load(response):
        print(pet["name"])
