import json, os, urllib.request

request = urllib.request.Request(
    "http://localhost:3000/v1/pets",
    headers={"Authorization": f"Bearer {os.environ['API_KEY']}"},
)
with urllib.request.urlopen(request) as response:
    pets = json.load(response)
print(f"{len(pets)} animals")
