import json, os, urllib.request

request = urllib.request.Request(
    "http://localhost:3000/v1/pets",
    data=json.dumps({"name": "Rex", "categoryId": 7}).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['API_KEY']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    pet = json.load(response)
print(f"{pet['name']} is {pet['status']}")
