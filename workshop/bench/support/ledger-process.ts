import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { openSecrets } from '../../../src/access/secrets.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import type { EntryDocument } from '../../../src/ledger/entry.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createTurnLines } from '../../../src/ledger/turn-lines.ts';
import { connectMongo } from '../../../src/store/mongo.ts';
import { createRootKeyStore } from '../../../src/store/root-key.ts';
import { benchKey, fillLedger, heldBasis, rawEntry, settledBasis } from './ledger-entries.ts';
import type { LedgerOrder, LedgerReport } from './ledger-entries.ts';
import { runLoad } from './load.ts';

/** One process of the bench `ledger`: does what it is ordered when it is told to, and reports. */

const batch = 100;
const countMax = 5_000_000;

process.once('message', (order: LedgerOrder) => {
  void (async () => {
    const mongo = await connectMongo(order.uri, { appName: 'bench-ledger' });
    process.send?.('ready');
    await new Promise((resolve) => process.once('message', resolve));
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    const { appends, ...more } = await carryOut(order, mongo.db);
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const report: LedgerReport = { appends, seconds, cpuMs: (user + system) / 1000, ...more };
    await mongo.close();
    process.send?.(report, () => process.exit(0));
  })();
});

type Mongo = Awaited<ReturnType<typeof connectMongo>>;

async function carryOut(
  order: LedgerOrder,
  db: Mongo['db'],
): Promise<Pick<LedgerReport, 'appends' | 'collisions'>> {
  const id = randomBytes(6).toString('hex');
  switch (order.work) {
    case 'insertOne':
    case 'insertMany': {
      const raw = db.collection<EntryDocument>('raw');
      let n = 0;
      const size = order.work === 'insertOne' ? 1 : batch;
      const { count } = await runLoad({
        ...order,
        countMax,
        once: async () => {
          const documents = Array.from({ length: size }, () => rawEntry(id, (n += 1)));
          const [first] = documents;
          if (size === 1 && first !== undefined) await raw.insertOne(first);
          else await raw.insertMany(documents, { ordered: true });
        },
      });
      return { appends: count * size };
    }
    case 'append': {
      let collisions = 0;
      const meter = { beginAppend: () => () => undefined, countCollision: () => (collisions += 1) };
      const ledger = createLedger({
        collection: ledgerCollection(db),
        lines: createTurnLines(db, Date.now),
        key: benchKey,
        now: Date.now,
        meter,
      });
      let n = 0;
      const { count, failed, firstError } = await runLoad({
        ...order,
        countMax,
        once: async () => {
          n += 1;
          const account = order.accounts === 1 ? 'hot' : `a${n % order.accounts}`;
          const task = `img_${id}${n}`;
          const by = { key: 'key_1', model: 'video-1' };
          const held = await ledger.hold({
            account, task, by, amount: 100n, basis: heldBasis, overdraftLimit: 10n ** 12n,
          }); // prettier-ignore
          const hold = held.ok ? held.entry : undefined;
          if (hold === undefined) throw new Error('a hold was refused');
          await ledger.settle({ account, task, held: 100n, hold, amount: 70n, basis: settledBasis });
        },
      });
      if (failed > 0) throw new Error(firstError);
      return { appends: 2 * count, collisions };
    }
    case 'fill': {
      const key = Buffer.from(order.secretsKey ?? '', 'base64');
      const secrets = await openSecrets([key], createRootKeyStore(db));
      return { appends: await fillLedger(db, { ...order, key: secrets.deriveKey('ledger') }) };
    }
  }
}
