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
import { z } from 'zod';
import { serve } from '../../stand/helper.ts';
import { benchKey, fillLedger, heldBasis, rawEntry, settledBasis } from './ledger-entries.ts';
import { ledgerOrder, type LedgerOrder } from './ledger-order.ts';
import { runLoad } from './load.ts';

/**
 * One process of the `ledger` benchmark. Its first message is an order, for which it prepares. When it receives `go`,
 * it carries out the order and then reports.
 */

const countMax = 5_000_000;

type Mongo = Awaited<ReturnType<typeof connectMongo>>;

let opened: { readonly order: LedgerOrder; readonly mongo: Mongo } | undefined;
serve(z.union([ledgerOrder, z.object({ work: z.literal('go') })]), async (order) => {
  if (order.work !== 'go') {
    opened = { order, mongo: await connectMongo(order.uri, { appName: 'bench-ledger' }) };
    return {};
  }
  if (opened === undefined) throw new Error('there is no order');
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const { appends, collisions = 0 } = await carryOut(opened.order, opened.mongo.db);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await opened.mongo.close();
  return { appends, seconds, cpuMs: (user + system) / 1000, collisions };
});

async function carryOut(
  order: LedgerOrder,
  db: Mongo['db'],
): Promise<{ readonly appends: number; readonly collisions?: number }> {
  const id = randomBytes(6).toString('hex');
  switch (order.work) {
    case 'insertOne': {
      const raw = db.collection<EntryDocument>('raw');
      let n = 0;
      const once = async () => void (await raw.insertOne(rawEntry(id, (n += 1))));
      const { count } = await runLoad({ ...order, countMax, once });
      return { appends: count };
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
          const account = 'hot';
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
