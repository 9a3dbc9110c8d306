import { describe, expect, it } from 'vitest';
import { providers } from '../../src/providers/index.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import type { OperationStatus, Provider, Submitted } from '../../src/providers/provider.ts';
import { withTypedAnswers } from '../../src/providers/typed-answers.ts';
import { canned, imageRequest, providerContext, submitContext, upstreamError } from './support.ts';
import { videoRequest } from './support.ts';
import { testOrigin } from '../support/test-origin.ts';

/** Adapters must return only typed values, whatever the upstream sends. */

const hostile = '\u001B[2J\u202Ex';
const about = { vendor: 'Test', inputs: 'text', unverified: [] };
const facts = { durationSeconds: 5, resolution: hostile, ratio: '16:9', size: '1280x720', quality: ' ' };

function adapterOf(job: Submitted, status: OperationStatus) {
  const provider: Provider = {
    about,
    video: {
      cancelUntil: 'never',
      facts: { origin: testOrigin, models: [], others: {} },
      submit: async () => job,
      status: async () => status,
      list: async () => new Map([['1', status]]),
      find: async () => [job],
    },
    image: {
      imageForms: [],
      facts: { origin: testOrigin, models: [], others: {} },
      generate: async () => ({
        images: [{ base64: 'QUJD' }],
        facts,
        extra: { quality: hostile, usage: { [hostile]: 1, list: [hostile, null, true] } },
      }),
    },
  };
  const { video, image } = withTypedAnswers(provider);
  const { list, find } = video ?? {};
  if (!video || !list || !find || !image) throw new Error('it has all of them');
  return { video, list, find, image };
}

const pending = { state: 'pending', phase: 'running' } as const;
const job = { operation: { id: 'job-1', path: '/v1' }, traceId: 'trace-1' };
const context = providerContext({});
const lost = { request: videoRequest(), marker: 'm', sentAfter: 0, sentBefore: 1 };

describe('a job', () => {
  it('passes unchanged', async () => {
    const { video, find } = adapterOf(job, pending);
    expect(await video.submit(videoRequest(), submitContext({}))).toEqual(job);
    expect(await find(lost, context)).toEqual([job]);
  });

  it.each<[string, Submitted['operation']]>([
    ['an id that terminals obey', { id: `job-1${hostile}` }],
    ['an id in words', { id: 'your job' }],
    ['an empty id', { id: '' }],
    ['an id that is too long', { id: 'x'.repeat(257) }],
    ['a part that terminals obey', { id: 'job-1', path: hostile }],
    ['parts that are too long', { id: 'job-1', path: 'x'.repeat(1_020) }],
  ])('with %s may have been accepted, but its response cannot be read', async (_, operation) => {
    const { video, find } = adapterOf({ operation }, pending);
    const unreadable = { outcome: 'ambiguous', code: 'unreadable_answer' };
    expect(await upstreamError(video.submit(videoRequest(), submitContext({})))).toMatchObject(unreadable);
    expect(await upstreamError(find(lost, context))).toMatchObject(unreadable);
  });

  it('loses an invalid trace id', async () => {
    const { video } = adapterOf({ ...job, traceId: hostile }, pending);
    expect(await video.submit(videoRequest(), submitContext({}))).toEqual({ operation: job.operation });
  });
});

const everyWay = async (status: OperationStatus) => {
  const { video, list } = adapterOf(job, status);
  return [await video.status({ id: '1' }, context), (await list([{ id: '1' }], context)).get('1')];
};

describe('a status, whichever way it was requested', () => {
  it('has no invalid trace id or fact', async () => {
    const status = { state: 'succeeded', items: [], facts, traceId: hostile } as const;
    const typed = {
      state: 'succeeded',
      items: [],
      facts: { durationSeconds: 5, ratio: '16:9', size: '1280x720' },
    };
    for (const seen of await everyWay(status)) expect(seen).toEqual(typed);
  });

  it.each([
    ['usage', { completionTokens: 1e307, totalTokens: 7 }, { totalTokens: 7 }],
    ['usage', { completionTokens: Number.NaN }, undefined],
    ['durationSeconds', 1e307, undefined],
    ['durationSeconds', -5, undefined],
    ['billedSeconds', Number.POSITIVE_INFINITY, undefined],
    ['images', -1, undefined],
  ])('drops impossible numbers, and reports that: %s %j', async (name, value, left) => {
    const status = { state: 'succeeded', items: [], facts: { ratio: '16:9', [name]: value } } as const;
    const kept = left === undefined ? {} : { [name]: left };
    for (const seen of await everyWay(status))
      expect(seen).toEqual({ ...status, facts: { ratio: '16:9', ...kept, incredible: true } });
  });

  it('keeps zero, and the largest possible number', async () => {
    const credible = {
      durationSeconds: 0,
      billedSeconds: 1e12,
      usage: { completionTokens: 0, totalTokens: 0 },
    };
    const status = { state: 'succeeded', items: [], facts: credible } as const;
    for (const seen of await everyWay(status)) expect(seen).toEqual(status);
  });

  it('of a failure has a token for its code and one plain line', async () => {
    const said = {
      code: `E${hostile}`,
      message: 'no\r\nway',
      failure: { class: 'internal', field: hostile },
    } as const;
    for (const seen of await everyWay({ state: 'failed', ...said })) {
      expect(seen).toEqual({
        state: 'failed',
        code: 'failed',
        message: 'E [2J x: no way',
        failure: { class: 'internal' },
      });
    }
  });
});

it('images have plain texts and facts', async () => {
  const { image } = adapterOf(job, pending);
  expect(await image.generate(imageRequest(), context)).toEqual({
    images: [{ base64: 'QUJD' }],
    facts: { durationSeconds: 5, ratio: '16:9', size: '1280x720' },
    extra: { quality: '[2J x', usage: { '[2J x': 1, list: ['[2J x', null, true] } },
  });
});

describe('an error', () => {
  const errorOf = (code: string, status?: number) =>
    new UpstreamError('rejected', `no\u0007 to ‘a boat’`, {
      code,
      ...(status === undefined ? {} : { status }),
      failure: { class: 'invalid_input', field: 'metadata.images[0]' },
    });

  it('keeps the upstream’s words separate: neither its message nor its stack shows them', () => {
    const error = errorOf('bad.Code-1');
    expect(error).toMatchObject({
      message: 'rejected: bad.Code-1',
      words: 'no to ‘a boat’',
      failure: { field: 'metadata.images[0]' },
    });
    expect(error.stack).not.toContain('a boat');
  });

  it('with an invalid code shows it among the words', () => {
    expect(errorOf('a boat', 400)).toMatchObject({ code: 'http_400', words: 'a boat: no to ‘a boat’' });
    expect(errorOf(hostile)).toMatchObject({ code: 'unnamed', message: 'rejected: unnamed' });
  });
});

describe('a query that is rejected', () => {
  const cost = { amount: '0.25', unit: 'USD' };
  const said = { code: 'moderated', failure: { class: 'moderation_output' } } as const;
  const asked = async (...[outcome, options]: [UpstreamError['outcome'], object]) => {
    const error = new UpstreamError(outcome, 'no', { ...said, status: 400, cost, ...options });
    const provider: Provider = {
      about,
      video: {
        cancelUntil: 'never',
        facts: { origin: testOrigin, models: [], others: {} },
        submit: async () => job,
        status: () => Promise.reject(error),
      },
    };
    return withTypedAnswers(provider).video?.status({ id: '1' }, context);
  };

  it.each([200, 400, 422])('for content ends the job, with the status %s', async (status) => {
    expect(await asked('rejected', { status })).toEqual({ state: 'failed', ...said, message: 'no', cost });
  });

  it.each<[string, UpstreamError['outcome'], object]>([
    ['for its input', 'rejected', { failure: { class: 'invalid_input' } }],
    ['for the key', 'rejected', { status: 403 }],
    ['for now', 'throttled', { failure: { class: 'capacity' } }],
    ['by an upstream that broke', 'ambiguous', { status: 500 }],
    ['for an unknown job', 'rejected', { gone: true }],
  ])('%s says nothing about the job', async (_, outcome, options) => {
    expect(await upstreamError(asked(outcome, options))).toMatchObject({ outcome });
  });
});

describe('a cancellation', () => {
  const cancelledJob = { code: 'upstream_cancelled', message: 'm', failure: { class: 'cancelled' } } as const;
  const failed = { state: 'failed', ...cancelledJob } as const;
  const gone = new UpstreamError('rejected', 'no', { code: 'unknown_job', gone: true });
  const said = async (answer: 'cancelled' | 'refused', after: OperationStatus | UpstreamError) => {
    const provider: Provider = {
      about,
      video: {
        cancelUntil: 'queued',
        facts: { origin: testOrigin, models: [], others: {} },
        submit: async () => job,
        status: () => (after instanceof UpstreamError ? Promise.reject(after) : Promise.resolve(after)),
        cancel: async () => answer,
      },
    };
    return withTypedAnswers(provider).video?.cancel?.({ id: '1' }, context);
  };

  it.each<[string, OperationStatus | UpstreamError, 'cancelled' | 'refused']>([
    ['is free', failed, 'cancelled'],
    ['costs nothing', { ...failed, cost: { amount: '0', unit: 'credits' } }, 'cancelled'],
    ['costs something', { ...failed, cost: { amount: '25', unit: 'credits' } }, 'refused'],
    ['has a result', { state: 'succeeded', items: [], facts: {} }, 'refused'],
    ['has not ended yet', pending, 'cancelled'],
    ['is no longer known', gone, 'cancelled'],
  ])('of a job that then %s', async (_, after, expected) => {
    expect(await said('cancelled', after)).toBe(expected);
  });

  it('that is refused stays refused', async () => {
    expect(await said('refused', failed)).toBe('refused');
  });
});

it.each(['ark', 'gateway'])('%s is typed in the shared table', async (name) => {
  const { request } = canned({ json: { id: hostile } });
  const submitted = providers[name]?.video?.submit(videoRequest(), submitContext({ request }));
  expect(await upstreamError(submitted ?? Promise.resolve())).toMatchObject({ code: 'unreadable_answer' });
});
