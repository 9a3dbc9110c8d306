import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator } from '../../../../src/local/simulator/simulator.ts';
import { arkCaller, image, seedance2, startHarness, tasksPath, testKey, text } from '../support.ts';
import type { ArkCaller, Harness } from '../support.ts';

let harness: Harness;
let ark: ArkCaller;
beforeAll(async () => {
  harness = await startHarness();
  ark = arkCaller(harness);
});
afterAll(() => harness.close());

const video = { type: 'video_url', video_url: { url: 'https://v.example/a.mp4' }, role: 'reference_video' };
const audio = { type: 'audio_url', audio_url: { url: 'https://a.example/a.mp3' }, role: 'reference_audio' };

describe('create', () => {
  it('answers with an id of the published pattern, and nothing else', async () => {
    const answer = await ark.create();
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['id']);
    expect(answer.body.id).toMatch(/^cgt-\d{14}-[a-z0-9]{5}$/);
  });

  it('echoes safety_identifier', async () => {
    const answer = await ark.create({ safety_identifier: 'user-7' });
    expect(answer.body).toEqual({ id: expect.any(String), safety_identifier: 'user-7' });
  });

  it('takes null for a field that is left out, as the SDK for Python sends it', async () => {
    const fields = ['callback_url', 'service_tier', 'ratio', 'duration', 'seed', 'draft', 'tools', 'frames'];
    const answer = await ark.create(Object.fromEntries(fields.map((field) => [field, null])));
    expect(answer.status).toBe(200);
  });
});

describe('authentication', () => {
  it('accepts any key where none is configured', async () => {
    const open = await startSimulator({ host: '127.0.0.1', port: 0 });
    const response = await fetch(open.url + tasksPath, {
      method: 'POST',
      headers: { authorization: 'Bearer anything' },
      body: JSON.stringify({ model: seedance2, content: text('x') }),
    });
    await open.close();
    expect(response.status).toBe(200);
  });
});

describe('errors', () => {
  it('have the published shape, the request id at the end of the message', async () => {
    const answer = await ark.create({ ratio: '2:1' });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.error)).toEqual(['code', 'message', 'param', 'type']);
    expect(answer.body.error).toMatchObject({
      code: 'InvalidParameter.ratio',
      param: 'ratio',
      type: 'BadRequest',
    });
    expect(answer.body.error.message).toMatch(
      /^The parameter `ratio` specified in the request is not valid.* Request id: 02[0-9a-f]+$/,
    );
  });

  it('say that a body is not JSON', async () => {
    const response = await fetch(harness.url + tasksPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}` },
      body: '{',
    });
    expect(response.status).toBe(400);
  });
});

it.each([
  ['no model', { model: undefined }, 400, 'MissingParameter.model'],
  ['a model that is not a string', { model: 7 }, 400, 'InvalidParameter.model'],
  ['an unknown model', { model: 'sora-2' }, 404, 'InvalidEndpointOrModel.NotFound'],
  ['no content', { content: undefined }, 400, 'MissingParameter.content'],
  ['empty content', { content: [] }, 400, 'InvalidParameter.content'],
  ['an item of unknown type', { content: [{ type: 'image' }] }, 400, 'InvalidParameter.content'],
  ['an unknown role', { content: [image('start')] }, 400, 'InvalidParameter.content'],
  ['raw base64', { content: [image('first_frame', 'iVBORw0KGgo=')] }, 400, 'InvalidParameter.content'],
  ['an unknown resolution', { resolution: '2k' }, 400, 'InvalidParameter.resolution'],
  ['a duration as text', { duration: '5' }, 400, 'InvalidParameter.duration'],
  ['an expiry below an hour', { execution_expires_after: 3599 }, 400, 'InvalidParameter.execution_expires_after'],
  ['an unknown draft', { content: [{ type: 'draft_task', draft_task: { id: 'cgt-x' } }] }, 400, 'InvalidParameter.content'],
  ['a callback that is not a URL', { callback_url: 'here' }, 400, 'InvalidParameter.callback_url'],
])('refuses %s', async (_title, body, status, code) => {
  const answer = await ark.create(body);
  expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
}); // prettier-ignore

it.each([
  ['an endpoint id', { model: 'ep-20260101-abcde' }],
  ['a model of tomorrow', { model: 'doubao-seedance-9-0-pro-300101' }],
  ['an image without a text or a role', { content: [image()] }],
  ['a data URL', { content: [image('first_frame', 'data:image/png;base64,iVBORw0KGgo=')] }],
  ['an asset', { content: [image('first_frame', 'asset://a-1')] }],
  ['all kinds of references', { content: [...text('a'), image('reference_image'), video, audio] }],
  ['every switch', { camera_fixed: false, generate_audio: true, watermark: false, tools: [{ type: 'web_search' }] }],
])('accepts %s', async (_title, body) => {
  expect(await ark.create(body)).toMatchObject({ status: 200 });
}); // prettier-ignore
