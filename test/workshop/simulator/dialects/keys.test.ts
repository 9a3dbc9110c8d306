import { createHmac } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { startHarness } from '../support.ts';

const harness = await startHarness({ renderSeconds: 8, apiKeys: ['test-key', 'access:secret'] });
afterAll(() => harness.close());

describe('keys of Kling', () => {
  const token = (times: { nbf: number; exp: number }, secret = 'secret') => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const content = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'access', ...times })}`;
    return `Bearer ${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
  };
  const video = '/v1/videos/text2video';
  const seconds = Math.floor(Date.now() / 1000);
  const valid = { nbf: seconds - 60, exp: seconds + 1800 };

  it.each([
    ['none', '', video, 401, 1001],
    ['a wrong one', 'Bearer wrong', video, 401, 1002],
    ['a pair that is sent', 'Bearer access:secret', video, 401, 1002],
    ['a signature', token(valid), video, 200, 0],
    ['a signature of another', token(valid, 'other'), video, 401, 1002],
    ['one whose time has passed', token({ ...valid, exp: seconds - 60 }), video, 401, 1004],
    ['one whose time has not come', token({ ...valid, nbf: seconds + 600 }), video, 401, 1003],
    ['no token', 'Bearer a.b.c', video, 401, 1002],
    ['a signature in the new standard', token(valid), '/tasks?task_ids=1', 401, 1002],
  ])('%s', async (_, authorization, path, ...[status, code]) => {
    const answer = await harness.call('GET', `/kling${path}`, undefined, { authorization });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});

describe('keys of Google', () => {
  const send = (path: string, headers: Record<string, string>) =>
    harness.call('GET', path, undefined, { authorization: '', ...headers });
  const one = '/google/v1beta/interactions/v1_x';
  const other = '/google/v1beta/models/veo-3.1-generate-preview/operations/x';
  const vertex = '/google/v1beta1/projects/p1/locations/us-central1/interactions/v1_x';

  it.each([
    ['none', other, {}, 403, 'PERMISSION_DENIED'],
    ['a bearer token', other, { authorization: 'Bearer test-key' }, 403, 'PERMISSION_DENIED'],
    ['a wrong one', other, { 'x-goog-api-key': 'wrong' }, 400, 'INVALID_ARGUMENT'],
    ['the right one', other, { 'x-goog-api-key': 'test-key' }, 404, 'NOT_FOUND'],
    ['one in the query', `${other}?key=test-key`, {}, 404, 'NOT_FOUND'],
    ['none on Vertex', vertex, {}, 401, 'UNAUTHENTICATED'],
    ['a key on Vertex', vertex, { 'x-goog-api-key': 'test-key' }, 401, 'UNAUTHENTICATED'],
    ['a token on Vertex', vertex, { authorization: 'Bearer test-key' }, 404, 'NOT_FOUND'],
  ])('%s', async (_, path, headers, ...[status, word]) => {
    const answer = await send(path, headers);
    expect([answer.status, answer.body.error.status]).toEqual([status, word]);
  });

  it('are refused in an array by the front end of interactions', async () => {
    const { status, body } = await send(one, { 'x-goog-api-key': 'wrong' });
    const message = expect.stringContaining('API key not valid');
    expect([status, body]).toEqual([400, [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }]]);
  });
});
