import json, os, urllib.request

request = urllib.request.Request(
    "http://localhost:3000/v1/pets?id=2",
    headers={"Authorization": f"Bearer {os.environ['API_KEY']}"},
)
with urllib.request.urlopen(request) as response:
    pets = json.load(response)
print(pets[0]["name"] if pets else "not found")
