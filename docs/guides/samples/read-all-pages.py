import json, os, re, urllib.parse, urllib.request

url = "http://localhost:3000/v1/pets?limit=2"
while url:
    request = urllib.request.Request(
        url, headers={"Authorization": f"Bearer {os.environ['API_KEY']}"}
    )
    with urllib.request.urlopen(request) as response:
        for pet in json.load(response):
            print(pet["name"])
        link = re.search('<([^>]*)>; rel="next"', response.headers.get("Link", ""))
    url = urllib.parse.urljoin(url, link[1]) if link else None
