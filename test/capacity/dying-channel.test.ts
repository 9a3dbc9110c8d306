import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { choosePort } from '../../src/local/servers/ports.ts';
import { startSimulator, type Simulator } from '../../workshop/simulator/simulator.ts';
import { startGateway, testYaml, videoBody, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';

function yamlWith(url: string): string {
  const preferred = `channels:
  - id: preferred
    provider: ark
    base_url: ${url}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    priority: 10
    limits: { submits_per_second: 500, polls_per_second: 500 }
    timeouts: { submit_ms: 60000, poll_ms: 60000 }
    models: { seedance: { upstream: dreamina-seedance-2-0-260128 } }
`;
  return testYaml
    .replace('submit_ms: 10000, poll_ms: 10000', 'submit_ms: 60000, poll_ms: 60000')
    .replace('channels:\n', preferred);
}

describe('a channel that dies in the middle of traffic', () => {
  let directory: string;
  let dying: Simulator;
  let gateway: TestGateway;
  let account: TestAccount;
  const start = (port: number): Promise<Simulator> =>
    startSimulator({
      host: '127.0.0.1',
      port,
      apiKeys: ['simulated'],
      renderSeconds: 0.5,
      stateFile: join(directory, 'tasks.jsonl'),
    });
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mediary-dying-'));
    // Reserve the port, because the simulator restarts on it.
    dying = await start(await choosePort('any', 'the simulator'));
    gateway = await startGateway({ yaml: yamlWith(dying.url), renderSeconds: 0.5 });
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway.stop();
    await dying.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function create(count: number, prompt: string): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const { status, body } = await account.create({ prompt: `${prompt}-${index}-end` });
      expect(status).toBe(200);
      ids.push(body.id);
    }
    return ids;
  }

  const explain = async () =>
    (
      await account.call('POST', '/v1/videos/generations/estimate', {
        body: videoBody,
        headers: { 'x-explain-route': '1' },
      })
    ).body.route;

  it('fails no task that another channel can serve, submits none twice, and recovers', async () => {
    const early = await create(10, '[sim:render=4] early');
    await expect
      .poll(async () => (await gateway.core.stores.tasks.findMany(early)).map(({ status }) => status))
      .not.toContain('pending');
    expect(dying.control.submissions('early').creates).toBe(10);
    expect((await explain()).candidates[0].channel).toBe('preferred');

    await dying.close();
    const met = await create(10, 'late');
    for (const id of met) expect((await account.finished(id))['status']).toBe('succeeded');
    const late = [...met, ...(await create(10, 'later'))];
    for (const id of late) expect((await account.finished(id))['status']).toBe('succeeded');
    for (let index = 0; index < 10; index += 1) {
      for (const prompt of [`late-${index}-end`, `later-${index}-end`]) {
        expect(gateway.simulator.submissions(prompt)).toEqual({ submits: 1, creates: 1 });
      }
    }
    // An unreachable host opens the circuit only in this process, so the store lists none. Operators still see the
    // problem within five seconds.
    expect(await gateway.core.stores.circuits.list()).toEqual([]);
    const health = async () => (await gateway.admin('GET', '/admin/v1/channels')).body.data[0].health;
    await expect.poll(async () => (await health()).parts).toMatchObject([{ scope: 'host', credential: 'a' }]);
    expect((await explain()).candidates[0].channel).toBe('preferred');
    const tasks = await gateway.core.stores.tasks.findMany(late);
    const tried = tasks.filter(({ attempts }) =>
      attempts.some(({ channel }) => channel === 'preferred'),
    ).length;
    expect(tried).toBeGreaterThanOrEqual(5);
    expect(tried).toBeLessThan(late.length);

    dying = await start(dying.port);
    for (const id of early) expect((await account.finished(id))['status']).toBe('succeeded');
    // The restarted simulator counts only new requests, so none of the early tasks was submitted again.
    expect(dying.control.submissions('early').submits).toBe(0);
    expect(gateway.simulator.submissions('early').submits).toBe(0);

    let probes = 0;
    await expect
      .poll(async () => {
        const [probe = ''] = await create(1, `probe-${(probes += 1)}`);
        expect((await account.finished(probe))['status']).toBe('succeeded');
        return dying.control.submissions(`probe-${probes}-0-end`).creates;
      })
      .toBe(1);
  });

  it('still accepts tasks when its circuit is open and there is no other channel, and runs them when it recovers', async () => {
    const { body: switched } = await gateway.admin('POST', '/admin/v1/channels/ark', {
      enabled: false,
      reason: 'only the other one',
    });
    expect(switched.enabled).toBe(false);
    await expect.poll(async () => (await explain()).candidates).toHaveLength(1);
    const at = Date.now();
    gateway.clock.stoppedAt = at;
    const opened = { state: 'open', sign: 'account', code: 'AccountOverdue' } as const;
    await gateway.core.stores.circuits.write('preferred/a', {
      ...opened,
      coolDownMs: 15_000,
      until: at + 15_000,
      at,
    });
    await gateway.core.health.circuits.refresh();
    expect(await explain()).toMatchObject({
      candidates: [{ channel: 'preferred', credential: 'a' }],
      dropped: expect.arrayContaining([expect.objectContaining({ reason: 'circuit_open' })]),
    });
    const [waiting = ''] = await create(1, 'waiting');
    const seen = await account.call('GET', `/v1/videos/generations/${waiting}`);
    expect(seen.body.status).toBe('pending');
    gateway.clock.stoppedAt = undefined;
    expect((await account.finished(waiting))['status']).toBe('succeeded');
    expect(dying.control.submissions('waiting')).toEqual({ submits: 1, creates: 1 });
  });
});
