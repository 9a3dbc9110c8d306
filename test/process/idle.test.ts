import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openCountedLink } from '../../workshop/bench/support/counted-link.ts';
import { startGateway } from '../support/gateway.ts';
import { databaseUri } from '../support/run-servers.ts';

const untilIdleMs = 16_000;
const countedSeconds = 15;
/** A quiet machine has 2.7 a second (`npm run bench -- idle`). The rest allows for rounds that fall due together. */
const commandsMax = countedSeconds * 4;

it('an idle API and worker send few commands to MongoDB', async () => {
  const uri = new URL(databaseUri('idle'));
  const link = await openCountedLink(Number(uri.port));
  onTestFinished(() => link.close());
  uri.port = String(link.port);
  const gateway = await startGateway({ environment: { MONGODB_URI: uri.href } });
  onTestFinished(() => gateway.stop());
  const busy = link.take();
  await sleep(untilIdleMs);
  link.take();
  await sleep(countedSeconds * 1000);
  const idle = link.take();
  expect(busy.size).toBeGreaterThan(0);
  expect(idle.get('find configuration')).toBeGreaterThan(0);
  const total = [...idle.values()].reduce((sum, n) => sum + n, 0);
  if (total >= commandsMax) throw new Error(`MongoDB got ${total} commands: ${JSON.stringify([...idle])}`);
});
