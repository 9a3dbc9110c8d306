import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureLedgerIndexes, ledgerCollection } from '../../src/ledger/collection.ts';
import { LedgerUnavailableError } from '../../src/ledger/ledger-errors.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { connectMongo } from '../../src/store/mongo.ts';
import { startMongo, type TestMongo } from '../support/servers.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { heldText, settledText } from './support.ts';

let directory: string;
let server: TestMongo;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-ledger-crash-'));
  server = await startMongo({ dir: directory });
});

afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

async function persist<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
    }
  }
}

it('a server killed under load, twice, loses nothing it acknowledged and doubles nothing', async () => {
  const mongo = await connectMongo(server.uri);
  await ensureLedgerIndexes(mongo.db);
  const ledger = createLedger({
    collection: ledgerCollection(mongo.db),
    key: testLedgerKey,
    now: Date.now,
  });
  const accounts = ['a', 'b', 'c'];
  for (const account of accounts) await ledger.credit({ account, amount: 100_000n, reference: 'start' });

  let settled = 0;
  let over = false;
  const acknowledged = new Map<string, string>();
  const workers = Array.from({ length: 12 }, async (_, worker) => {
    const account = accounts[worker % accounts.length] ?? 'a';
    for (let n = 0; !over; n += 1) {
      const task = `img_${worker}-${n}`;
      const held = await persist(() =>
        ledger.hold({
          account,
          task,
          by: { key: 'key_1', model: 'video-1' },
          amount: 10n,
          basis: heldText,
          overdraftLimit: 0n,
        }),
      );
      if (held.ok) acknowledged.set(held.entry.id, held.entry.hash);
      const closed = await persist(() =>
        ledger.settle({ account, task, held: 10n, amount: 12n, basis: settledText(12n) }),
      );
      if (closed.closed === 'settled') acknowledged.set(closed.entry.id, closed.entry.hash);
      settled += 1;
    }
  });
  for (const _crash of [1, 2]) {
    const before = settled;
    while (settled < before + 60) await sleep(10);
    await server.kill();
    await server.restart();
  }
  const before = settled;
  while (settled < before + 60) await sleep(10);
  over = true;
  await Promise.all(workers);

  const { violations } = await verifyLedger({
    db: mongo.db,
    key: testLedgerKey,
    holders: async () => new Map(),
  });
  expect(violations).toEqual([]);
  const stored = await ledgerCollection(mongo.db).find().toArray();
  const byId = new Map(stored.map((entry) => [entry._id, entry.hash]));
  for (const [id, hash] of acknowledged) expect(byId.get(id)).toBe(hash);
  const balances = await Promise.all(accounts.map((account) => ledger.balance(account)));
  expect(balances.reduce((sum, { available }) => sum + available, 0n)).toBe(300_000n - 12n * BigInt(settled));
  await mongo.close();
});
