import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { resolveTemporal } from '../../src/local/servers/temporal-source.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { openFallbackWorld } from '../life/fallback-world.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { cacheDir } from '../support/cache-dir.ts';

/**
 * This is not a test. It runs tasks on a real gateway and saves their histories for replay.test.ts. Run
 * `RECORD_HISTORIES=1 npx vitest run test/workflows/record-histories.ts`.
 */
const historiesDir = fileURLToPath(new URL('histories', import.meta.url));
const projectDir = fileURLToPath(new URL('../..', import.meta.url));

async function save(gateway: TestGateway, name: string, id: string): Promise<void> {
  const temporal = await resolveTemporal({
    dataDir: cacheDir,
    report: () => undefined,
    environment: process.env,
  });
  await mkdir(historiesDir, { recursive: true });
  const handle = gateway.core.client.workflow.getHandle(id);
  await handle.result();
  const show = ['workflow', 'show', '--workflow-id', id, '--output', 'json', '--address', temporalAddress()];
  const { stdout } = await promisify(execFile)(temporal, show, { maxBuffer: 10_000_000 });
  // Stack traces contain file names of the machine that made the recording.
  const anonymous = stdout.replaceAll(projectDir, '').replace(/[^" (]*(?=\/node_modules\/)/g, '');
  await writeFile(`${historiesDir}/${name}.json`, anonymous);
}

it('writes the histories of every kind of ending', async () => {
  const gateway = await startGateway({ environment: { PAYLOAD_ENCRYPTION: 'off' } });
  const receiver = await startCallbackReceiver();
  const account = await gateway.account();
  const run = async (
    name: string,
    body: Record<string, unknown>,
    act?: (id: string, owner: TestAccount) => Promise<void>,
  ) => {
    const created = await account.create(body);
    await act?.(created.body.id, account);
    await account.finished(created.body.id);
    await save(gateway, name, created.body.id);
  };
  await run('succeeded-with-callback', { metadata: { callback_url: receiver.url } });
  await run('failed', { prompt: 'a [sim:failed]' });
  await run('rejected', { prompt: 'b [sim:moderation]' });
  await run('expired', { prompt: 'c [sim:never-starts]', metadata: { execution_expires_after: 3 } });
  await run('lost-and-found', { prompt: 'd [sim:create:accepted-504]' });
  await run('cancelled', { prompt: 'e [sim:never-starts]' }, async (id, { call }) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await call('POST', `/v1/videos/generations/${id}/cancel`);
  });
  await run('cancelled-unsent', { prompt: 'f [sim:create:429]' }, async (id, { call }) => {
    await call('POST', `/v1/videos/generations/${id}/cancel`);
  });
  await run('ended-by-operator', { prompt: 'g [sim:create:timeout]' }, async (id) => {
    await new Promise((resolve) => setTimeout(resolve, 45_000));
    await actOn(gateway.admin, id, { action: 'fail', reason: 'recording' });
  });
  await receiver.close();
  await gateway.stop();
});

it('writes the history of a task whose job was replaced', async () => {
  const world = await openFallbackWorld({ environment: { PAYLOAD_ENCRYPTION: 'off' } });
  const account = await world.gateway.account();
  world.disturb('first', 'h-end', 'failed');
  const { body } = await account.create({ model: 'rescued', prompt: 'h-end' });
  await account.finished(body.id);
  expect(await world.attempts(body.id)).toEqual(['failed first', 'accepted second']);
  await save(world.gateway, 'replaced', body.id);
  await world.gateway.stop();
});
