import { expect, it, onTestFinished } from 'vitest';
import { openHeadsPlace } from '../../src/compose/heads-place.ts';
import { serve } from './support.ts';

async function bucketAfterAnother(refusal: { readonly status: number; readonly code: string }) {
  const conditions: unknown[] = [];
  const server = await serve((request, response) => {
    request.resume();
    if (request.method === 'HEAD') return void response.writeHead(404).end();
    conditions.push([request.method, request.headers['if-none-match']]);
    response.writeHead(refusal.status, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>${refusal.code}</Code><Message>m</Message></Error>`);
  });
  onTestFinished(() => server.close());
  const keys = { access_key_id: 'a', secret_access_key: 'b' };
  const address = { endpoint: server.url, region: 'us-east-1', path_style: true };
  const s3 = { ...keys, ...address, bucket: 'heads', prefix: '' };
  const place = await openHeadsPlace({ s3 }, () => Promise.reject(new Error('nothing is posted')));
  onTestFinished(() => place?.close());
  async function* heads() {
    yield Buffer.from('{}\n');
  }
  return { write: () => place?.write('2026-11-25', heads()), conditions };
}

it.each([
  { status: 412, code: 'PreconditionFailed' },
  { status: 409, code: 'ConditionalRequestConflict' },
])('heads that another process has exported meanwhile are kept: $status', async (refusal) => {
  const { write, conditions } = await bucketAfterAnother(refusal);
  await write();
  expect(conditions).toEqual([['PUT', '*']]);
});

it('any other refusal is an error', async () => {
  const { write } = await bucketAfterAnother({ status: 403, code: 'AccessDenied' });
  await expect(write()).rejects.toThrow('m');
});

it('a bucket that never responds is abandoned after the time limit, for a write and for a read', async () => {
  const asked: (string | undefined)[] = [];
  const server = await serve((request, response) => {
    asked.push(request.method);
    request.resume();
    if (request.method === 'HEAD' && asked.length === 1) response.writeHead(404).end();
  });
  onTestFinished(() => server.close());
  const keys = { access_key_id: 'a', secret_access_key: 'b' };
  const address = { endpoint: server.url, region: 'us-east-1', path_style: true };
  const refused = () => Promise.reject(new Error('nothing is posted'));
  const limits = { answerMs: 3_000, silentMs: 200, takeMs: 200 };
  const settings = { s3: { ...keys, ...address, bucket: 'heads', prefix: '' } };
  const place = await openHeadsPlace(settings, refused, limits);
  onTestFinished(() => place?.close());
  async function* heads() {
    yield Buffer.from('{}\n');
  }
  await expect(place?.write('2026-11-25', heads())).rejects.toThrow('no response within 200 ms');
  await expect(place?.read?.('2026-11-25')).rejects.toMatchObject({
    cause: { message: 'no response within 3000 ms' },
  });
  expect(asked).toEqual(['HEAD', 'PUT', 'HEAD']);
});
