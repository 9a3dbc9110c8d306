"""Drives the simulator with the vendors' SDKs: walks.py <base URL>. Its key is `test-key`, and a job takes two seconds.

Each line of the output is JSON: {"mismatch": "..."}, or {"job": {...}} for a job that an SDK has followed to its end.
"""

import json
import sys
import time

BASE_URL = sys.argv[1]
KEY = "test-key"
WRONG_KEY = "wrong"
END_WITHIN_SECONDS = 30
PROMPT = "a boat"


class Ark:
    name = "ark"
    model = "doubao-seedance-2-0-260128"
    words = ("queued", "running", "succeeded")
    failed, cancelled = ("failed", "InternalServiceError"), ("cancelled", None)
    refused = {"key": 401, "field": 400, "job": 404}

    def __init__(self, key):
        from volcenginesdkarkruntime import Ark as Client

        client = Client(api_key=key, base_url=BASE_URL + "/ark/api/v3", max_retries=0)
        self.tasks = client.content_generation.tasks

    def create(self, prompt=PROMPT, wrong=False):
        content = [
            {"type": "text", "text": prompt},
            {"type": "image_url", "image_url": {"url": "https://ex.com/a.png"}, "role": "first_frame"},
        ]
        ratio = "7:5" if wrong else "16:9"
        asked = {"ratio": ratio, "resolution": "720p", "duration": 5, "generate_audio": True}
        return self.tasks.create(model=self.model, content=content, **asked).id

    def read(self, job):
        task = self.tasks.get(task_id=job)
        return {
            "word": task.status,
            "code": task.error and task.error.code,
            "link": task.content and task.content.video_url,
            "tokens": task.usage and task.usage.completion_tokens,
            "seconds": task.duration,
        }

    def cancel(self, job):
        self.tasks.delete(task_id=job)

    def list(self):
        return [task.id for task in self.tasks.list(page_num=1, page_size=50).items]


class Refused(Exception):
    def __init__(self, status_code):
        super().__init__(status_code)
        self.status_code = status_code


class DashScope:
    """Returns errors instead of raising them. A wrong field fails the job, and an unknown job has its own status."""

    name = "dashscope"
    model = "wan2.7-t2v"
    words = ("PENDING", "RUNNING", "SUCCEEDED")
    failed, cancelled = ("FAILED", "InternalError"), ("CANCELED", None)
    refused = {"key": 401}
    unknown = "UNKNOWN"

    def __init__(self, key):
        import dashscope

        dashscope.base_http_api_url = BASE_URL + "/dashscope/api/v1"
        self.videos = dashscope.VideoSynthesis
        self.key = key

    def answered(self, answer):
        if answer.status_code != 200:
            raise Refused(answer.status_code)
        return answer

    def create(self, prompt=PROMPT, wrong=False):
        resolution = "999P" if wrong else "720P"
        asked = {"ratio": "16:9", "resolution": resolution, "duration": 5, "watermark": False}
        answer = self.videos.async_call(model=self.model, prompt=prompt, api_key=self.key, **asked)
        return self.answered(answer).output.task_id

    def read(self, job):
        answer = self.answered(self.videos.fetch(job, api_key=self.key))
        return {
            "word": answer.output.task_status,
            "code": answer.output.get("code"),
            "link": answer.output.video_url or None,
            "tokens": None,
            "seconds": answer.usage and answer.usage.get("output_video_duration"),
        }

    def cancel(self, job):
        self.answered(self.videos.cancel(job, api_key=self.key))

    def list(self):
        listed = self.answered(self.videos.list(page_size=50, api_key=self.key))
        return [task["task_id"] for task in listed.output["data"]]


class Luma:
    """The SDK validates strictly here, so an undeclared or missing field in an answer is an error."""

    name = "luma"
    model = "ray-3.2"
    words = ("queued", "processing", "completed")
    failed = ("failed", "generation_failed")
    refused = {"key": 401, "field": 400, "job": 404}

    def __init__(self, key):
        import luma_agents

        self.generations = luma_agents.Luma(
            auth_token=key,
            base_url=BASE_URL + "/luma/v1",
            max_retries=0,
            _strict_response_validation=True,
        ).generations

    def create(self, prompt=PROMPT, wrong=False):
        frame = {"url": "https://ex.com/a.png"}
        video = {"resolution": "720p", "duration": "five" if wrong else "5s", "start_frame": frame}
        return self.generations.create(
            prompt=prompt, model=self.model, type="video", aspect_ratio="16:9", user_id="u", video=video
        ).id

    def read(self, job):
        generation = self.generations.get(job)
        return {
            "word": generation.state,
            "code": generation.failure_code,
            "link": generation.output[0].url if generation.output else None,
            "tokens": None,
            "seconds": None,
        }


def say(**what):
    print(json.dumps(what), flush=True)


def expect(sdk, what, found, expected):
    if found != expected:
        say(mismatch=f"{sdk.name}: {what}: {found!r} instead of {expected!r}")


def status_of(action):
    """Returns the status of the SDK's own error, or None if there was no error."""
    try:
        action()
    except Exception as error:
        return getattr(error, "status_code", repr(error))
    return None


def until_ended(sdk, client, job):
    """Fails if a status before the end is not one of the vendor's."""
    deadline = time.monotonic() + END_WITHIN_SECONDS
    while True:
        found = client.read(job)
        if found["word"] not in sdk.words[:2]:
            return found
        if time.monotonic() > deadline:
            return {**found, "word": f"{found['word']} after {END_WITHIN_SECONDS} s"}
        time.sleep(0.2)


def walk(sdk):
    client = sdk(KEY)
    job, failing = client.create(), client.create(PROMPT + " [sim:failed]")
    first = client.read(job)
    expect(sdk, "a new job", (first["word"], first["link"]), (sdk.words[0], None))
    if hasattr(sdk, "cancelled"):
        waiting = client.create()
        client.cancel(waiting)
        expect(sdk, "a cancelled job", client.read(waiting)["word"], sdk.cancelled[0])
        expect(sdk, "the list holds the job", job in client.list(), True)
    ended = until_ended(sdk, client, job)
    expect(sdk, "a finished job", ended["word"], sdk.words[2])
    say(job={"provider": sdk.name, "model": sdk.model, "id": job, **ended})
    broken = until_ended(sdk, client, failing)
    expect(sdk, "a failed job", (broken["word"], broken["code"]), sdk.failed)
    say(job={"provider": sdk.name, "model": sdk.model, "id": failing, **broken})
    expect(sdk, "an error of the vendor", status_of(lambda: client.create(PROMPT + " [sim:500]")), 500)
    expect(sdk, "a wrong key", status_of(sdk(WRONG_KEY).create), sdk.refused["key"])
    if "field" in sdk.refused:
        expect(sdk, "a wrong field", status_of(lambda: client.create(wrong=True)), sdk.refused["field"])
    else:
        wrong = until_ended(sdk, client, client.create(wrong=True))
        expect(sdk, "a wrong field", (wrong["word"], wrong["code"]), (sdk.failed[0], "InvalidParameter"))
    if "job" in sdk.refused:
        expect(sdk, "an unknown job", status_of(lambda: client.read("unknown")), sdk.refused["job"])
    else:
        expect(sdk, "an unknown job", client.read("unknown")["word"], sdk.unknown)


for sdk in (Ark, DashScope, Luma):
    try:
        walk(sdk)
    except Exception as error:
        say(mismatch=f"{sdk.name}: {error!r}")
