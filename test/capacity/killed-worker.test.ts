import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/processes.ts';

const limit = 2;
const yaml = testYaml.replace(
  'polls_per_second: 500 }',
  `polls_per_second: 500, concurrent_tasks: ${limit} }`,
);

describe('a worker that is killed while its tasks hold all slots', () => {
  let gateway: TestGateway;
  let directory: string;
  let worker: GatewayProcess;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mediary-killed-'));
    gateway = await startGateway({ yaml, worker: false, renderSeconds: 600 });
    await start('first.log');
  });
  afterAll(async () => {
    await worker.kill();
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  });

  function start(log: string): Promise<void> {
    worker = startGatewayProcess('worker', gateway.environment, join(directory, log));
    return worker.logged('"started"');
  }

  it('leaves the slots to the next worker: no third task runs meanwhile, none runs twice, and all end', async () => {
    const account = await gateway.account();
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      const { status, body } = await account.create({ prompt: `killed-${n}-end` });
      expect(status).toBe(200);
      ids.push(body.id);
    }
    let most = 0;
    const watching = setInterval(() => {
      const busy = gateway.simulator.tasks().filter(({ phase }) => phase === 'queued' || phase === 'running');
      most = Math.max(most, busy.length);
    }, 10);
    await expect.poll(() => gateway.simulator.tasks().length).toBe(limit);
    await expect
      .poll(() => gateway.core.mongo.db.collection('slot_tickets').countDocuments())
      .toBe(ids.length - limit);
    await worker.kill();
    await start('second.log');
    gateway.simulator.setRenderSeconds(1);
    gateway.simulator.advance(600);
    for (const id of ids) expect((await account.finished(id))['status']).toBe('succeeded');
    clearInterval(watching);
    expect(most).toBe(limit);
    for (let n = 0; n < ids.length; n += 1) {
      expect(gateway.simulator.submissions(`killed-${n}-end`)).toEqual({ submits: 1, creates: 1 });
    }
    await expect.poll(() => gateway.core.stores.slots.held()).toEqual([]);
  });
});
