import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { choosePort } from '../../src/local/servers/ports.ts';
import { aiSdk } from '../../workshop/acceptance/ai-sdk.ts';
import type { Client } from '../../workshop/acceptance/check.ts';
import { startLossyProxy } from '../../workshop/acceptance/lossy-proxy.ts';
import type { LossyProxy } from '../../workshop/acceptance/lossy-proxy.ts';
import { openaiNode } from '../../workshop/acceptance/openai-node.ts';
import { pythonClients } from '../../workshop/acceptance/python-clients.ts';
import { runChecks } from '../../workshop/acceptance/run.ts';
import { submittingClients } from '../../workshop/acceptance/submitted-videos.ts';
import { videoClients } from '../../workshop/acceptance/videos.ts';
import { contractYaml } from '../contract/same-interface.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

/** What `npm run acceptance` runs against a deployment, with the clients that npm has, against this gateway. */

let gateway: TestGateway;
let proxy: LossyProxy;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-acceptance-'));
  const yaml = contractYaml('http://127.0.0.1:1/v1').replace(
    'currency: USD\n',
    'currency: USD\nresults: { storage: directory }\n',
  );
  // Its links to results have its port.
  const port = await choosePort('any', 'the test gateway');
  const environment = { DATA_DIR: directory, PORT: String(port) };
  gateway = await startGateway({ yaml, renderSeconds: 0.2, environment });
  proxy = await startLossyProxy(`${gateway.url}/v1`);
});
afterAll(async () => {
  await proxy.close();
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
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
      silentUrl: proxy.silentUrl,
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
  const clients = await pythonClients('no-such-python', { withVideos: false });
  const lines: string[] = [];
  const target = { baseUrl: '', key: '', model: '', fields: {}, lossyUrl: () => '', silentUrl: '' };
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

it('the clients of other interfaces make their videos', async () => {
  const account = await gateway.account();
  const lines: string[] = [];
  const tally = await runChecks(
    [...(await videoClients()), ...(await submittingClients())],
    {
      baseUrl: `${gateway.url}/v1`,
      key: account.key,
      model: 'gpt-image',
      videoModel: 'seedance',
      fields: {},
      lossyUrl: () => proxy.lossyUrl(),
      silentUrl: proxy.silentUrl,
    },
    (line) => void lines.push(line),
  );
  expect(lines.filter((line) => !line.startsWith('ok'))).toEqual([]);
  expect(tally).toEqual({ passed: 13, failed: 0, skipped: 0 });
});
