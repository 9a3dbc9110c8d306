import { afterAll, beforeAll, expect, it } from 'vitest';
import { testKey, startHarness, type Harness } from './support.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

it.each([
  ['POST', '/kling/text-to-video/kling%'],
  ['POST', '/bfl/v1/flux%E0%A4%A'],
  ['POST', '/fal/owner/app%zz'],
  ['POST', '/replicate/v1/models/owner/name%/predictions'],
  ['POST', '/google/v1beta/models/veo%:predictLongRunning'],
  ['GET', '/google/v1beta/models/veo/operations/one%'],
  ['GET', '/ark/api/v3/contents/generations/tasks/cgt%'],
])('%s %s, which cannot be decoded, gets an error of the vendor', async (method, path) => {
  const headers = { 'x-key': testKey, 'x-goog-api-key': testKey };
  const auth = path.startsWith('/fal') ? { ...headers, authorization: `Key ${testKey}` } : headers;
  const answer = await harness.call(method, path, method === 'POST' ? {} : undefined, auth);
  expect(answer.status).toBe(404);
  expect(answer.headers.get('content-type')).toMatch(/json/);
});
