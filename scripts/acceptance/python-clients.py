"""One check of one Python client: python-clients.py <openai|litellm> <check>; the target comes as JSON on standard input."""

import io
import json
import struct
import sys
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


TIMEOUTS = {"openai": "APITimeoutError", "litellm": "Timeout"}


def main(library, check):
    target = json.load(sys.stdin)
    if check == "wrong-key":
        target["key"] = "sk-wrong"
    client = {"openai": OpenAiClient, "litellm": LiteLlmClient}[library](target)
    if check in ("generate", "lost"):
        expect_images(client.generate())
    elif check == "edit-one":
        expect_images(client.edit(RED))
    elif check == "edit-several":
        expect_images(client.edit([RED, BLUE]))
    elif check == "bad-parameter":
        error = expect_error("BadRequestError", client, lambda: client.generate(n=0))
        assert "n must" in str(error) or "parameter n" in str(error), str(error)
    elif check == "timeout":
        # What is refused anyway, so that nothing is paid for an answer that nobody waits for.
        expect_error(TIMEOUTS[library], client, lambda: client.generate(n=0, timeout=0.00001))
    elif check == "wrong-key":
        expect_error("AuthenticationError", client, client.generate)
    else:
        raise SystemExit(f"no such check: {check}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
