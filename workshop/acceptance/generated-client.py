"""Uses the client that openapi-python-client generated: `generated-client.py URL KEY IMAGE-MODEL VIDEO-MODEL`."""

import base64
import importlib
import io
import pkgutil
import sys

import mediary_client
from mediary_client.api.images import create_image, edit_image
from mediary_client.api.videos import create_video, get_video
from mediary_client.client import AuthenticatedClient
from mediary_client.models import (
    Error,
    ImageEditForm,
    ImageGenerationRequest,
    Images,
    VideoRequest,
)
from mediary_client.types import File

url, key, model, video_model = sys.argv[1:]
for module in pkgutil.walk_packages(mediary_client.__path__, "mediary_client."):
    importlib.import_module(module.name)

client = AuthenticatedClient(base_url=url, token=key, timeout=120)

created = create_video.sync(client=client, body=VideoRequest(model=video_model, prompt="a paper boat"))
while True:
    task = get_video.sync(created.task_id, client=client, wait=30)
    if task.status == "failed":
        raise SystemExit(task.error.message)
    if task.status == "succeeded":
        break
assert task.video_url.startswith("http")

image = create_image.sync(client=client, body=ImageGenerationRequest(model=model, prompt="a red cube"))
assert isinstance(image, Images), image
picture = base64.b64decode(image.data[0].b64_json)
form = ImageEditForm(
    model=model,
    prompt="blue",
    image=File(payload=io.BytesIO(picture), file_name="cube.png", mime_type="image/png"),
)
edit = edit_image.sync(client=client, body=form)
assert isinstance(edit, Images), edit
assert edit.usage.input_tokens > 0

refused = create_image.sync(client=client, body=ImageGenerationRequest(model="nothing", prompt="p"))
assert isinstance(refused, Error), refused
assert refused.error.code == "model_not_found"
print("openapi-python-client: a video, an image, an edit and an error.")
