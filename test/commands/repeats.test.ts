import { testSealing } from '../support/sealing.ts';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/observability/log.ts';
import { connectMongo, type Mongo } from '../../src/store/mongo.ts';
import { createRepeatStore, type RepeatRecord, type RepeatStore } from '../../src/store/repeats.ts';
import { defined } from '../../src/base/defined.ts';
import { clientRepeat, createRepeats } from '../../src/commands/repeats.ts';
import type {
  ClientTry,
  Claim,
  Claimed,
  Repeat,
  RepeatRequest,
  Repeats,
} from '../../src/commands/repeats.ts';
import type { RepeatEnd } from '../../src/commands/wait-for-repeat.ts';
import { databaseUri } from '../support/run-servers.ts';

let mongo: Mongo;
let now: number;
const paid = new Set<string>();

beforeAll(async () => {
  mongo = await connectMongo(databaseUri('repeats'));
});
beforeEach(async () => {
  await mongo.db.dropDatabase();
  now = Date.now();
  paid.clear();
});
afterEach(async () => {
  while (underWay.size > 0) {
    await Promise.allSettled(underWay);
    await setImmediate();
  }
});
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo.close();
});

const secret = Buffer.from('secret');

/**
 * Requests do not wait for these writes. The tests must, because a late write would end up in the database of the next
 * test.
 */
const underWay = new Set<Promise<void>>();

function store(): RepeatStore {
  const records = createRepeatStore(mongo.db, () => now, testSealing);
  return {
    ...records,
    note(claim, options) {
      const written = records.note(claim, options).finally(() => underWay.delete(written));
      underWay.add(written);
      return written;
    },
  };
}

function open(records: RepeatStore = store()): Repeats {
  return createRepeats({
    store: records,
    isPaid: async (made) => paid.has(made),
    keptBytesMax: 1000,
    secret,
    log: createLogger({ level: 'silent', format: 'json' }),
    now: () => now,
  });
}

const scope = ['acct_1', 'createImage'];
const keyed = (key: string, fingerprint = 'f'): Repeat => ({ kind: 'key', key, fingerprint });
/** `retries` is undefined if the client sends no retry count. `lose` drops the response. */
function sent(retries?: number, bodyBytes = '10') {
  const losses: (() => void)[] = [];
  const client = {
    ...defined({ retries }),
    target: '/v1/images/generations',
    bodyBytes,
    whenLost: (work: () => void) => void losses.push(work),
  };
  return { client, lose: () => losses.forEach((work) => work()) };
}
const tried = (client: ClientTry, fingerprint = 'f'): Repeat =>
  clientRepeat({ key: 'key_1' }, client, fingerprint);
const retried = (retries: number, fingerprint = 'f'): Repeat => tried(sent(retries).client, fingerprint);
const ask = (repeat: Repeat, by = scope) => ({ scope: by, repeat });
const taskId = (n: number): string => `task_${String(n).padStart(24, '0')}`;
const answer = { status: 200, mayRetry: true, parts: ['{"a":', Buffer.from([0, 255]), '}'] };
const bytes = Buffer.from([...Buffer.from('{"a":'), 0, 255, ...Buffer.from('}')]);
const uncancelled = (): AbortSignal => new AbortController().signal;
const waiting = (closed = uncancelled()) => ({ closed, reserve: () => undefined });

function first(claimed: Claimed): Claim {
  if (claimed.outcome !== 'first') throw new Error(`Not first: ${claimed.made} was.`);
  return claimed.claim;
}

function earlier(claimed: Claimed) {
  if (claimed.outcome !== 'earlier') throw new Error('The claim found no earlier request.');
  return claimed;
}

/** The attempt does not wait until it has been recorded, so the test must. */
const named = (task: string) =>
  expect.poll(() => mongo.db.collection('idempotency').countDocuments({ made: task })).toBe(1);

describe('a key', () => {
  it('belongs to the first of many simultaneous callers, in whichever process', async () => {
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, n) => open().claim(ask(keyed('k')), `img_${n}`)),
    );
    const [claim, ...more] = claims.flatMap((claimed) =>
      claimed.outcome === 'first' ? [claimed.claim] : [],
    );
    expect([claim === undefined, more.length]).toEqual([false, 0]);
    for (const claimed of claims) if (claimed.outcome === 'earlier') expect(claimed.made).toBe(claim?.made);
    await claim?.forget();
  });

  it('identifies what the first request creates from the first moment', async () => {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    expect(earlier(await open().claim(ask(keyed('k')), 'img_2'))).toMatchObject({
      made: 'img_1',
      record: { state: 'running' },
    });
    await claim.end();
    const again = earlier(await open().claim(ask(keyed('k')), 'img_2'));
    expect(await open().wait(again.record, waiting())).toEqual({ kind: 'not_kept' });
  });

  it('conflicts with a different request, running or done', async () => {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    const conflict = () => open().claim(ask(keyed('k', 'other')), 'img_2');
    await expect(conflict()).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await claim.end(answer);
    await expect(conflict()).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('is a different key for another account, route or process', async () => {
    const claims = [
      await open().claim(ask(keyed('k')), 'img_1'),
      await open().claim(ask(keyed('k'), ['acct_2', 'createImage']), 'img_2'),
      await open().claim(ask(keyed('k'), ['acct_1', 'editImage']), 'img_3'),
      await open().claim(ask(keyed('l')), 'img_4'),
      await open().claim(ask(retried(0)), 'img_5'),
    ];
    expect(claims.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => 'first'));
    for (const claimed of claims) await first(claimed).forget();
  });

  it('is free after exactly 24 hours', async () => {
    await first(await open().claim(ask(keyed('k')), 'img_1')).end(answer);
    now += 24 * 3_600_000 - 1;
    expect((await open().claim(ask(keyed('k')), 'img_2')).outcome).toBe('earlier');
    now += 1;
    const claims = await Promise.all(
      ['img_3', 'img_4', 'img_5'].map((made) => open().claim(ask(keyed('k', 'other')), made)),
    );
    const [claim, ...more] = claims.flatMap((claimed) =>
      claimed.outcome === 'first' ? [claimed.claim] : [],
    );
    expect([claim === undefined, more.length]).toEqual([false, 0]);
    await claim?.forget();
  });

  it('is free again if nothing was sent', async () => {
    await first(await open().claim(ask(keyed('k')), 'img_1')).forget();
    const claim = first(await open().claim(ask(keyed('k', 'other')), 'img_2'));
    expect(claim.made).toBe('img_2');
    await claim.forget();
  });

  it('identifies one task for any number of simultaneous callers, and is forgotten only under its name', async () => {
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, n) => open().claimTask(ask(keyed('k')), taskId(n))),
    );
    const [claim, ...more] = claims.filter(({ first: isFirst }) => isFirst);
    expect([claim === undefined, more.length]).toEqual([false, 0]);
    expect(new Set(claims.map(({ task }) => task))).toEqual(new Set([claim?.task]));
    if (claim === undefined) return;
    await open().forget({ ...claim, task: taskId(99) });
    expect((await open().claimTask(ask(keyed('k')), taskId(20))).first).toBe(false);
    await open().forget(claim);
    expect(await open().claimTask(ask(keyed('k')), taskId(20))).toMatchObject({
      task: taskId(20),
      first: true,
    });
  });

  it('is found by a request that knows an earlier one, and by no other', async () => {
    const knows = (asked: RepeatRequest) => open().knows(asked);
    expect(await knows(ask(keyed('k')))).toBe(false);
    await open().claimTask(ask(keyed('k')), taskId(1));
    await open().claimTask(ask(retried(0)), taskId(2));
    await expect.poll(() => knows(ask(retried(1)))).toBe(true);
    expect([
      await knows(ask(keyed('k'))),
      await knows(ask(keyed('l'))),
      await knows(ask(retried(0))),
    ]).toEqual([true, false, false]);
  });

  it('never returns a task instead of a response, or a response instead of a task', async () => {
    await open().claimTask(ask(keyed('task')), taskId(1));
    await first(await open().claim(ask(keyed('answer')), 'img_1')).end(answer);
    const reused = { code: 'idempotency_key_reused' };
    await expect(open().claim(ask(keyed('task')), 'img_2')).rejects.toMatchObject(reused);
    await expect(open().claimTask(ask(keyed('answer')), taskId(2))).rejects.toMatchObject(reused);
  });
});

describe('a client that sends a retry count', () => {
  it('makes two requests if it does not mark one as a repeat', async () => {
    await first(await open().claim(ask(retried(0)), 'img_1')).end(answer);
    await first(await open().claim(ask(retried(0)), 'img_2')).end(answer);
    const made = [
      earlier(await open().claim(ask(retried(1)), 'img_3')).made,
      earlier(await open().claim(ask(retried(1)), 'img_4')).made,
    ];
    expect(made.toSorted()).toEqual(['img_1', 'img_2']);
  });

  it('finds its first try for ten minutes', async () => {
    await first(await open().claim(ask(retried(0)), 'img_1')).end(answer);
    await first(await open().claim(ask(retried(0)), 'img_2')).end(answer);
    now += 10 * 60_000 - 1;
    expect((await open().claim(ask(retried(2)), 'img_3')).outcome).toBe('earlier');
    now += 1;
    const late = await open().claim(ask(retried(2)), 'img_4');
    expect(late.outcome).toBe('first');
    await first(late).forget();
  });

  it('also finds its task at every retry', async () => {
    await open().claimTask(ask(retried(0)), taskId(1));
    await named(taskId(1));
    expect(await open().claimTask(ask(retried(1)), taskId(2))).toMatchObject({
      task: taskId(1),
      first: false,
    });
    await expect.poll(() => mongo.db.collection('idempotency').countDocuments({ made: taskId(1) })).toBe(2);
    expect(await open().claimTask(ask(retried(2)), taskId(3))).toMatchObject({
      task: taskId(1),
      first: false,
    });
    expect((await open().claimTask(ask(retried(0)), taskId(4))).first).toBe(true);
    await named(taskId(4));
  });

  it('becomes the first if its first try never arrived', async () => {
    const claim = first(await open().claim(ask(retried(1)), 'img_1'));
    await claim.end(answer);
    expect(earlier(await open().claim(ask(retried(2)), 'img_2')).made).toBe('img_1');
  });

  it('continues the lost one of several, then starts the rejected ones again, then takes one with a response', async () => {
    const { target, bodyBytes } = sent().client;
    const refusal = { account: 'acct_1', key: 'key_1', target, bodyBytes };
    const one = await open().claimTask(ask(retried(0)), taskId(1));
    await open().claimTask(ask(retried(0)), taskId(2));
    await named(taskId(2));
    one.lost();
    await lostTries(1);
    await open().noteRefused(refusal);
    await open().noteRefused({ ...refusal, bodyBytes: '11' });
    await open().noteRefused({ ...refusal, target: '/v1/videos' });
    const retry = (n: number) => open().claimTask(ask(retried(1)), taskId(n));
    expect(await retry(3)).toMatchObject({ task: taskId(1), first: false });
    expect(await retry(4)).toMatchObject({ task: taskId(4), first: true });
    const last = await retry(5);
    expect(last.first).toBe(false);
  });

  it('claims each try once, however many retries arrive at the same time', async () => {
    const tries = Array.from({ length: 8 }, (_, n) => n);
    for (const n of tries) await open().claimTask(ask(retried(0)), taskId(n));
    for (const n of tries) await named(taskId(n));
    const again = await Promise.all(tries.map((n) => open().claimTask(ask(retried(1)), taskId(100 + n))));
    expect(new Set(again.map(({ task }) => task))).toEqual(new Set(tries.map(taskId)));
  });

  it('with another key repeats nothing', async () => {
    await open().claimTask(ask(retried(0)), taskId(1));
    await named(taskId(1));
    const other = clientRepeat({ key: 'key_2' }, sent(1).client, 'f');
    expect((await open().claimTask(ask(other), taskId(2))).first).toBe(true);
    await named(taskId(2));
  });
});

const lostTries = (count: number) =>
  expect.poll(() => mongo.db.collection('idempotency').countDocuments({ lost: true })).toBe(count);

describe('a client that sends no retry count', () => {
  const uncounted = () => tried(sent().client);

  it('causes no write if no response is lost', async () => {
    await open().claimTask(ask(uncounted()), taskId(1));
    await first(await open().claim(ask(uncounted()), 'img_1')).end(answer);
    expect(await mongo.db.collection('idempotency').countDocuments({})).toBe(0);
  });

  it('gets two tasks if both responses arrived, and one if the first was lost', async () => {
    const one = await open().claimTask(ask(uncounted()), taskId(1));
    expect((await open().claimTask(ask(uncounted()), taskId(2))).first).toBe(true);
    one.lost();
    await lostTries(1);
    expect(await open().claimTask(ask(uncounted()), taskId(3))).toMatchObject({
      task: taskId(1),
      first: false,
    });
    expect((await open().claimTask(ask(uncounted()), taskId(4))).first).toBe(true);
  });

  it('also continues after the loss of its second response', async () => {
    (await open().claimTask(ask(uncounted()), taskId(1))).lost();
    await lostTries(1);
    (await open().claimTask(ask(uncounted()), taskId(2))).lost();
    await lostTries(2);
    expect(await open().claimTask(ask(uncounted()), taskId(3))).toMatchObject({
      task: taskId(1),
      first: false,
    });
  });

  it('gets the images whose response was lost, before or after it was complete', async () => {
    const early = first(await open().claim(ask(uncounted()), 'img_1'));
    early.lost();
    await lostTries(1);
    const { record } = earlier(await open().claim(ask(uncounted()), 'img_2'));
    const waited = open().wait(record, waiting());
    await early.end(answer);
    expect(await waited).toMatchObject({ kind: 'answered', answer: { status: 200 } });

    const late = first(await open().claim(ask(uncounted()), 'img_3'));
    await late.end(answer);
    late.lost();
    await expect
      .poll(() => mongo.db.collection('idempotency').countDocuments({ made: 'img_3', state: 'done' }))
      .toBe(1);
    const again = earlier(await open().claim(ask(uncounted()), 'img_4'));
    expect(await open().wait(again.record, waiting())).toMatchObject({ kind: 'answered' });
  });
});

describe.each([
  { client: 'a client that sends a retry count', retryOf: (n: number) => sent(n) },
  { client: 'a client that sends no retry count', retryOf: () => sent() },
])('$client and loses several connections while the images render', ({ retryOf }) => {
  const tryOf = (n: number) => {
    const { client, lose } = retryOf(n);
    const repeat = tried(client);
    return { lose, claim: () => open().claim(ask(repeat), `img_${n}`) };
  };

  it('gets the images of its first request', async () => {
    const one = tryOf(0);
    const claim = first(await one.claim());
    claim.lost();
    await lostTries(1);
    for (const n of [1, 2, 3]) {
      const retry = tryOf(n);
      const { record } = earlier(await retry.claim());
      await expect(open().wait(record, waiting(AbortSignal.abort()))).rejects.toThrow('disconnected');
      retry.lose();
      await lostTries(n + 1);
    }
    await claim.end(answer);
    const { made, record } = earlier(await tryOf(4).claim());
    expect([made, (await open().wait(record, waiting())).kind]).toEqual(['img_0', 'answered']);
  });

  it('gets them also after an error that allows a retry', async () => {
    const claim = first(await tryOf(0).claim());
    claim.lost();
    await lostTries(1);
    await claim.end(answer);
    const { record, lost } = earlier(await tryOf(1).claim());
    const noRoom = () => {
      throw new Error('no room');
    };
    await expect(open().wait(record, { closed: uncancelled(), reserve: noRoom })).rejects.toThrow('no room');
    lost();
    await lostTries(2);
    expect(earlier(await tryOf(2).claim()).made).toBe('img_0');
  });

  it('begins again if the first request was forgotten, and only once', async () => {
    const claim = first(await tryOf(0).claim());
    claim.lost();
    await lostTries(1);
    const retry = tryOf(1);
    const { record } = earlier(await retry.claim());
    retry.lose();
    await lostTries(2);
    await claim.forget();
    expect(await open().wait(record, waiting())).toEqual({ kind: 'forgotten' });
    const again = first(await tryOf(2).claim());
    again.lost();
    await expect.poll(() => mongo.db.collection('idempotency').countDocuments({ made: 'img_2' })).toBe(1);
    expect(earlier(await tryOf(3).claim()).made).toBe('img_2');
    await again.end(answer);
  });
});

describe('a repeat waits', () => {
  it('for the response, which it gets byte for byte', async () => {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    const { record } = earlier(await open().claim(ask(keyed('k')), 'img_2'));
    const waited = open().wait(record, waiting());
    await claim.keep(answer);
    await claim.end();
    const end = await waited;
    if (end.kind !== 'answered') throw new Error(`It ended as ${end.kind}.`);
    expect(end.answer).toMatchObject({ status: 200, mayRetry: true });
    expect(Buffer.concat((end.answer.parts ?? []).map((part) => Buffer.from(part)))).toEqual(bytes);
  });

  it('for a failure that is final as well', async () => {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    await claim.end({ status: 500, mayRetry: false, parts: ['no'] });
    const { record } = earlier(await open().claim(ask(keyed('k')), 'img_2'));
    expect(await open().wait(record, waiting())).toMatchObject({
      kind: 'answered',
      answer: { status: 500, mayRetry: false },
    });
  });

  it('until the key is free', async () => {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    const { record } = earlier(await open().claim(ask(keyed('k')), 'img_2'));
    const waited = open().wait(record, waiting());
    await claim.forget();
    expect(await waited).toEqual({ kind: 'forgotten' });
  });

  it('without reading more than the other repeats of the same request together', async () => {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    const records = store();
    let reads = 0;
    let read = (): void => undefined;
    const mayRead = new Promise<void>((resolve) => (read = resolve));
    const repeats = open({
      ...records,
      async find(id) {
        reads += 1;
        await mayRead;
        return records.find(id);
      },
    });
    const claims = await Promise.all(
      Array.from({ length: 50 }, () => repeats.claim(ask(keyed('k')), 'img_2').then(earlier)),
    );
    const waits = claims.map(({ record }) => repeats.wait(record, waiting()));
    await expect.poll(() => reads).toBeGreaterThan(0);
    await claim.end(answer);
    read();
    for (const end of await Promise.all(waits)) expect(end.kind).toBe('answered');
    expect(reads).toBeLessThan(5);
  });

  it('no longer than its caller', async () => {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    const { record } = earlier(await open().claim(ask(keyed('k')), 'img_2'));
    await expect(open().wait(record, waiting(AbortSignal.abort()))).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    await claim.forget();
  });

  it('learns that a response was too large to be kept', async () => {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    await claim.end({ ...answer, parts: [Buffer.alloc(1001)] });
    const { record } = earlier(await open().claim(ask(keyed('k')), 'img_2'));
    expect(await open().wait(record, waiting())).toEqual({
      kind: 'answered',
      answer: { status: 200, mayRetry: true },
    });
  });
});

describe('of a process that died', () => {
  async function dies(kept: boolean) {
    const claim = first(await open().claim(ask(keyed('k')), 'img_1'));
    if (kept) await claim.keep(answer);
    const { record } = earlier(await open().claim(ask(keyed('k')), 'img_2'));
    return { claim, record };
  }

  async function waitFor(record: RepeatRecord): Promise<RepeatEnd> {
    const waited = open().wait(record, waiting());
    now += 60_000;
    return waited;
  }

  it.each([false, true])(
    'its progress is unknown, but the ledger shows what was charged: %s',
    async (isPaid) => {
      const { claim, record } = await dies(false);
      if (isPaid) paid.add('img_1');
      expect(await waitFor(record)).toEqual({ kind: 'abandoned', isPaid });
      await claim.forget();
    },
  );

  it('a stored response that was not charged is not delivered', async () => {
    const { claim, record } = await dies(true);
    expect(record.state).toBe('stored');
    expect(await waitFor(record)).toEqual({ kind: 'abandoned', isPaid: false });
    await claim.forget();
  });

  it('a stored and charged response is returned to everyone from then on', async () => {
    const { claim, record } = await dies(true);
    paid.add('img_1');
    expect(await waitFor(record)).toMatchObject({ kind: 'answered' });
    expect(earlier(await open().claim(ask(keyed('k')), 'img_3')).record.state).toBe('done');
    await claim.forget();
  });

  it('is noticed by repeats together, so that none waits for the whole time', async () => {
    const { claim, record } = await dies(false);
    const process = open();
    const brief = new AbortController();
    const first = process.wait(record, waiting(brief.signal));
    brief.abort();
    await expect(first).rejects.toMatchObject({ code: 'service_unavailable' });
    now += 59_999;
    const second = process.wait(record, waiting());
    now += 1;
    expect(await second).toEqual({ kind: 'abandoned', isPaid: false });
    await claim.forget();
  });

  it('is distinguished from a live one, whatever the observer’s clock says', async () => {
    const { claim, record } = await dies(false);
    now += 3 * 60_000;
    const waited = open().wait(record, waiting());
    now += 59_999;
    await claim.end(answer);
    expect(await waited).toMatchObject({ kind: 'answered' });
  });

  it('is distinguished from one that renews its claim', async () => {
    const { claim, record } = await dies(false);
    const looks: number[] = [];
    const records = store();
    const looking = { ...records, find: async (id: string) => found(await records.find(id)) };
    const found = (record?: RepeatRecord) => (looks.push(record?.beat ?? -1), record);
    const waited = open(looking).wait(record, waiting());
    for (const beat of [1, 2, 3]) {
      now += 50_000;
      await store().renew(record);
      await expect.poll(() => looks).toContain(beat);
    }
    await claim.end(answer);
    expect(await waited).toMatchObject({ kind: 'answered' });
  });

  it('a claim that was taken over by another is not changed by the first', async () => {
    const old = first(await open().claim(ask(keyed('k')), 'img_1'));
    now += 24 * 3_600_000;
    const fresh = first(await open().claim(ask(keyed('k')), 'img_2'));
    await old.end(answer);
    await old.forget();
    expect(earlier(await open().claim(ask(keyed('k')), 'img_3'))).toMatchObject({
      made: 'img_2',
      record: { state: 'running' },
    });
    await fresh.forget();
  });
});
