import { afterAll, beforeAll, expect, it } from 'vitest';
import { aiSdk } from '../../scripts/acceptance/ai-sdk.ts';
import type { Client } from '../../scripts/acceptance/check.ts';
import { startLossyProxy } from '../../scripts/acceptance/lossy-proxy.ts';
import type { LossyProxy } from '../../scripts/acceptance/lossy-proxy.ts';
import { openaiNode } from '../../scripts/acceptance/openai-node.ts';
import { pythonClients } from '../../scripts/acceptance/python-clients.ts';
import { runChecks } from '../../scripts/acceptance/run.ts';
import { contractYaml } from '../contract/same-interface.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

/** What `npm run acceptance` runs against a deployment, with the clients that npm has, against this gateway. */

let gateway: TestGateway;
let proxy: LossyProxy;
beforeAll(async () => {
  gateway = await startGateway({ yaml: contractYaml('http://127.0.0.1:1/v1'), worker: false });
  proxy = await startLossyProxy(`${gateway.url}/v1`);
});
afterAll(async () => {
  await proxy.close();
  await gateway.stop();
});

it.each<[string, () => Promise<Client>]>([
  ['openai', openaiNode],
  ['@ai-sdk/openai-compatible', aiSdk],
])('%s passes every check', async (_name, open) => {
  const account = await gateway.account();
  const client = await open();
  const lines: string[] = [];
  const before = gateway.simulator.submissions('a red cube');
  const tally = await runChecks(
    [client],
    {
      baseUrl: `${gateway.url}/v1`,
      key: account.key,
      model: 'gpt-image',
      fields: { quality: 'low' },
      lossyUrl: () => proxy.lossyUrl(),
    },
    (line) => void lines.push(line),
  );
  const checks = 'checks' in client ? client.checks : [];
  expect(lines.filter((line) => !line.startsWith('ok'))).toEqual([]);
  expect(tally).toEqual({ passed: checks.length, failed: 0, skipped: 0 });
  // What was lost in transit was made once.
  const paid = checks.filter(({ cost }) => cost !== 'nothing').length;
  const after = gateway.simulator.submissions('a red cube');
  expect(after.submits - before.submits).toBe(paid);
  expect(after.creates - before.creates).toBe(paid);
  expect(await account.balance()).toMatchObject({ available: (100 - paid * 0.04).toFixed(6) });
});

it('a client that is not there is skipped, and the reason is said', async () => {
  const clients = await pythonClients('no-such-python');
  const lines: string[] = [];
  const target = { baseUrl: '', key: '', model: '', fields: {}, lossyUrl: () => '' };
  expect(await runChecks(clients, target, (line) => void lines.push(line))).toEqual({
    passed: 0,
    failed: 0,
    skipped: 2,
  });
  expect(lines).toEqual([
    'skip  openai (Python): there is no no-such-python',
    'skip  LiteLLM: there is no no-such-python',
  ]);
});
