import { afterEach, beforeEach, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { imageYaml, pixel, sendJson, startImageUpstream } from './support.ts';
import type { ImageUpstream, UpstreamCall } from './support.ts';
import type { ServerResponse } from 'node:http';

let upstream: ImageUpstream;
let gateway: TestGateway;

beforeEach(async () => {
  upstream = await startImageUpstream();
  const yaml = imageYaml({ first: upstream.url }).replace('provider: openai', 'provider: gateway');
  gateway = await startGateway({ yaml, worker: false });
});
afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

const task = { id: 'task_up', task_id: 'task_up', object: 'image.generation.task', model: 'm' };

function answerPolls(...answers: readonly object[]) {
  let polls = 0;
  upstream.answer = ({ path }: UpstreamCall, response: ServerResponse) => {
    if (path.endsWith('/generations')) return sendJson(response, 200, { ...task, status: 'submitted' });
    const answer = answers[Math.min(polls, answers.length - 1)];
    polls += 1;
    return sendJson(response, answer === undefined ? 502 : 200, { ...task, ...answer });
  };
}

it('is polled until the images are ready, and they are charged once', async () => {
  answerPolls(
    { status: 'running', data: [] },
    { status: 'succeeded', data: [{ b64_json: pixel.toString('base64') }], usage: { total_tokens: 3 } },
  );
  const account = await gateway.account();
  const answer = await account.call('POST', '/v1/images/generations', {
    body: { model: 'gpt-image', prompt: 'a red cube' },
  });
  expect(answer).toMatchObject({ status: 200, body: { data: [{ b64_json: pixel.toString('base64') }] } });
  expect(upstream.calls.map(({ path }) => path)).toEqual([
    '/v1/images/generations',
    '/v1/images/generations/task_up?wait=20',
    '/v1/images/generations/task_up?wait=20',
  ]);
  expect(await account.balance()).toMatchObject({ available: '99.960000', held: '0.000000' });
});

it.each([
  ['moderation_output', 400],
  ['invalid_input', 400],
  ['internal', 500],
])('its failure (%s) is the failure of the request: %i, and costs nothing', async (name, status) => {
  const error = { code: 'provider_error', message: 'No.', class: name };
  answerPolls({ status: 'failed', data: [], error });
  const account = await gateway.account();
  const answer = await account.call('POST', '/v1/images/generations', {
    body: { model: 'gpt-image', prompt: 'a red cube' },
  });
  expect([answer.status, answer.body.error.class]).toEqual([status, name]);
  expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
});
