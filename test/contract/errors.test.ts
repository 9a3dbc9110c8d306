import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorTable, taskErrorCodes } from '../../src/errors/errors.ts';
import { createOnce, type Answer, type TestAccount } from '../support/client.ts';
import { sendJson } from '../images/support.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { contractYaml, startSameInterface, type SameInterface } from './same-interface.ts';

/** Tests section 7 of the interface document: the body that all errors share, and the meaning of each status. */

let upstream: SameInterface;
let gateway: TestGateway;
let account: TestAccount;
let limited: TestAccount;
beforeAll(async () => {
  upstream = await startSameInterface();
  gateway = await startGateway({ yaml: contractYaml(upstream.url) });
  account = await gateway.account();
  limited = await gateway.account({ key: { models: ['seedance'] } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const videos = '/v1/videos/generations';
const clip = { model: 'clip', prompt: 'a boat' };

function expectUnified({ body }: Answer): void {
  expect(body).toEqual({
    error: {
      message: expect.stringMatching(/\w/),
      type: expect.stringMatching(/^[a-z_]+$/),
      param: expect.any(String),
      code: expect.any(String),
      ...(['provider_error', 'content_policy_violation'].includes(body.error.code)
        ? { class: expect.stringMatching(/^[a-z_]+$/) }
        : {}),
    },
  });
  expect(Object.keys(errorTable)).toContain(body.error.code);
}

it.each<[number, string, () => Promise<Answer>, { type: string; param: string }]>([
  [
    400,
    'a missing parameter',
    () => account.call('POST', videos, { body: { model: 'clip' } }),
    { type: 'invalid_request_error', param: 'prompt' },
  ],
  [
    400,
    'an invalid parameter',
    () => account.call('POST', videos, { body: { ...clip, duration: 'long' } }),
    { type: 'invalid_request_error', param: 'duration' },
  ],
  [
    400,
    'an unsupported combination of model and parameter',
    () => account.call('POST', videos, { body: { ...clip, model: 'plain', resolution: '1080p' } }),
    { type: 'invalid_request_error', param: 'resolution' },
  ],
  [
    400,
    'an absent task_id',
    () => account.call('GET', `${videos}/`),
    { type: 'invalid_request_error', param: 'task_id' },
  ],
  [
    401,
    'no key',
    () => gateway.call('POST', videos, { body: clip }),
    { type: 'authentication_error', param: '' },
  ],
  [
    403,
    'a model that is not allowed',
    () => limited.call('POST', videos, { body: clip }),
    { type: 'permission_error', param: 'model' },
  ],
  [
    404,
    'an unknown task_id',
    () => account.call('GET', `${videos}/task_0000000000000000000000`),
    { type: 'invalid_request_error', param: 'task_id' },
  ],
  [
    500,
    'an upstream error',
    () => {
      upstream.answer = (_call, response) => sendJson(response, 500, { error: { message: 'boom' } });
      return createOnce(account.call, '/v1/images/generations', { model: 'picture', prompt: 'x' });
    },
    { type: 'api_error', param: '' },
  ],
])('%i for %s, in the unified body', async (status, _name, ask, expected) => {
  const answer = await ask();
  expect(answer.status).toBe(status);
  expectUnified(answer);
  expect(answer.body.error).toMatchObject(expected);
});

it('codes other than provider_error are of the documented list', () => {
  expect(taskErrorCodes).toEqual(['provider_error', 'task_expired', 'task_cancelled', 'internal_error']);
});

describe('a task that fails during generation', () => {
  it.each([
    ['at the upstream', '[sim:failed]'],
    ['for its content', '[sim:moderation-in-task]'],
    ['because the upstream refused it', '[sim:moderation]'],
  ])('%s is reported by a query with 200, status failed and provider_error', async (_name, fault) => {
    const id = await account.made({ model: 'seedance', prompt: `x ${fault}` });
    const task = await account.finished(id);
    expect(task).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/\w/), code: 'provider_error' },
    });
    expect((await account.call('GET', `${videos}/${id}`)).status).toBe(200);
  });
});
