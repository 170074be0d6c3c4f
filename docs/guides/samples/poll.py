import json, os, re, time, urllib.parse, urllib.request

FIRST_PAGE = "http://localhost:3000/v1/pets?limit=100"

# The state before the first poll. Store the state that each poll returns.
FIRST_STATE = {
    "start": FIRST_PAGE,  # the page at which the next poll begins
    "seen": [],  # ids of the animals that the last poll read
    "last": FIRST_PAGE,  # the last page of an earlier poll, at which a later poll begins
    "ended_at": 0,  # when this earlier poll ended
}


def poll(state):
    began_at = time.time()
    found, url = [], state["start"]
    while url:
        page = url
        request = urllib.request.Request(
            url, headers={"Authorization": f"Bearer {os.environ['API_KEY']}"}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            found += json.load(response)
            link = re.search('<([^>]*)>; rel="next"', response.headers.get("Link", ""))
        url = urllib.parse.urljoin(url, link[1]) if link else None
    seen = set(state["seen"])
    pets = [pet for pet in found if pet["id"] not in seen]
    state = {**state, "seen": [pet["id"] for pet in found]}
    if began_at - state["ended_at"] > 60:
        state.update(start=state["last"], last=page, ended_at=time.time())
    return pets, state


state = FIRST_STATE
for _ in range(2):
    pets, state = poll(state)
    print(len(pets), "new animals")
