import { describe, expect, it } from 'vitest';
import { runway } from '../../../src/providers/runway/index.ts';
import { fixture, type CannedAnswer } from '../support.ts';
import { imageTables, videoTables } from '../vendor-tables.ts';

const { video, imageTask } = runway;
if (video === undefined || imageTask === undefined) throw new Error('a capability is missing');

const id = '17f20503-6c24-4c16-946b-35dbbce2af2f';
const videos = videoTables(video, { model: 'veo3.1', operation: { id } });
const unknown = { status: 404, json: { error: 'Task not found.' } };

describe('a task', () => {
  it('that succeeded has a link that is valid for at least a day, and its cost', async () => {
    const { status, sent } = await videos.polled({ json: fixture('runway/succeeded') });
    expect(status).toEqual({
      state: 'succeeded',
      items: [
        { url: 'https://files.example.com/a.mp4?_jwt=x', expiresAt: Date.UTC(2026, 10, 22, 10) / 1000 },
      ],
      facts: {},
      cost: { amount: '150', unit: 'credits' },
    });
    expect(sent[0]).toMatchObject({
      method: 'GET',
      url: `https://upstream.example/api/v3/v1/tasks/${id}`,
      headers: { 'x-runway-version': '2024-11-06' },
    });
  });

  it.each([
    ['true', true],
    ['false', false],
  ])('shows whether there is sound, which the submission decided: %s', async (sound, generateAudio) => {
    const status = await videos.statusOf({ json: fixture('runway/succeeded') }, { id, sound });
    expect(status).toMatchObject({ facts: { generateAudio } });
  });

  it('with images counts them', async () => {
    const images = imageTables(imageTask, { operation: { id } });
    expect(await images.statusOf({ json: fixture('runway/images') })).toMatchObject({
      items: [{ url: 'https://files.example.com/1.png' }, { url: 'https://files.example.com/2.png' }],
      facts: { images: 2 },
    });
  });

  videos.reads([
    ['waiting', { json: fixture('runway/pending') }, { state: 'pending', phase: 'submitted' }],
    ['behind our own', { json: { id, status: 'THROTTLED' } }, { state: 'pending', phase: 'submitted' }],
    ['running', { json: fixture('runway/running') }, { state: 'pending', phase: 'running', progress: 45 }],
    ['of a new word', { json: { id, status: 'UPSCALING' } }, { state: 'pending', phase: 'running' }],
    ['without a word', { json: { id } }, { state: 'pending', phase: 'running' }],
    ['rejected by the model’s vendor', { json: { id, status: 'FAILED', failure: 'Invalid input', failureCode: 'THIRD_PARTY.INPUT_VALIDATION' } },
      { state: 'failed', code: 'THIRD_PARTY.INPUT_VALIDATION', message: 'Invalid input', failure: { class: 'invalid_input' } }],
    ['cancelled', { json: { id, status: 'CANCELLED' } },
      { state: 'failed', code: 'upstream_cancelled', message: 'The job was cancelled at the upstream.', failure: { class: 'cancelled' } }],
    [
      'failed',
      { json: fixture('runway/failed') },
      {
        state: 'failed',
        code: 'INTERNAL.BAD_OUTPUT.CODE01',
        message: 'An unexpected error occurred.',
        failure: { class: 'internal' },
        cost: { amount: '0', unit: 'credits' },
        unbilled: true,
      },
    ],
    ['failed without a reason', { json: { id, status: 'FAILED' } },
      { state: 'failed', code: 'failed', message: 'The upstream gave no reason.', failure: { class: 'internal' }, unbilled: true }],
  ]); // prettier-ignore

  it.each<[unknown, string | undefined]>([
    [150, '150'],
    [37.5, '37.5'],
    [0, '0'],
    [-1, undefined],
    [1e30, undefined],
    ['150', undefined],
    [null, undefined],
  ])('that says it cost %j', async (credits, amount) => {
    const json = { id, status: 'SUCCEEDED', output: ['https://files.example.com/a.mp4'], cost: { credits } };
    const status = await videos.statusOf({ json });
    expect(status?.state === 'succeeded' && status.cost?.amount).toBe(amount);
  });

  videos.readsNoState([
    ['it is not known', unknown, true, 'unknown_job'],
    ['it has no file', { json: { id, status: 'SUCCEEDED', output: [] } }, false, 'unreadable_answer'],
  ]);
});

const job = (status: string): CannedAnswer => ({ json: { id, status } });
const methodsOf = (sent: readonly { readonly method: string }[]) => sent.map(({ method }) => method);
videos.cancels(
  ['PENDING', 'THROTTLED'].map((status) => [
    `a job that is ${status} by deleting it`,
    [job(status), { status: 204, text: '' }],
    'cancelled',
  ]),
  (sent) => expect(methodsOf(sent)).toEqual(['GET', 'DELETE']),
);
videos.cancels(
  [
    ['nothing of a success, and leaves its files', job('SUCCEEDED'), 'refused'],
    ['nothing of a failure', job('FAILED'), 'refused'],
    ['nothing of a running job, which would be charged', job('RUNNING'), 'refused'],
    ['nothing of a job in an unknown state', job('NEW'), 'refused'],
    ['nothing of a cancelled job', job('CANCELLED'), 'cancelled'],
    ['nothing of an unknown job', unknown, 'gone'],
  ],
  (sent) => expect(methodsOf(sent)).toEqual(['GET']),
);
videos.cancels([
  ['a job that is deleted meanwhile', [job('PENDING'), unknown], 'cancelled'],
  ['a job in trouble', [job('PENDING'), { status: 500, json: { error: 'm' } }], 'ambiguous'],
]);

describe('a refusal', () => {
  const { refusalOf: refused } = videos;

  it('names the field, by its path or in its text', async () => {
    const issue = await refused({ status: 400, json: fixture('runway/refused') });
    expect(issue).toMatchObject({
      outcome: 'rejected',
      code: 'http_400',
      words: 'Validation of body failed `ratio` must be one of: 1280:720, 720:1280.',
      failure: { class: 'invalid_input', field: 'ratio' },
    });
    const asset = await refused({
      status: 400,
      json: { error: '`promptImage`: Only HTTPS URLs are allowed.' },
    });
    expect(asset.failure).toEqual({ class: 'invalid_input', field: 'promptImage' });
  });

  it('for the daily quota waits an hour, unless the response states another time', async () => {
    const json = { error: 'You have reached the daily limit of generations.' };
    expect(await refused({ status: 429, json })).toMatchObject({
      outcome: 'throttled',
      retryAfterMs: 3_600_000,
    });
    const reported = await refused({ status: 429, json, headers: { 'retry-after': '7' } });
    expect(reported).toMatchObject({ outcome: 'throttled', retryAfterMs: 7000 });
  });

  it.each([
    [400, 'rejected'],
    [401, 'unavailable'],
    [403, 'unavailable'],
    [404, 'rejected'],
    [405, 'rejected'],
    [408, 'ambiguous'],
    [413, 'rejected'],
    [500, 'ambiguous'],
    [502, 'ambiguous'],
    [503, 'ambiguous'],
    [504, 'ambiguous'],
  ])('with status %d is %s', async (status, outcome) => {
    expect((await refused({ status, json: { error: 'm' } })).outcome).toBe(outcome);
  });
});
