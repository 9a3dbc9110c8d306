import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closedAfter, openedBy, orderedBy } from '../../src/health/circuit-rules.ts';
import type { BadSign, CircuitRecord } from '../../src/health/circuit-rules.ts';
import { healthLines } from '../../src/cli/health.ts';
import type { AppDeps } from '../../src/http/deps.ts';
import { useHttpWorld } from '../support/http-world.ts';
import { workerReport } from '../support/worker-report.ts';

/**
 * All pages must describe a problem in the same words. The pages are Now, Channels, a route's explanation, and a task's
 * page.
 */

const world = useHttpWorld('channel_health');
const start = Date.parse('2026-11-28T12:00:00Z');
const minuteMs = 60_000;
const credential = 'three/c';
const model = 'three/c/other';
let node: Awaited<ReturnType<typeof world.startNode>>;
let task: string;

beforeAll(async () => {
  world.clock.stoppedAt = start;
  node = await world.startNode();
  const account = await world.newAccount();
  task = (await account.create({ model: 'other' })).body.id;
});

beforeEach(async () => {
  world.clock.stoppedAt = start;
  world.configure();
  for (const name of ['channel_health', 'channel_states', 'nodes'])
    await world.db.collection(name).deleteMany({});
  await report('one');
});

function report(
  name: string,
  circuits: Readonly<Record<string, CircuitRecord>> = {},
  kind: 'worker' | 'api' = 'worker',
): Promise<void> {
  const unreached = Object.entries(circuits).map(([id, record]) => ({ ...record, id }));
  const channels = kind === 'worker' ? ['one', 'two', 'three'] : [];
  return world.stores.nodes.report(workerReport(channels, { id: `${kind}/${name}`, kind, unreached }));
}

function ill(sign: BadSign, code: string, accounts = ['x', 'y']): CircuitRecord {
  return openedBy({ sign, code, tasks: ['t1', 't2'], accounts }, undefined, start);
}

const write = (id: string, record: CircuitRecord) => world.stores.circuits.write(id, record);
const pass = (ms: number) => void (world.clock.stoppedAt = (world.clock.stoppedAt ?? start) + ms);

interface Trouble {
  readonly make: () => Promise<unknown>;
  readonly state: string;
  readonly words: RegExp;
  /**
   * What the explanation says about an account that has no failures of its own. Undefined for worker problems, which
   * the explanation does not cover.
   */
  readonly verdict?: 'tried' | 'waited for' | 'dropped';
}

const troubles: Readonly<Record<string, Trouble>> = {
  'lost submissions of a model': {
    make: () => write(model, ill('failure', 'http_500')),
    verdict: 'waited for',
    state: 'ill',
    words: /^Model other of credential c is ill: requests fail \(http_500\), seen with 2 accounts\. Nothing /,
  },
  'a key that is refused': {
    make: () => write(credential, ill('account', 'http_401')),
    verdict: 'waited for',
    state: 'ill',
    words: /^Credential c is ill: the upstream rejects the key, or the balance is too low \(http_401\), /,
  },
  'no balance, seen with one account': {
    make: () => write(credential, ill('account', 'http_402', ['x'])),
    verdict: 'tried',
    state: 'ill',
    words: /\(http_402\), seen with 1 account\. .* Requests from other accounts are still sent\.$/,
  },
  'a limit of the rate': {
    make: () => write(model, ill('throttled', 'http_429')),
    verdict: 'waited for',
    state: 'ill',
    words: /the upstream limits the request rate \(http_429\)/,
  },
  'a server that fails for two models': {
    async make() {
      const failure = { sign: 'failure', code: 'http_503', tasks: [], accounts: ['x', 'y'] } as const;
      await write(credential, openedBy({ ...failure, models: ['other'] }, undefined, start));
    },
    verdict: 'waited for',
    state: 'ill',
    words: /^Credential c is ill: requests fail \(http_503\), .*models other than other are tried/,
  },
  'a model that is refused': {
    make: () => write(model, ill('model', 'http_404')),
    verdict: 'waited for',
    state: 'ill',
    words: /the upstream rejects the model \(http_404\)/,
  },
  'a host that the only worker does not reach': {
    make: () => report('one', { [model]: ill('unreachable', 'connect_failed') }),
    verdict: 'waited for',
    state: 'ill',
    words: /the host cannot be reached \(connect_failed\) for 1 of 1 process,/,
  },
  'a host that the only process, API and worker, does not reach': {
    async make() {
      const circuits = { [model]: ill('unreachable', 'connect_failed') };
      await report('one', circuits);
      await report('one', circuits, 'api');
    },
    verdict: 'waited for',
    state: 'ill',
    words: /the host cannot be reached \(connect_failed\) for 1 of 1 process,/,
  },
  'a host that one of two workers does not reach': {
    async make() {
      await report('one', { [model]: ill('unreachable', 'connect_failed') });
      await report('two');
    },
    verdict: 'tried',
    state: 'partly_ill',
    words: /the host cannot be reached \(connect_failed\) for 1 of 2 processes,/,
  },
  'a cool-down that is over without a success': {
    async make() {
      const first = ill('failure', 'http_500');
      pass(minuteMs);
      await write(
        model,
        openedBy({ sign: 'failure', code: 'http_502', tasks: [], accounts: ['z'] }, first, start + minuteMs),
      );
      pass(10 * minuteMs);
    },
    verdict: 'tried',
    state: 'probing',
    words:
      /has not recovered yet: requests fail \(http_502\), seen with 3 accounts\. The next task probes it/,
  },
  'a circuit that an operator opened': {
    async make() {
      const order = {
        state: 'open',
        until: start + 60 * minuteMs,
        by: 'anna',
        reason: 'they asked',
      } as const;
      await write(credential, orderedBy(order, undefined, start));
    },
    verdict: 'waited for',
    state: 'paused',
    words: /^anna stopped submissions to credential c: they asked$/,
  },
  'a channel that an operator switched off': {
    make: () =>
      world.stores.channelStates.set({
        id: 'three',
        enabled: false,
        by: 'anna',
        reason: 'too dear',
        at: start,
      }),
    verdict: 'dropped',
    state: 'paused',
    words: /^anna switched the channel off: too dear$/,
  },
  'a circuit that opens again and again': {
    async make() {
      let record: CircuitRecord | undefined;
      for (let times = 0; times < 4; times += 1) {
        const failure = { sign: 'failure', code: 'http_500', tasks: [], accounts: ['x'] } as const;
        record = openedBy(failure, record, start + times * minuteMs);
        record = closedAfter(record, start + times * minuteMs + 20_000);
        await write(model, record);
      }
      pass(4 * minuteMs);
    },
    verdict: 'tried',
    state: 'flapping',
    words: /works again, but its circuit opened 4 times in the last hour: requests fail \(http_500\)\.$/,
  },
  'no worker that serves the channel': {
    make: () =>
      world.db
        .collection<{ _id: string }>('nodes')
        .updateOne({ _id: 'worker/one' }, { $set: { channels: ['one'] } }),
    state: 'ill',
    words: /^No running worker serves the channel\.$/,
  },
};

interface Said {
  readonly channel: string;
  readonly state: string;
  readonly text: string;
  readonly since: number | null;
}

const of = (channels: readonly Said[]) => channels.find(({ channel }) => channel === 'three');

async function screens() {
  await refresh(node.deps);
  const [channels, now, explained, shown] = await Promise.all([
    node.admin('GET', '/channels'),
    node.admin('GET', '/overview'),
    node.admin('POST', '/routes/explain', { request: { model: 'other' } }),
    node.admin('GET', `/tasks/${task}`),
  ]);
  const listed: readonly { id: string; health: Said }[] = channels.body.data;
  return {
    channels: listed.find(({ id }) => id === 'three')?.health,
    now: of(now.body.channels),
    explained: of(explained.body.health),
    task: of(shown.body.health),
    route: explained.body,
    situation: shown.body.situation,
  };
}

async function refresh({ channelSwitches, overrideCircuit, nodes }: AppDeps): Promise<void> {
  const nothing = { state: 'closed', until: 0, by: 'x', reason: 'x' } as const;
  const read = overrideCircuit({ channel: 'one', credential: 'a' }, nothing);
  await Promise.all([channelSwitches.refresh(), nodes.refresh(), read]);
}

describe('every page shows the same for', () => {
  it.each(Object.entries(troubles))('%s', async (_name, { make, state, words, verdict }) => {
    await make();
    const said = await screens();
    expect(said.channels).toMatchObject({
      channel: 'three',
      state,
      text: expect.stringMatching(words),
      waiting: { tasks: 1, oldest_at: start / 1000 },
    });
    expect([said.now, said.explained, said.task]).toEqual([said.channels, said.channels, said.channels]);
    if (said.channels?.since !== null && state !== 'ill') expect(said.channels?.since).toBe(start / 1000);
    const [line] = healthLines([said.channels]);
    expect(line).toContain(said.channels?.text);
    const { candidates, dropped } = said.route;
    const verdicts = [...candidates, ...dropped].filter(({ channel }) => channel === 'three');
    expect(verdicts).toHaveLength(1);
    const [candidate] = candidates;
    const explained = candidate === undefined ? 'dropped' : candidate.waits ? 'waited for' : 'tried';
    if (verdict !== undefined) expect(explained).toBe(verdict);
    if (state !== 'flapping' && verdicts[0].detail !== '')
      expect(said.channels?.text).toContain(verdicts[0].detail);
  });

  it('a channel that serves, and a credential that was removed', async () => {
    const candidate = { channel: 'three', credential: 'c' };
    const sending = { kind: 'sending', candidate, owner: 'run', marker: 'm' } as const;
    await world.stores.tasks.step(task, sending);
    await world.stores.tasks.step(task, { kind: 'accepted', n: 1, operation: { id: 'job' } });
    await write(credential, ill('account', 'http_401'));
    world.configure((text) => text.replace('{ id: c, api_key: k }', '{ id: d, api_key: k }'));
    const said = await screens();
    expect(said.channels).toMatchObject({
      state: 'serving',
      text: 'The channel is serving requests.',
      since: null,
      parts: [],
    });
    expect([said.now, said.explained, said.task]).toEqual([undefined, undefined, undefined]);
    expect(said.situation).toMatchObject({ attention: 'channel_gone', waits_for: 'channel_gone' });
    world.configure();
    expect((await screens()).situation).toMatchObject({ attention: null, waits_for: 'job' });
  });
});

it('no page has its own words or rules for health', () => {
  const folder = new URL('../../src/pages/console/', import.meta.url);
  const words = /probing|flapping|partly_ill|'ill'|circuit open|waits_for: 'a task|\.sign\b|cool-down/;
  const others = readdirSync(folder).filter((name) => name.endsWith('.js') && name !== 'health.js');
  const found = others.filter((name) => words.test(readFileSync(new URL(name, folder), 'utf8')));
  expect(found).toEqual([]);
});
