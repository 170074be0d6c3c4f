import json, os, urllib.request

# Integers have no size limit in Python, and the json module keeps every digit.
request = urllib.request.Request(
    "http://localhost:3000/v1/pets",
    data=json.dumps({"name": "Rex", "categoryId": 9007199254740993}).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['API_KEY']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["categoryId"])
