import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorker } from '../../src/worker.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, videoCharge, type TestGateway } from '../support/gateway.ts';
import { expectSoundLedger } from '../support/sound-ledger.ts';
import { startStoppingApi } from '../support/start-stopping-api.ts';

/**
 * The worker dies at one of two points: before the charge is in the ledger, or afterwards, before the task's end is
 * recorded.
 */
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startGateway({ worker: false });
  account = await gateway.account();
});
afterAll(() => gateway.stop());

it.each([
  { at: 'ledger.append', closed: [], mark: '', kind: 'settle', status: 'succeeded', charge: videoCharge },
  {
    at: 'finish.closed',
    closed: ['settle'],
    mark: '',
    kind: 'settle',
    status: 'succeeded',
    charge: videoCharge,
  },
  {
    at: 'finish.closed',
    closed: ['release'],
    mark: ' [sim:fail]',
    kind: 'release',
    status: 'failed',
    charge: '0.000000',
  },
] as const)(
  'a worker that dies at $at: the task is closed once, by a $kind',
  async ({ at, closed, mark, ...end }) => {
    const prompt = `dies at ${at} of a ${end.kind}.`;
    const { body: created } = await account.create({ prompt: prompt + mark });
    const { id } = created;
    const dying = await startStoppingApi(gateway.environment, { at, works: true });
    await dying.closed;
    expect([dying.lines.at(-1), dying.child.signalCode]).toEqual([`reached ${at}`, 'SIGKILL']);
    const kinds = async () => (await gateway.core.ledger.entriesOfTask(id)).map(({ kind }) => kind);
    // The end must be decided but not yet recorded. Otherwise, this test proves nothing.
    expect(await kinds()).toEqual(['hold', ...closed]);
    expect(await gateway.core.stores.tasks.find(id)).toMatchObject({ state: { at: 'ending' } });

    const worker = await startWorker(gateway.core);
    try {
      expect(await account.finished(id)).toMatchObject({ status: end.status });
      const charge = BigInt(end.charge.replace('.', ''));
      expect(await gateway.core.stores.tasks.find(id)).toMatchObject({ charge });
      expect(await kinds()).toEqual(['hold', end.kind]);
      expect(gateway.simulator.submissions(prompt)).toMatchObject({ submits: 1 });
      expect(await account.balance()).toMatchObject({ held: '0.000000' });
      await expectSoundLedger(gateway.core);
    } finally {
      await worker.stop();
    }
  },
);
