import { describe, expect, it } from 'vitest';
import { describeCall, errorOutcome, foundOutcome } from '../../src/flight/describe-call.ts';
import type { RawCall, RawExchange } from '../../src/flight/describe-call.ts';
import { recordedCallSchema } from '../../src/flight/recorded-call.ts';
import { UpstreamError, type HttpRequestOptions, type HttpResponse } from '../../src/providers/provider.ts';

const key = 'the-key-4711';
const signal = new AbortController().signal;

function callWith(exchanges: readonly RawExchange[], over: Partial<RawCall> = {}): RawCall {
  return {
    step: 'status',
    at: 1_000,
    ms: 20,
    channel: 'one',
    credential: 'a',
    provider: 'some',
    model: 'm',
    baseUrl: 'https://upstream.example/v1/',
    exchanges,
    outcome: { kind: 'pending', phase: 'running' },
    hidden: { secrets: [key], texts: ['a paper boat on a quiet pond'] },
    ...over,
  };
}

function exchangeOf(response: Partial<HttpResponse>, asked: Partial<HttpRequestOptions> = {}): RawExchange {
  return {
    asked: { method: 'GET', url: 'https://upstream.example/v1/jobs/1', signal, ...asked },
    at: 1_000,
    ms: 20,
    response: { status: 200, headers: {}, text: '', json: undefined, ...response },
  };
}

const answered = (json: unknown): RawExchange => exchangeOf({ json, text: JSON.stringify(json) });

function kept(call: RawCall) {
  const described = describeCall(call);
  expect(recordedCallSchema.parse(JSON.parse(JSON.stringify(described)))).toEqual(described);
  return described;
}

describe('headers of a response', () => {
  const headersOf = (headers: Record<string, string>) =>
    kept(callWith([exchangeOf({ headers })])).exchanges[0]?.headers;

  it('contain only those of the vendor, the date and the wait', () => {
    const headers = { date: 'Sun, 22 Nov 2026 14:00:00 GMT', 'retry-after': '3', 'x-request-id': 'r-1' };
    expect(headersOf({ ...headers, server: 'nginx', via: '1.1 proxy' })).toEqual(headers);
  });

  it.each([
    ['set for a key', { 'x-api-key': 'abc', 'x-auth': 'abc', 'x-amz-signature': 'abc', 'x-cookie': 'a=b' }],
    ['with our key in their value', { 'x-echo': `Bearer ${key}`, 'retry-after': key, 'content-type': key }],
    ['with our key in their name', { [`x-${key}`]: '1' }],
    ['longer than any that says something', { 'x-trace': 'y'.repeat(101) }],
  ])('are not kept when they are %s', (_, headers) => {
    expect(headersOf(headers)).toEqual({});
  });

  it('are at most ten, and contain none of the caller’s words', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`x-part-${n}`, `${n}`]));
    expect(Object.keys(headersOf(many) ?? {})).toHaveLength(10);
    expect(headersOf({ 'x-echo': 'a paper boat on a quiet pond' })).toEqual({ 'x-echo': '[caller]' });
  });
});

describe('a list that many tasks share', () => {
  const mine = { id: 'job-1', url: 'https://cdn.example/mine' };
  const theirs = { id: 'job-2', url: 'https://cdn.example/theirs' };
  const list = (over: Partial<RawCall>, json: unknown) =>
    kept(callWith([answered(json)], { step: 'list', model: '', ...over })).exchanges[0]?.body ?? '';

  it.each([
    ['at the top', [mine, theirs]],
    ['in a field', { total: 2, items: [theirs, mine] }],
    ['deep in it', { data: { page: { items: [{ job: theirs }, { job: mine }] } } }],
  ])('keeps only the job of its task: items %s', (_, json) => {
    const body = list({ operation: { id: 'job-1' } }, json);
    expect(body).toContain('cdn.example/mine');
    expect(body).not.toContain('theirs');
    expect(body).not.toContain('job-2');
  });

  it('finds the job by the submission’s marker, or by the found job, if no id is known yet', () => {
    const marked = [
      { ...mine, tag: 'marker-1' },
      { ...theirs, tag: 'marker-2' },
    ];
    expect(list({ step: 'find', marker: 'marker-1' }, marked)).not.toContain('theirs');
    const outcome = foundOutcome([{ operation: { id: 'job-1' } }]);
    expect(list({ step: 'find', marker: 'marker-3', outcome }, marked)).toContain('cdn.example/mine');
    expect(list({ step: 'find', marker: 'marker-3', outcome }, marked)).not.toContain('theirs');
  });

  it('keeps lists of plain words, which belong to no task', () => {
    expect(list({ operation: { id: 'job-1' } }, { states: ['queued', 'running'] })).toBe(
      '{"states":["queued","running"]}',
    );
  });
});

describe('data that is too large', () => {
  it('a request with many fields is reduced to the hash of its shape', () => {
    const json = Object.fromEntries(Array.from({ length: 79 }, (_, n) => [`field_${n}`, 'v'.repeat(60)]));
    const shape = kept(callWith([exchangeOf({}, { method: 'POST', json })])).exchanges[0]?.shape ?? '';
    expect(shape).toMatch(/^"\[\d{4} characters [0-9a-f]{16}\]"$/);
    const other = kept(callWith([exchangeOf({}, { method: 'POST', json: { ...json, field_1: 'w' } })]));
    expect(other.exchanges[0]?.shape).not.toBe(shape);
  });

  it('a response with many fields is reduced to its size and hash', () => {
    const exchange = kept(
      callWith([
        answered(Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`f${n}`, 'v'.repeat(80)]))),
      ]),
    ).exchanges[0];
    expect(exchange).toMatchObject({
      status: 200,
      json: true,
      hash: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(exchange?.bytes).toBeGreaterThan(4_000);
    expect(exchange?.body).toBeUndefined();
  });

  it('keeps the first exchanges of a call that never stops', () => {
    const call = kept(callWith(Array.from({ length: 50 }, (_, n) => answered({ n }))));
    expect(call.exchanges.map(({ body }) => body)).toEqual(
      Array.from({ length: 8 }, (_, n) => JSON.stringify({ n })),
    );
  });

  it('keeps twenty jobs of a search that finds everything', () => {
    const jobs = Array.from({ length: 500 }, (_, n) => ({ operation: { id: `job-${n}` } }));
    const outcome = foundOutcome(jobs);
    expect(kept(callWith([], { step: 'find', outcome })).outcome).toEqual({
      kind: 'found',
      operations: jobs.slice(0, 20).map(({ operation }) => operation),
    });
  });
});

it('a form keeps the names of its files, but not their contents', () => {
  const form = new FormData();
  form.append('model', 'm');
  form.append('prompt', 'a paper boat on a quiet pond');
  form.append('image', new Blob(['bytes']), 'private-name.png');
  const { shape = '' } = kept(callWith([exchangeOf({}, { method: 'POST', form })])).exchanges[0] ?? {};
  expect(JSON.parse(shape)).toEqual({ model: 'm', prompt: '[caller]', image: '[data]' });
});

it('an exchange without a response shows whether the request may have arrived', () => {
  const exchange = (error: unknown): RawExchange => ({
    asked: { method: 'POST', url: 'https://upstream.example/v1/jobs', signal },
    at: 1_000,
    ms: 20,
    error,
  });
  const errors = [
    new UpstreamError('not_sent', 'refused', { code: 'connect_failed' }),
    new UpstreamError('ambiguous', 'broke', { code: 'connection_lost' }),
    new UpstreamError('ambiguous', 'too large', { code: 'answer_too_large', status: 200 }),
    new TypeError('a defect of ours'),
  ];
  const { exchanges } = kept(callWith(errors.map(exchange)));
  expect(exchanges.map(({ failure, status }) => [failure, status])).toEqual([
    [{ outcome: 'not_sent', code: 'connect_failed' }, undefined],
    [{ outcome: 'ambiguous', code: 'connection_lost' }, undefined],
    [{ outcome: 'ambiguous', code: 'answer_too_large' }, 200],
    [undefined, undefined],
  ]);
});

it('a defect of the adapter is recorded by name only, because its message may contain anything', () => {
  expect(errorOutcome(new TypeError(`cannot read ${key}`))).toEqual({
    kind: 'crashed',
    message: 'TypeError',
  });
  expect(errorOutcome('thrown text')).toEqual({ kind: 'crashed', message: 'unknown' });
});
