import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createBfl } from '../../../src/providers/bfl/index.ts';
import type { Operation } from '../../../src/providers/provider.ts';
import { canned, fixture, providerContext, submitContext, upstreamError, videoRequest } from '../support.ts';
import type { CannedAnswer } from '../support.ts';
import { imageTables } from '../vendor-tables.ts';

const now = Date.parse('2026-11-21T10:00:00Z');
const { video, imageTask } = createBfl(() => now);
if (video === undefined || imageTask === undefined) throw new Error('it lacks a part');

const id = '3b5f0c1e-1c5b-4f0e-9a53-5f7c2f6f4a10';
const base = 'https://api.bfl.ai';
const operation: Operation = { id, cost: '3' };
const images = imageTables(imageTask, { created: { json: fixture('bfl/created') } });

function status(answer: CannedAnswer, { asked = operation, model = 'flux-3-video' } = {}) {
  const part = model === 'flux-3-video' ? video : imageTask;
  const upstream = canned(answer);
  const context = providerContext({ request: upstream.request, baseUrl: base, model });
  return { sent: upstream.sent, result: part?.status(asked, context) };
}

describe('the address to poll', () => {
  const regional = `https://api.us1.bfl.ai/v1/get_result?id=${id}`;

  async function polled(address: unknown, baseUrl = base): Promise<string | undefined> {
    const upstream = canned({ json: { id, polling_url: address } }, { json: { id, status: 'Pending' } });
    const context = submitContext({ request: upstream.request, baseUrl, model: 'flux-3-video' });
    const submitted = await video?.submit(videoRequest(), context);
    await video?.status(submitted?.operation ?? { id: '' }, context);
    const [, poll] = upstream.sent;
    expect(poll?.headers).toEqual({ 'x-key': 'test-key' });
    return poll?.url;
  }

  it.each([
    ['a region of the vendor', regional, regional],
    ['one without the id', 'https://api.us1.bfl.ai/v1/get_result', regional],
    ['the channel itself', `${base}/v1/get_result?id=${id}`, `${base}/v1/get_result?id=${id}`],
  ])('is used as reported: %s', async (_, address, url) => {
    expect(await polled(address)).toBe(url);
  });

  const own = `${base}/v1/get_result?id=${id}`;
  it.each([
    ['none', undefined],
    ['no text', 7],
    ['no address', 'get_result'],
    ['another host', 'https://evil.example/v1/get_result'],
    ['a host that ends alike', 'https://evilbfl.ai/v1/get_result'],
    ['a host that begins alike', 'https://api.bfl.ai.evil.example/v1/get_result'],
    ['a name before the host', 'https://api.bfl.ai@evil.example/v1/get_result'],
    ['a key in the address', 'https://a:b@api.us1.bfl.ai/v1/get_result'],
    ['no encryption', 'http://api.us1.bfl.ai/v1/get_result'],
    ['another port', 'https://api.us1.bfl.ai:8443/v1/get_result'],
    ['another path', 'https://api.us1.bfl.ai/v1/delete'],
    ['the inside', 'http://169.254.169.254/get_result'],
    ['a very long one', `https://api.us1.bfl.ai/v1/get_result?x=${'x'.repeat(600)}`],
  ])('is the channel’s own if the response names %s', async (_, address) => {
    expect(await polled(address)).toBe(own);
  });

  it('of another gateway is never the vendor’s, which must not get its key', async () => {
    const proxy = 'https://proxy.example/bfl';
    expect(await polled(regional, proxy)).toBe(`${proxy}/v1/get_result?id=${id}`);
    const elsewhere = `https://proxy.example/eu/v1/get_result?id=${id}`;
    expect(await polled(elsewhere, proxy)).toBe(elsewhere);
  });

  it('is rechecked before each poll, because the stored address is not trusted either', async () => {
    const asked = { id, pollingUrl: 'https://evil.example/v1/get_result' };
    const { sent, result } = status({ json: { id, status: 'Pending' } }, { asked });
    await result;
    expect(sent[0]?.url).toBe(own);
  });
});

describe('a creation', () => {
  const submit = (answer: CannedAnswer) =>
    video.submit(videoRequest(), submitContext({ request: canned(answer).request, baseUrl: base }));

  it('gives the operation: id, address and credits', async () => {
    const pollingUrl = `https://api.us1.bfl.ai/v1/get_result?id=${id}`;
    expect(await submit({ json: fixture('bfl/created') })).toEqual({
      operation: { id, pollingUrl, cost: '3' },
      traceId: id,
    });
  });

  it.each<[string, CannedAnswer, string, string, object?]>([
    ['a wrong field', { status: 422, json: fixture('bfl/invalid') }, 'rejected', 'http_422', { class: 'invalid_input', field: 'seed' }],
    ['a text', { status: 400, json: { detail: 'bad' } }, 'rejected', 'http_400'],
    ['another text', { status: 400, json: { error: 'bad_request', message: 'bad', details: {} } }, 'rejected', 'http_400'],
    ['no credits', { status: 402, json: { error: 'insufficient_credits' } }, 'unavailable', 'insufficient_credits'],
  ])('is refused with %s', async (_, answer, ...[outcome, code, failure]) => {
    const error = await upstreamError(submit(answer));
    expect([error.outcome, error.code]).toEqual([outcome, code]);
    if (failure !== undefined) expect(error.failure).toEqual(failure);
  }); // prettier-ignore

  it('waits as long as the body or header asks', async () => {
    const json = { error: 'rate_limit_exceeded', retry_after: 5 };
    expect((await upstreamError(submit({ status: 429, json }))).retryAfterMs).toBe(5_000);
    const headers = { 'retry-after': '9' };
    expect((await upstreamError(submit({ status: 429, json, headers }))).retryAfterMs).toBe(9_000);
  });
});

describe('a status', () => {
  const job = (fields: object) => ({ json: { id, result: null, details: null, ...fields } });

  it.each(['Pending', 'Reasoning', 'Upscaling', 'Queued'])('%s is running', async (word) => {
    expect(await status(job({ status: word })).result).toEqual({ state: 'pending', phase: 'running' });
    expect(await status(job({ state: word })).result).toEqual({ state: 'pending', phase: 'running' });
  });

  it('Ready contains its file, until the signature ends, and its price', async () => {
    const url = 'https://delivery.example.com/results/a.mp4?se=2026-11-21T10%3A10%3A00Z&sig=x';
    expect(await status({ json: fixture('bfl/ready') }).result).toEqual({
      state: 'succeeded',
      items: [{ url, expiresAt: now / 1000 + 600 }],
      facts: {},
      cost: { amount: '3.5', unit: 'credits' },
      endedAt: 1_736_870_941_900,
    });
  });

  it.each([
    ['flux-2-pro', 600],
    ['flux-3-image', 3600],
  ])(
    'of %s: a link without an end is valid for %d s from the end of the job, or else from now',
    async (model, life) => {
      const ready = (result: object) =>
        status(job({ status: 'Ready', result: { sample: 'https://x.example/a.png', ...result } }), { model })
          .result;
      expect(await ready({ end_time: 1_700_000_000.9 })).toMatchObject({
        items: [{ expiresAt: 1_700_000_000 + life }],
        facts: { images: 1 },
      });
      expect(await ready({})).toMatchObject({ items: [{ expiresAt: now / 1000 + life }] });
    },
  );

  it.each([
    [{ cost: 4 }, '4'],
    [{ cost: '0.25' }, '0.25'],
    [{ cost: null }, '3'],
    [{}, '3'],
    [{ cost: 0 }, '3'],
    [{ cost: -1 }, '3'],
  ])('of %j costs %s credits', async (fields, amount) => {
    const { result } = status(job({ status: 'Ready', result: { sample: 'https://x.example/a' }, ...fields }));
    expect(await result).toMatchObject({ cost: { amount, unit: 'credits' } });
  });

  it.each([
    ['moderated', 'Request Moderated', 'Moderation Reasons: Protected Content', 'moderation_input', true],
    ['error', 'Error', 'error: out of memory', 'internal', undefined],
  ] as const)('the fixture %s', async (name, code, ...[message, kind, unbilled]) => {
    expect(await status({ json: fixture(`bfl/${name}`) }).result).toEqual({
      state: 'failed',
      code,
      message,
      failure: { class: kind },
      unbilled,
    });
  });

  it.each([
    [{ status: 'Content Moderated', details: 'too much' }, 'moderation_output', 'too much'],
    [{ status: 'Failed', details: 7 }, 'internal', 'The upstream gave no reason.'],
    [{ state: 'Error' }, 'internal', 'The upstream gave no reason.'],
  ])('%j', async (fields, kind, message) => {
    expect(await status(job(fields)).result).toMatchObject({
      state: 'failed',
      message,
      failure: { class: kind },
    });
  });

  it.each([200, 404])('with %d, an unknown job is gone', async (code) => {
    const answer = { status: code, ...job({ status: 'Task not found' }) };
    expect((await upstreamError(status(answer).result ?? Promise.resolve())).gone).toBe(true);
  });

  it.each<[string, CannedAnswer]>([
    ['a job without a file', job({ status: 'Ready', result: {} })],
    ['a job without a result', job({ status: 'Ready' })],
    ['no word', { json: { id } }],
    ['no JSON', { text: 'ok' }],
    ['another job', { json: { id: 'other', status: 'Ready', result: { sample: 'https://x.example/a' } } }],
    ['a page of a proxy', { status: 502, text: '<html>' }],
    ['a page that is not there', { status: 404, json: { detail: 'Not Found' } }],
  ])('reports no state with %s', async (_, answer) => {
    expect((await upstreamError(status(answer).result ?? Promise.resolve())).gone).toBe(false);
  });
});

describe('a callback', () => {
  images.hears([
    [{ id, status: 'Ready', result: {}, timestamp: 't' }, true],
    [{ id, status: 'Error', error: 'e', message: 'm', timestamp: 't' }, true],
    [{ id, status: 'Pending' }, false],
    [{ id }, false],
    ['no object', false],
  ]);

  const body = { id, status: 'Ready' };
  const signature = createHmac('sha256', 's').update(JSON.stringify(body)).digest('hex');
  images.verifies({ body, now }, [
    ['signed', { 'x-bfl-signature': `sha256=${signature}` }, 's', true],
    ['signed in upper case', { 'x-bfl-signature': signature.toUpperCase() }, 's', true],
    ['signed with another secret', { 'x-bfl-signature': `sha256=${signature}` }, 't', false],
    ['with a wrong signature beside the secret', { 'x-bfl-signature': 'sha256=00', 'x-webhook-secret': 's' }, 's', false],
    ['with the secret itself', { 'x-webhook-secret': 's' }, 's', true],
    ['with another secret itself', { 'x-webhook-secret': 'x' }, 's', false],
    ['without a proof', {}, 's', false],
    ['without a proof, which no secret asks for', {}, undefined, true],
  ]); // prettier-ignore

  it.each([
    ['flux-2-pro', 'https://gateway.example.com/h'],
    ['flux-3-image', undefined],
  ])('is requested of a model that only calls back: %s', async (model, callbackUrl) => {
    const { json = {} } = await images.sentFor({}, model, { callbackUrl: 'https://gateway.example.com/h' });
    expect([json['webhook_url'], json['webhook_secret']]).toEqual([callbackUrl, undefined]);
  });
});
