import json, os, re, time, urllib.parse, urllib.request

FIRST_PAGE = "http://localhost:3000/v1/pets?limit=2"


def poll(state):
    found, url = [], state["start"]
    while url:
        page = url
        request = urllib.request.Request(
            url, headers={"Authorization": f"Bearer {os.environ['API_KEY']}"}
        )
        with urllib.request.urlopen(request) as response:
            found += json.load(response)
            link = re.search('<([^>]*)>; rel="next"', response.headers.get("Link", ""))
        url = urllib.parse.urljoin(url, link[1]) if link else None
    pets = [pet for pet in found if pet["id"] not in state["seen"]]
    state = {**state, "seen": [pet["id"] for pet in found]}
    if time.time() - state["ended_at"] > 60:
        state = {**state, "start": state["last"], "last": page, "ended_at": time.time()}
    return pets, state


# Store the state after each poll: the page to begin at, the animals from there on,
# and the last page of an earlier poll.
state = {"start": FIRST_PAGE, "seen": [], "last": FIRST_PAGE, "ended_at": 0}
for _ in range(2):
    pets, state = poll(state)
    print(len(pets), "new animals")
