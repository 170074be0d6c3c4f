import os, urllib.request

request = urllib.request.Request(
    "http://localhost:3000/v1/pets",
    headers={"Authorization": "Bearer " + os.environ["API_KEY"]},
)
with urllib.request.urlopen(request) as response:
    print(response.status == 200)
