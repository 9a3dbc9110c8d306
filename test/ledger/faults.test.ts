import { MongoBulkWriteError, type BulkWriteResult, type WriteError } from 'mongodb';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../src/ledger/ledger-errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { databaseUri, mongodbUri } from '../support/run-servers.ts';
import { faultsInOrder, faulty, useLedgerWorld, type WriteFault } from './support.ts';

const world = useLedgerWorld('test_ledger_faults');
let sound: Ledger;

beforeAll(async () => {
  sound = await world.openLedger();
});

const ledgerWith = (...faults: WriteFault[]) =>
  world.openLedger({ wrap: (collection) => faulty(collection, faultsInOrder(faults)) });

async function accountWith(amount: bigint): Promise<string> {
  const account = world.newAccount();
  await sound.credit({ account, amount, reference: 'start' });
  return account;
}

const holdRequest = (account: string, task: string, amount: bigint) => ({
  account,
  task: `${account}.${task}`,
  by: { key: 'key_1', model: 'video-1' },
  amount,
  basis: '{}',
  overdraftLimit: 0n,
});

const kindsOf = async (account: string) =>
  (await sound.entries(account, { limit: 100 })).map((entry) => entry.kind);

const outage: WriteFault[] = Array.from({ length: 6 }, () => 'refused');

describe('an insert whose response gets lost', () => {
  it.each(['lost', 'broken'] as const)('(%s) is found by its key and not done twice', async (fault) => {
    const account = await accountWith(100n);
    const ledger = await ledgerWith(fault);
    expect(await ledger.hold(holdRequest(account, 'a', 60n))).toMatchObject({ ok: true, replayed: true });
    expect(await kindsOf(account)).toEqual(['credit', 'hold']);
  });

  it('is not refused afterwards, although it took the last of the money', async () => {
    const account = await accountWith(60n);
    const ledger = await ledgerWith('lost', 'lost', 'lost');
    expect(await ledger.hold(holdRequest(account, 'a', 60n))).toMatchObject({ ok: true });
    expect(await sound.balance(account)).toMatchObject({ available: 0n, held: 60n });
  });

  it('in the middle of a batch, or after its first entry, loses and doubles nothing', async () => {
    const account = await accountWith(1000n);
    const ledger = await ledgerWith('cut', 'lost', 'refused', 'cut', 'cut');
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, n) => ledger.hold(holdRequest(account, `t${n}`, 10n))),
    );
    expect(results.every((result) => result.ok)).toBe(true);
    expect(await sound.balance(account)).toEqual({ available: 700n, held: 300n, seq: 31n });
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it('leaves one chain, even while another process keeps writing', async () => {
    const account = await accountWith(1000n);
    const ledger = await ledgerWith('lost', 'cut', 'lost', 'refused', 'lost');
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        await ledger.hold(holdRequest(account, `t${n}`, 10n));
        await sound.credit({ account, amount: 1n, reference: `r${n}` });
        await ledger.settle({ account, task: `${account}.t${n}`, held: 10n, amount: 15n });
      }),
    );
    expect(await sound.balance(account)).toMatchObject({ available: 1000n + 20n - 300n, held: 0n });
    expect(await world.chainFaults(account)).toEqual([]);
  });
});

describe('a settle that is cut off before its charge_extra', () => {
  async function halfSettled(): Promise<string> {
    const account = await accountWith(100n);
    await sound.hold(holdRequest(account, 'a', 60n));
    const dying = await ledgerWith('cut', ...outage);
    await expect(dying.settle({ account, task: `${account}.a`, held: 60n, amount: 150n })).rejects.toThrow(
      LedgerUnavailableError,
    );
    expect(await kindsOf(account)).toEqual(['credit', 'hold', 'settle']);
    expect(await world.chainFaults(account)).toMatchObject([{ invariant: 'settled_in_full' }]);
    return account;
  }

  it('is completed by a repeated settle, at the amount that was settled first', async () => {
    const account = await halfSettled();
    const result = await sound.settle({ account, task: `${account}.a`, held: 60n, amount: 140n });
    expect(result).toMatchObject({ charged: 150n, replayed: true });
    await sound.settle({ account, task: `${account}.a`, held: 60n, amount: 150n });
    expect(await kindsOf(account)).toEqual(['credit', 'hold', 'settle', 'charge_extra']);
    expect(await sound.balance(account)).toMatchObject({ available: -50n, held: 0n });
    expect(await world.chainFaults(account)).toEqual([]);
  });

  const operations: Readonly<Record<string, (ledger: Ledger, account: string) => Promise<unknown>>> = {
    settle: (ledger, account) => ledger.settle({ account, task: `${account}.a`, held: 60n, amount: 150n }),
    release: (ledger, account) => ledger.release({ account, task: `${account}.a`, held: 60n }),
    void: (ledger, account) => ledger.void({ account, task: `${account}.a` }),
    blockHold: (ledger, account) => ledger.blockHold({ account, task: `${account}.a`, note: 'a test' }),
    refund: (ledger, account) => ledger.refund({ account, task: `${account}.a`, amount: 10n }),
  };

  it.each(Object.entries(operations))('is completed by the next operation: %s', async (_, next) => {
    const account = await halfSettled();
    await next(sound, account);
    expect(await kindsOf(account)).toContain('charge_extra');
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it.each(Object.entries(operations))('is completed by %s even if that was cut off too', async (_, next) => {
    const account = await halfSettled();
    await next(await ledgerWith('cut', ...outage), account).catch((error: unknown) => {
      expect(error).toBeInstanceOf(LedgerUnavailableError);
    });
    await next(sound, account);
    expect(await kindsOf(account)).toContain('charge_extra');
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it('stays as it is if another account names the task', async () => {
    const account = await halfSettled();
    const other = await accountWith(100n);
    const task = `${account}.a`;
    await expect(sound.void({ account: other, task })).rejects.toThrow(`belongs to account ${account}`);
    expect(await sound.refund({ account: other, task, amount: 1n })).toMatchObject({
      refused: 'not_settled',
    });
    expect(await kindsOf(other)).toEqual(['credit']);
  });
});

describe('a MongoDB that does not respond', () => {
  it('fails the operation as unknown, and the next one works', async () => {
    const account = await accountWith(100n);
    const ledger = await ledgerWith(...outage);
    await expect(ledger.hold(holdRequest(account, 'a', 60n))).rejects.toThrow(LedgerUnavailableError);
    expect(await kindsOf(account)).toEqual(['credit']);
    expect(await ledger.hold(holdRequest(account, 'a', 60n))).toMatchObject({ ok: true, replayed: false });
  });

  it('fails everything that waits in its batch, and a repeat reports what was done', async () => {
    const account = await accountWith(100n);
    const ledger = await ledgerWith('cut', ...outage);
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((task) => ledger.hold(holdRequest(account, task, 10n))),
    );
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await kindsOf(account)).toEqual(['credit', 'hold']);
    const repeated = await Promise.all(
      ['a', 'b', 'c'].map((task) => sound.hold(holdRequest(account, task, 10n))),
    );
    expect(repeated.map((result) => result.ok && result.replayed)).toEqual([true, false, false]);
  });
});

const bulkError = (code: number, writeErrors: readonly { readonly index: number }[], concern?: object) =>
  new MongoBulkWriteError({ message: `${code}`, code, writeErrors: writeErrors as unknown as WriteError[] }, {
    getWriteConcernError: () => concern,
  } as unknown as BulkWriteResult);

describe('the response to an insert', () => {
  const ledgerThatFailsOnce = (failure: unknown) => {
    const failures = [failure];
    const nextFailure = () => failures.shift();
    return world.openLedger({ wrap: (collection) => faulty(collection, () => undefined, nextFailure) });
  };

  it.each<[string, unknown]>([
    // A primary that is being voted out may respond like this: one entry was written, the next is a duplicate, and
    // there is no majority. The entry is then rolled back, which the test simulates by never writing it.
    [
      'that says duplicate, and that no majority has confirmed it',
      bulkError(11_000, [{ index: 1 }], { code: 64 }),
    ],
    ['that says no majority has confirmed it', bulkError(64, [], { code: 64 })],
    ['that the server has no memory for one of them', bulkError(365, [{ index: 1 }])],
    ['that the server is not the primary now', bulkError(10_107, [])],
  ])('%s is followed by another attempt', async (_, failure) => {
    const account = await accountWith(100n);
    const ledger = await ledgerThatFailsOnce(failure);
    const results = await Promise.all(['a', 'b'].map((task) => ledger.hold(holdRequest(account, task, 10n))));
    expect(results).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await kindsOf(account)).toEqual(['credit', 'hold', 'hold']);
    expect(await world.chainFaults(account)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['that says an entry is not valid', bulkError(121, [{ index: 0 }])],
    ['that says the command is not valid', bulkError(9, [])],
  ])('%s is not followed by another attempt', async (_, failure) => {
    const account = await accountWith(100n);
    const ledger = await ledgerThatFailsOnce(failure);
    await expect(ledger.hold(holdRequest(account, 'a', 10n))).rejects.toBe(failure);
    expect(await kindsOf(account)).toEqual(['credit']);
  });
});

/** A proxy between driver and server can cut the connection instead of responding. */
describe('a connection that breaks on the wire', () => {
  let proxy: Server;
  let uri: string;
  let answersToLose = 0;
  let answersLost = 0;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    const target = new URL(mongodbUri());
    proxy = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      let inserting = false;
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          near.destroy();
          far.destroy();
          sockets.delete(socket);
        });
      }
      near.on('data', (data) => {
        inserting = data.includes('insert\0');
        far.write(data);
      });
      far.on('data', (data) => {
        if (inserting && answersToLose > 0) {
          answersToLose -= 1;
          answersLost += 1;
          near.destroy();
          return;
        }
        near.write(data);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const through = new URL(databaseUri('test_ledger_faults'));
    through.port = String((proxy.address() as AddressInfo).port);
    uri = through.toString();
  });

  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  });

  it('after the server wrote: the operation takes effect once', async () => {
    const account = await accountWith(1000n);
    const ledger = await world.openLedger({ uri });
    await ledger.balance(account);
    for (let n = 0; n < 5; n += 1) {
      answersToLose = 1 + (n % 2);
      expect(await ledger.hold(holdRequest(account, `t${n}`, 10n))).toMatchObject({ ok: true });
      const settled = await ledger.settle({ account, task: `${account}.t${n}`, held: 10n, amount: 12n });
      expect(settled).toMatchObject({ closed: 'settled', charged: 12n });
    }
    expect(answersLost).toBeGreaterThanOrEqual(5);
    expect(await sound.balance(account)).toEqual({ available: 940n, held: 0n, seq: 16n });
    expect(await world.chainFaults(account)).toEqual([]);
  });
});
