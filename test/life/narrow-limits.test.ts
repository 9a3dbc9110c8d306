import { afterEach, expect, it } from 'vitest';
import { waitMessages } from '../../src/task/wait.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

const submitsPerSecond = 1;
const occupiedSeconds = 25;
/** Each channel has its own upstream model, so that a fault can affect a single channel. */
const fullModel = 'dreamina-seedance-2-0-260128';
const narrowModel = 'dreamina-seedance-2-0-fast-260128';

function yamlOf(
  channels: Readonly<
    Record<string, { readonly upstream: string; readonly limits: string; readonly priority?: number }>
  >,
) {
  const texts = Object.entries(channels).map(
    ([id, { upstream, limits, priority = 0 }]) => `
  - id: ${id}
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    priority: ${priority}
    limits: { ${limits} }
    models: { seedance: { upstream: ${upstream} } }`,
  );
  return `
currency: USD
channels:${texts.join('')}
models:
  - id: seedance
    kind: video
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 4, max: 15, default: 5 }
    expected_seconds: 1
    price: { lines: [{ measure: million_tokens, price: "7.00" }] }
`;
}

const gateways: TestGateway[] = [];
afterEach(() => Promise.all(gateways.splice(0).map((gateway) => gateway.stop())));

async function start(yaml: string): Promise<TestGateway> {
  const gateway = await startGateway({ yaml });
  gateways.push(gateway);
  return gateway;
}

it('submissions that wait for their turn do not delay polls, and none is sent early', async () => {
  const count = 15;
  const gateway = await start(
    yamlOf({ ark: { upstream: fullModel, limits: `submits_per_second: ${submitsPerSecond}` } }),
  );
  const account = await gateway.account({ credit: '1000' });
  const begunAt = Math.floor(Date.now() / 1000);
  const created = await Promise.all(
    Array.from({ length: count }, (_, n) => account.create({ prompt: `turn-${n}.` })),
  );
  expect(created.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 200));
  const ended = async () =>
    (await account.call('GET', '/v1/videos/generations?status=succeeded&limit=100')).body.data.length;
  // One task must have finished while another is still waiting. Otherwise, this test proves nothing.
  await waitUntil('one has ended, and one says that it waits for its turn', async () => {
    const { body } = await account.call('GET', '/v1/videos/generations?status=pending&limit=100');
    const waits = body.data.some(({ message }: { message: string }) => message.startsWith(waitMessages.rate));
    return waits && (await ended()) > 0;
  });
  await waitUntil('all have ended', async () => (await ended()) === count);
  expect(gateway.simulator.submissions('turn-')).toEqual({ submits: count, creates: count });
  const times = gateway.simulator.tasks('turn-').map(({ created_at }) => created_at);
  // Measure from before the first create, because a busy machine may delay any request. Allow for a burst of one second
  // at the start and for rounding to whole seconds.
  expect(Math.max(...times) - begunAt).toBeGreaterThanOrEqual(count / submitsPerSecond - 3);
  expect(await account.balance()).toMatchObject({ held: '0.000000' });
});

it('one channel full upstream, the other here: a task waits for room without a tight loop, whichever is first', async () => {
  const priorities = [
    { full: 1, narrow: 2 },
    { full: 2, narrow: 1 },
  ];
  const started: TestGateway[] = [];
  for (const { full, narrow } of priorities)
    started.push(
      await start(
        yamlOf({
          full: { upstream: fullModel, limits: 'submits_per_second: 100', priority: full },
          narrow: {
            upstream: narrowModel,
            limits: 'submits_per_second: 100, concurrent_tasks: 1',
            priority: narrow,
          },
        }),
      ),
    );
  await Promise.all(started.map(expectWaitWithoutSpinning));
});

async function expectWaitWithoutSpinning(gateway: TestGateway): Promise<void> {
  gateway.simulator.addFault({ match: { model: fullModel, method: 'POST' }, fault: '429=1' });
  const account = await gateway.account();
  const occupant = await account.create({ prompt: `occupant [sim:render=${occupiedSeconds}]` });
  await waitUntil('the one place is taken', async () => gateway.simulator.tasks('occupant').length === 1);
  const waiting = await account.create({ prompt: 'waits.' });
  expect(await account.finished(occupant.body.id)).toMatchObject({ status: 'succeeded' });
  expect(await account.finished(waiting.body.id)).toMatchObject({ status: 'succeeded' });
  // The task must have waited for as long as the slot was taken. Otherwise, this test proves nothing.
  const [from = 0, to = 0] = ['occupant', 'waits.'].map(
    (prompt) => gateway.simulator.tasks(prompt)[0]?.created_at,
  );
  expect(to - from).toBeGreaterThanOrEqual(occupiedSeconds);
  const { submits, creates } = gateway.simulator.submissions('waits.');
  expect(creates).toBe(1);
  // The upstream asks for a pause of one second each time. A loop without a pause once made 56 requests and 669 events
  // in 30 s.
  expect(submits / (to - from)).toBeLessThanOrEqual(1);
  const { events } = await gateway.core.client.workflow.getHandle(waiting.body.id).fetchHistory();
  expect((events?.length ?? Number.NaN) / (to - from)).toBeLessThanOrEqual(4.8);
}
