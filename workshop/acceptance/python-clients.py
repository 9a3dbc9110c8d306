"""Runs one check of one Python client: python-clients.py <module> <check>. Reads the target as JSON from stdin."""

import io
import json
import struct
import sys
import time
import urllib.request
import zlib

PROMPT = "a red cube on a white table"


def picture(rgb):
    """A PNG of one colour."""
    side = 256

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = (b"\0" + bytes(rgb) * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def file(name, rgb):
    opened = io.BytesIO(picture(rgb))
    opened.name = name
    return opened


RED = file("red.png", (200, 0, 0))
BLUE = file("blue.png", (0, 0, 200))


class OpenAiClient:
    def __init__(self, target):
        import openai

        self.errors = openai
        self.common = {"model": target["model"], "prompt": PROMPT, **target["fields"]}
        self.client = openai.OpenAI(api_key=target["key"], base_url=target["base_url"])

    def generate(self, **more):
        return self.client.images.generate(**self.common, **more)

    def edit(self, image):
        return self.client.images.edit(**self.common, image=image)

    def video(self, model):
        video = self.client.videos.create_and_poll(model=model, prompt=PROMPT)
        assert video.status == "completed", f"{video.status}: {video.error}"
        return self.client.videos.download_content(video.id).content


class LiteLlmClient:
    def __init__(self, target):
        import litellm

        litellm.telemetry = False
        self.errors = litellm
        self.litellm = litellm
        self.common = {
            "prompt": PROMPT,
            "model": "openai/" + target["model"],
            "api_base": target["base_url"],
            "api_key": target["key"],
            **target["fields"],
        }

    def generate(self, **more):
        return self.litellm.image_generation(**self.common, **more)

    def edit(self, image):
        return self.litellm.image_edit(**self.common, image=image)

    def video(self, model):
        target = {"api_base": self.common["api_base"], "api_key": self.common["api_key"]}
        video = self.litellm.video_generation(model="openai/" + model, prompt=PROMPT, **target)
        ended = until_ended(
            lambda: self.litellm.video_status(video_id=video.id, custom_llm_provider="openai", **target),
            ("completed", "failed"),
        )
        assert ended.status == "completed", f"{ended.status}: {ended.error}"
        return self.litellm.video_content(video_id=video.id, custom_llm_provider="openai", **target)


class ArkClient:
    def __init__(self, target):
        import volcenginesdkarkruntime

        base_url = target["base_url"].removesuffix("/v1") + "/api/v3"
        client = volcenginesdkarkruntime.Ark(api_key=target["key"], base_url=base_url)
        self.tasks = client.content_generation.tasks

    def video(self, model):
        task_id = self.tasks.create(model=model, content=[{"type": "text", "text": PROMPT}]).id
        ended = until_ended(
            lambda: self.tasks.get(task_id=task_id), ("succeeded", "failed", "expired", "cancelled")
        )
        assert ended.status == "succeeded", f"{ended.status}: {ended.error}"
        assert self.tasks.list(page_size=1).items[0].id == task_id, "the list does not begin with it"
        return urllib.request.urlopen(ended.content.video_url).read()


def until_ended(ask, words):
    while True:
        video = ask()
        if video.status in words:
            return video
        time.sleep(0.5)


def expect_images(answer):
    images = answer.data or []
    assert len(images) == 1, f"{len(images)} images instead of 1"
    assert images[0].b64_json or images[0].url, "an image without data or url"


def expect_error(name, client, action):
    try:
        action()
    except Exception as error:
        assert isinstance(error, getattr(client.errors, name)), f"not a {name}: {error!r}"
        return error
    raise AssertionError("it was not refused")


CLIENTS = {"openai": OpenAiClient, "litellm": LiteLlmClient, "volcenginesdkarkruntime": ArkClient}
TIMEOUTS = {"openai": "APITimeoutError", "litellm": "Timeout"}


def main(library, check):
    target = json.load(sys.stdin)
    if check == "wrong-key":
        target["key"] = "sk-wrong"
    client = CLIENTS[library](target)
    if check in ("generate", "lost"):
        expect_images(client.generate())
    elif check == "edit-one":
        expect_images(client.edit(RED))
    elif check == "edit-several":
        expect_images(client.edit([RED, BLUE]))
    elif check == "video":
        assert client.video(target["video_model"]), "an empty file"
    elif check == "bad-parameter":
        error = expect_error("BadRequestError", client, lambda: client.generate(n=0))
        assert "n must" in str(error) or "parameter n" in str(error), str(error)
    elif check == "timeout":
        expect_error(TIMEOUTS[library], client, lambda: client.generate(timeout=0.1))
    elif check == "wrong-key":
        expect_error("AuthenticationError", client, client.generate)
    else:
        raise SystemExit(f"no such check: {check}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
