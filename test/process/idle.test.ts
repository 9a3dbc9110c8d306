import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openCountedLink } from '../../workshop/bench/support/counted-link.ts';
import { startGateway } from '../support/gateway.ts';
import { databaseUri } from '../support/run-servers.ts';

const countedSeconds = 15;
const countsMax = 12;
/**
 * An idle machine sends 1.7 commands per second (`npm run bench -- idle`). The limit is higher, because several loops
 * may run at the same time by chance.
 */
const commandsMax = countedSeconds * 4;

it('an idle API and worker send few commands to MongoDB', async () => {
  const uri = new URL(databaseUri('idle'));
  const link = await openCountedLink(Number(uri.port));
  onTestFinished(() => link.close());
  uri.port = String(link.port);
  const gateway = await startGateway({ environment: { MONGODB_URI: uri.href } });
  onTestFinished(() => gateway.stop());
  expect(link.take().size).toBeGreaterThan(0);
  // On a busy machine, startup may take longer than two counting periods.
  const counts: Commands[] = [];
  while (counts.length < countsMax && counts.filter(isIdle).length < 2) counts.push(await countCommands());
  expect(counts.filter(isIdle), `two counts are low: ${JSON.stringify(counts)}`).toHaveLength(2);

  async function countCommands(): Promise<Commands> {
    link.take();
    await sleep(countedSeconds * 1000);
    return [...link.take()];
  }
});

type Commands = readonly (readonly [name: string, count: number])[];

function isIdle(commands: Commands): boolean {
  const total = commands.reduce((sum, [, count]) => sum + count, 0);
  return commands.some(([name]) => name === 'find configuration') && total < commandsMax;
}
