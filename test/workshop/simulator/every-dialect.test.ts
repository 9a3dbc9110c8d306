import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { dialects } from '../../../workshop/simulator/dialects.ts';
import { callbackFaults, taskFaults, transportFaults } from '../../../workshop/simulator/fault.ts';
import { jobRows, pictureRows } from './dialect-rows.ts';
import type { Ask, JobRow, PictureRow } from './dialect-rows.ts';
import { startHarness, startReceiver, testWorld } from './support.ts';
import type { Answer, Harness } from './support.ts';

/** What all dialects have in common: every fault mark on every row, lives of jobs, links, callbacks and restarts. */

const renderSeconds = 8;
const harness = await startHarness({ renderSeconds });
const { control } = harness;
afterAll(() => harness.close());

type Row = JobRow | PictureRow;
const send = (row: Row, [method, path, body]: Ask, on: Harness = harness): Promise<Answer> =>
  on.call(method, path, body, row.headers);
const create = (row: Row, fault: string) => send(row, row.create(`a boat [sim:${fault}]`));
const jobs = () => control.tasks('a boat').length;
const made = () => control.submissions('a boat').creates;

/** Refused before anything was made, in the words of a proxy or in none. */
const proxied: Readonly<Record<string, number>> = { 502: 502, 504: 504, redirect: 302 };
/** Answers that are spoilt after the work was done. */
const spoilt: Readonly<Record<string, (answer: Answer) => void>> = {
  'accepted-500': ({ status }) => expect([200, 500]).toContain(status),
  'accepted-502': ({ status }) => expect(status).toBe(502),
  'accepted-504': ({ status }) => expect(status).toBe(504),
  malformed: ({ text }) => expect(() => JSON.parse(text)).toThrow(),
  empty: ({ text }) => expect(text).toBe(''),
  html: ({ text }) => expect(text).toMatch(/^<html>/),
  gzip: ({ headers }) => expect(headers.get('content-encoding')).toBe('gzip'),
  'huge-body': ({ text }) => expect(text.length).toBeGreaterThan(1024 * 1024),
  'slow-loris': ({ status }) => expect(status).toBeLessThan(300),
  slow: ({ status }) => expect(status).toBeLessThan(300),
  // Words of one vendor: nothing to the others.
  'sdk-shape': ({ status }) => expect(status).toBeLessThan(300),
  'no-content': ({ status }) => expect(status).toBeLessThan(300),
};
const unanswered = ['reset', 'timeout', 'accepted-then-silent'];
const argument: Readonly<Record<string, string>> = {
  'huge-body': '=2',
  'slow-loris': '=0.05',
  slow: '=0.01',
  timeout: '=0.05',
};

describe.each([...jobRows, ...pictureRows])('$name', (row) => {
  beforeEach(() => {
    control.reset();
    control.setRenderSeconds('pictures' in row ? 0 : renderSeconds);
  });

  it.each(transportFaults.filter((fault) => row.refused[fault] !== undefined))(
    'words the fault %s',
    async (fault) => {
      const { status, body } = await create(row, fault);
      expect(`${status} ${String(row.code(body))}`).toBe(row.refused[fault]);
      expect([jobs(), made()]).toEqual([0, 0]);
    },
  );

  it('has every other fault of an exchange', async () => {
    for (const fault of transportFaults) {
      control.reset();
      const marked = `${fault}${argument[fault] ?? ''}`;
      if (row.refused[fault] !== undefined || fault === 'moderation') continue;
      if (unanswered.includes(fault)) {
        await expect(create(row, marked)).rejects.toThrow('fetch failed');
        expect([fault, made()]).toEqual([fault, fault === 'accepted-then-silent' ? 1 : 0]);
      } else if (fault === '429-date') {
        const { body, status } = await create(row, marked);
        expect(`${status} ${String(row.code(body))}`).toBe(row.refused['429']);
      } else if (proxied[fault] !== undefined) {
        expect([fault, (await create(row, marked)).status, made()]).toEqual([fault, proxied[fault], 0]);
      } else {
        const judge = spoilt[fault];
        if (judge === undefined) throw new Error(`no test knows ${fault}`);
        judge(await create(row, marked));
        expect([fault, made()]).toEqual([fault, 1]);
      }
    }
  });

  it('refuses a key that is missing or wrong, and what is not JSON', async () => {
    const [method, path, body] = row.create('a boat');
    const keyless = { ...row.headers, authorization: '', 'x-key': '', 'x-goog-api-key': '' };
    const wrong = {
      ...row.headers,
      authorization: 'Bearer wrong',
      'x-key': 'wrong',
      'x-goog-api-key': 'wrong',
    };
    for (const headers of [keyless, wrong]) {
      const answer = await harness.call(method, path, body, headers);
      if (answer.status === 200) expect(row.code(answer.body)).toBe(1004);
      else expect(answer.status).toBeGreaterThanOrEqual(400);
    }
    const broken = await send(row, [method, path, []]);
    if (broken.status === 200) expect(row.code(broken.body)).toBe(2013);
    else expect([400, 422]).toContain(broken.status);
    expect(jobs()).toBe(0);
  });
});

describe.each(jobRows)('a job of $name', (row) => {
  beforeEach(() => {
    control.reset();
    control.setRenderSeconds(renderSeconds);
  });
  const { words } = row;

  async function accepted(fault = '', hook?: string) {
    const { status, body } = await send(row, row.create(`a boat ${fault}`, hook));
    expect(status).toBeLessThan(300);
    return body;
  }
  const polled = async (job: unknown) => row.word(await send(row, row.poll(job)));
  /** The answer with the link, and the answer to the poll. */
  async function ended(fault = '') {
    const job = await accepted(fault);
    control.advance(renderSeconds + 1);
    const answer = await send(row, row.poll(job));
    if (row.result === undefined) return answer;
    return send(row, row.result(job, answer.body));
  }
  const open = (url = '') => fetch(url, { headers: row.headers ?? {} });

  it('moves through its words to a file that opens, until its link expires', async () => {
    const job = await accepted();
    expect(await polled(job)).toBe(words.queued);
    control.advance(4);
    expect(await polled(job)).toBe(words.running);
    control.advance(5);
    expect(await polled(job)).toBe(words.succeeded);
    control.reset();
    const { body } = await ended();
    const link = row.link(body);
    const file = await open(link);
    expect([file.status, file.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^(video|image)\//),
    ]);
    if (row.isDelivered === true) return;
    control.advance(40 * 86_400);
    expect((await open(link)).status).toBe(403);
  });

  it('has every fault of a task', async () => {
    const plain = row.used?.(await ended());
    if (row.used !== undefined) expect(plain).toBeDefined();
    /** The word after so many seconds. */
    const wordsAt = async (fault: string, ...seconds: readonly number[]) => {
      const job = await accepted(`[sim:${fault}]`);
      const seen: unknown[] = [];
      for (const step of seconds) {
        control.advance(step);
        seen.push(await polled(job));
      }
      return seen;
    };
    const tried: Readonly<Record<string, () => Promise<void>>> = {
      render: async () =>
        expect(await wordsAt('render=80', 20, 70)).toEqual([words.running, words.succeeded]),
      queue: async () => expect(await wordsAt('queue=30', 35, 10)).toEqual([words.running, words.succeeded]),
      'never-finishes': async () => expect(await wordsAt('never-finishes', 60)).toEqual([words.running]),
      'never-starts': async () => expect((await wordsAt('never-starts', 0, 60))[0]).toBe(words.queued),
      backwards: async () => expect((await wordsAt('backwards', 4.5, 4))[1]).toBe(words.succeeded),
      'unknown-status': async () => expect(await wordsAt('unknown-status', 4)).toEqual([words.unknown]),
      failed: async () => expect(await wordsAt('failed', 9)).toEqual([words.failed]),
      'moderation-in-task': async () =>
        expect(linkOf(await ended('[sim:moderation-in-task]'))).toBeUndefined(),
      'missing-url': async () => expect(linkOf(await ended('[sim:missing-url]'))).toBeUndefined(),
      'missing-usage': async () => expect(row.used?.(await ended('[sim:missing-usage]'))).toBeUndefined(),
      'usage-above': async () => {
        const above = row.used?.(await ended('[sim:usage-above=3]'));
        if (row.used !== undefined) expect(Number(above)).toBeGreaterThan(Number(plain));
      },
      'url-403': async () => {
        const link = row.link((await ended('[sim:url-403]')).body);
        expect((await open(link)).status).toBe(403);
      },
      vanishes: async () => {
        const job = await accepted('[sim:vanishes]');
        expect(await polled(job)).toBe(words.queued);
        control.advance(4);
        const { status, body } = await send(row, row.poll(job));
        const isGone = status >= 400 || row.code(body) === 2013 || JSON.stringify(body).includes('"data":[]');
        expect(isGone || row.word({ status, body } as Answer) === row.vanished).toBe(true);
      },
      bytes: async () => {
        const file = await open(row.link((await ended('[sim:bytes=300000]')).body));
        // WebP is never padded.
        const isPadded = file.headers.get('content-type') !== 'image/webp';
        expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(isPadded ? 299_900 : 20);
      },
    };
    for (const fault of taskFaults) {
      control.reset();
      await (tried[fault] ?? (() => accepted(`[sim:${fault}]`)))();
    }
  });

  function linkOf({ status, body }: Answer): string | undefined {
    if (status !== 200) return undefined;
    try {
      return row.link(body) === '' ? undefined : row.link(body);
    } catch {
      return undefined;
    }
  }

  it('has faults of each later exchange, as often as they say', async () => {
    const job = await accepted('[sim:poll:502*2]');
    const answers: number[] = [];
    for (let index = 0; index < 3; index += 1) answers.push((await send(row, row.poll(job))).status);
    expect([answers.slice(0, 2), answers[2] === 502]).toEqual([[502, 502], false]);
    const link = row.link((await ended('[sim:media:reset]')).body);
    await expect(open(link)).rejects.toThrow('fetch failed');
  });

  it('is kept over a restart', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'simulator-dialects-'));
    const options = { renderSeconds, stateFile: join(directory, 'state.jsonl') };
    const before = await startHarness(options);
    const { body } = await send(row, row.create('a boat [sim:usage-above=2]'), before);
    await before.close();
    const after = await startHarness(options);
    try {
      after.control.advance(renderSeconds + 2);
      expect(row.word(await send(row, row.poll(body), after))).toBe(words.succeeded);
    } finally {
      await after.close();
      await rm(directory, { recursive: true });
    }
  });
});

const calling = jobRows.filter(({ calls }) => calls === true);

it.each(calling.flatMap((row) => ['', ...callbackFaults].map((fault) => [row.name, fault, row] as const)))(
  '%s calls back as it should with "%s"',
  async (_, fault, row) => {
    control.reset();
    control.setRenderSeconds(renderSeconds);
    const receiver = await startReceiver();
    try {
      await send(row, row.create(fault === '' ? 'a boat' : `a boat [sim:${fault}]`, receiver.url));
      control.advance(4);
      control.advance(5);
      const ends = fault === 'callback-twice' ? 2 : 1;
      if (fault === 'callback-never') {
        // What comes to the other address shows that it would have come by now.
        const sound = await startReceiver();
        await send(row, row.create('a boat', sound.url));
        control.advance(9);
        await sound.waitFor(1);
        await sound.close();
        expect(receiver.received).toEqual([]);
        return;
      }
      const lastWords = () =>
        receiver.received.filter(({ body }) => JSON.stringify(body ?? '').includes('http')).length;
      if (fault === 'callback-failing') {
        await receiver.waitFor(1);
        expect(receiver.received.map(({ body }) => body)).not.toContain(expect.anything());
      } else await expect.poll(lastWords).toBeGreaterThanOrEqual(ends);
    } finally {
      await receiver.close();
    }
  },
);

it('every dialect has a row', () => {
  const world = testWorld();
  const paths = [...jobRows, ...pictureRows].map((row) => row.create('a boat')[1]);
  const unknown = dialects
    .map((createDialect) => createDialect(world).prefix)
    .filter((prefix) => !paths.some((path) => path.startsWith(`${prefix}/`)));
  // Its requests are forms alone: test/providers/stability has them.
  expect(unknown).toEqual(['/stability/v2beta/stable-image/generate']);
});
