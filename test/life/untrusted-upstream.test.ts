import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker, type RunningWorker } from '../../src/worker.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, twoChannelsYaml, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { startForwarder, type Forwarder } from '../support/forwarder.ts';

const kindsOf = async ({ core }: TestGateway, task: string) =>
  (await core.ledger.entriesOfTask(task)).map(({ kind }) => kind);

describe('an upstream that no longer knows a job it has accepted', () => {
  const graceMs = 5 * 60_000;
  let gateway: TestGateway;
  let worker: RunningWorker;
  let account: TestAccount;
  let aheadMs = 0;
  beforeAll(async () => {
    gateway = await startGateway({ worker: false });
    worker = await startWorker({ ...gateway.core, now: () => gateway.core.now() + aheadMs });
    account = await gateway.account();
  });
  afterAll(async () => {
    await worker.stop();
    await gateway.stop();
  });

  it('leads to an operator, not to a failure, because it may be billed', async () => {
    const { body } = await account.create({ prompt: 'forgotten [sim:vanishes]' });
    const shown = async () => (await gateway.admin('GET', `/admin/v1/tasks/${body.id}`)).body;
    await waitUntil('the upstream has accepted it', async () => (await shown()).upstream_id !== null);
    aheadMs = graceMs;
    await waitUntil('an operator is asked', async () => (await shown()).needs_attention === 'poll_failed');
    expect(await shown()).toMatchObject({
      status: 'submitted',
      needs_attention: 'poll_failed',
      charge: null,
    });
    expect(await kindsOf(gateway, body.id)).toEqual(['hold']);
    expect(gateway.simulator.submissions('forgotten')).toEqual({ submits: 1, creates: 1 });

    const action = { action: 'fail', reason: 'not in the console' };
    expect((await actOn(gateway.admin, body.id, action)).status).toBe(200);
    expect(await account.finished(body.id)).toMatchObject({ status: 'failed' });
    expect(await kindsOf(gateway, body.id)).toEqual(['hold', 'release']);
  });
});

describe('a result whose link cannot be used', () => {
  let upstream: Forwarder;
  let gateway: TestGateway;
  let account: TestAccount;
  let link: string | undefined;
  beforeAll(async () => {
    upstream = await startForwarder(() => gateway.simulatorUrl, {
      rewrite: (text) =>
        text.replaceAll(/"video_url":\s*"[^"]*"/g, (own) =>
          link === undefined ? own : `"video_url":${JSON.stringify(link)}`,
        ),
    });
    gateway = await startGateway({
      yaml: twoChannelsYaml
        .replace('${SIMULATOR_URL}', upstream.url)
        .replace('    private_link_networks: [127.0.0.0/8]\n', ''),
    });
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it.each([
    'javascript:alert(1)',
    'https://10.1.2.3/video.mp4',
    'https://user:secret@media.example/video.mp4',
    'data:video/mp4;base64,AAAA',
  ])('%s is a provider_error without a charge, and the operator sees the original', async (bad) => {
    link = bad;
    const { body } = await account.create({ prompt: `linked badly: ${bad}` });
    const task = await account.finished(body.id);
    expect(task).toMatchObject({ status: 'failed', data: [], error: { code: 'provider_error' } });
    expect(JSON.stringify(task)).not.toContain(bad);
    expect(await kindsOf(gateway, body.id)).toEqual(['hold', 'release']);
    const { body: shown } = await gateway.admin('GET', `/admin/v1/tasks/${body.id}`);
    expect(shown).toMatchObject({ withheld_links: [bad], charge: '0.000000', needs_attention: null });
  });

  it('leads to nothing in a private network that only another channel may reach', async () => {
    let requests = 0;
    const secret = createServer((_request, response) => {
      requests += 1;
      response.end('secret');
    });
    await new Promise<void>((resolve) => secret.listen(0, '127.0.0.1', resolve));
    const { port } = secret.address() as AddressInfo;
    link = `http://127.0.0.1:${port}/video.mp4`;
    const { body } = await account.create({ prompt: 'linked to a private network' });
    expect(await account.finished(body.id)).toMatchObject({ error: { code: 'provider_error' } });
    expect(requests).toBe(0);
    secret.close();
  });

  it('is delivered and charged if it can be used', async () => {
    link = undefined;
    const off = { enabled: false, reason: 'the other channel may follow links into this network' };
    expect((await gateway.admin('POST', '/channels/ark', off)).status).toBe(200);
    const { body } = await account.create();
    expect(await account.finished(body.id)).toMatchObject({
      status: 'succeeded',
      video_url: expect.stringContaining(gateway.simulatorUrl),
    });
    expect(await kindsOf(gateway, body.id)).toEqual(['hold', 'settle']);
  });
});
