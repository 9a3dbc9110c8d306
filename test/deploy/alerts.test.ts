import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerCollection } from '../../src/ledger/collection.ts';
import { readLedgerTotals } from '../../src/ledger/totals.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { takeCensus } from '../../src/observability/take-census.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startGatewayProcess, waitUntil, type GatewayProcess } from '../support/processes.ts';
import { findPromtool, runPromtool, untriedWithout } from '../support/promtool.ts';
import { parseScrape, type Series } from '../support/scrape.ts';
import { testYaml } from '../support/test-yaml.ts';
import { alerts, dashboardExpressions, rulesText, selectorsOf } from './monitoring-files.ts';
import { readRepositoryFile } from './compose-file.ts';

const promtool = await findPromtool();
const untried = untriedWithout(promtool);

const names = ['calm', 'keyless', 'busy', 'lossy', 'slow', 'silent', 'failing', 'narrow', 'dear'] as const;
const part = (list: 'channels' | 'models') =>
  new RegExp(`^${list}:\\n((?: +.*\\n)+)`, 'm').exec(testYaml)?.[1] ?? '';
const yaml = `
currency: USD
results: { storage: directory, directory: results }
channels:
${names
  .map((name) => part('channels').replace('id: ark', `id: ${name}`).replace('seedance:', `${name}:`))
  .join('')
  .replace(/(id: narrow\n[^]*?limits: \{)/, '$1 concurrent_tasks: 1,')}
  - id: pictures
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { seedream: { upstream: doubao-seedream-4-0-250828 } }
models:
${names.map((name) => part('models').replace('id: seedance', `id: ${name}`)).join('')}
  - { id: seedream, kind: image, price: { lines: [{ measure: image, price: "0.02" }] } }
`;

let gateway: TestGateway;
let account: TestAccount;
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
let worker: GatewayProcess | undefined;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-alerts-'));
  gateway = await startGateway({ yaml, environment: { DATA_DIR: directory } });
  account = await gateway.account();
  receiver = await startCallbackReceiver([500]);
});
afterAll(async () => {
  await worker?.kill();
  await receiver.close();
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

async function scrape(laterMs = 0): Promise<readonly Series[]> {
  const { core } = gateway;
  const ledger = ledgerCollection(core.mongo.db);
  const now = () => core.now() + laterMs;
  core.metrics.showCensus(await takeCensus({ ...core, ledgerTotals: () => readLedgerTotals(ledger), now }));
  return parseScrape(await core.metrics.render());
}

function history(series: readonly Series[]) {
  return series
    .filter(({ name }) => name.startsWith('mediary_'))
    .map(({ name, labels, value }) => {
      const shown = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
      const counts = /_(?:total|count|sum|bucket)$/.test(name);
      return { series: `${name}{${shown.join(',')}}`, values: counts ? `0+${value}x60` : `${value}x60` };
    });
}

async function firing(series: readonly Series[]): Promise<readonly string[]> {
  const quiet = alerts.map(({ alert }) => ({
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
    eval_time: '60m',
    exp_samples: [{ labels: '{}', value: 0 }],
  }));
  const test = { interval: '1m', input_series: history(series), promql_expr_test: quiet };
  const file = { rule_files: ['rules.yaml'], evaluation_interval: '1m', tests: [test] };
  const files = { 'rules.yaml': rulesText, 'test.yaml': JSON.stringify(file) };
  const { passed, output } = await runPromtool(promtool ?? '', ['test', 'rules', 'test.yaml'], files);
  const fired = [...output.matchAll(/expr: "count\(ALERTS\{alertname=\\"(\w+)\\"/g)].map(
    ([, alert = '']) => alert,
  );
  if (passed !== (fired.length === 0)) throw new Error(output);
  return fired;
}

const sumOf = (series: readonly Series[], name: string, labels: Readonly<Record<string, string>>) =>
  series
    .filter(
      (each) =>
        each.name === name && Object.entries(labels).every(([label, text]) => each.labels[label] === text),
    )
    .reduce((sum, { value }) => sum + value, 0);

const faults: readonly {
  readonly alert: string;
  readonly model: (typeof names)[number];
  readonly mark: string;
  readonly shows: readonly [name: string, labels: Readonly<Record<string, string>>];
}[] = [
  {
    alert: 'MediaryUpstreamRefusesAccount',
    model: 'keyless',
    mark: 'create:401',
    shows: ['mediary_upstream_requests_total', { channel: 'keyless', class: 'unavailable' }],
  },
  {
    alert: 'MediaryChannelNotWell',
    model: 'keyless',
    mark: 'create:401',
    shows: ['mediary_channel_health', { channel: 'keyless', state: 'ill' }],
  },
  {
    alert: 'MediarySubmissionsWait',
    model: 'keyless',
    mark: 'create:401',
    shows: ['mediary_submissions_waiting', { reason: 'circuit' }],
  },
  {
    alert: 'MediaryUpstreamThrottles',
    model: 'busy',
    mark: 'create:429',
    shows: ['mediary_upstream_requests_total', { channel: 'busy', class: 'throttled' }],
  },
  {
    alert: 'MediarySubmissionsLost',
    model: 'lossy',
    mark: 'create:accepted-then-silent',
    shows: ['mediary_upstream_requests_total', { channel: 'lossy', class: 'ambiguous' }],
  },
  {
    alert: 'MediaryUpstreamSlow',
    model: 'slow',
    mark: 'create:slow=6',
    shows: ['mediary_upstream_request_seconds_count', { channel: 'slow', step: 'submit' }],
  },
  {
    alert: 'MediaryUpstreamFailing',
    model: 'silent',
    mark: 'poll:500',
    shows: ['mediary_upstream_requests_total', { channel: 'silent', class: 'ambiguous' }],
  },
  {
    alert: 'MediaryTasksFail',
    model: 'failing',
    mark: 'failed',
    shows: ['mediary_tasks_ended_total', { channel: 'failing', outcome: 'internal' }],
  },
  {
    alert: 'MediarySlotsFull',
    model: 'narrow',
    mark: 'never-finishes',
    shows: ['mediary_slots_in_use', { channel: 'narrow' }],
  },
  {
    alert: 'MediaryTaskNeedsPerson',
    model: 'dear',
    mark: 'usage-above=20',
    shows: ['mediary_tasks_attention', { reason: 'charge_review' }],
  },
  {
    alert: 'MediaryCopiesFail',
    model: 'calm',
    mark: 'url-403',
    shows: ['mediary_result_copies', { state: 'retry' }],
  },
];

describe('a gateway', () => {
  it.skipIf(promtool === undefined)(`that works causes no alert${untried}`, async () => {
    const id = await account.made({ model: 'calm' });
    expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    // Histograms of durations are left out, because the machine may be slow.
    const quiet = (await scrape()).filter(({ name }) => !name.endsWith('_bucket'));
    expect(await firing(quiet)).toEqual([]);
  });

  it.skipIf(promtool === undefined)(
    `whose upstreams fail causes the alert for each fault${untried}`,
    async () => {
      const struck = new Set(
        faults.map(({ model, mark }) => JSON.stringify({ model, prompt: `[sim:${mark}]` })),
      );
      for (const fault of struck) {
        await Promise.all([1, 2].map(() => account.made(JSON.parse(fault))));
      }
      await account.made({ model: 'calm', metadata: { callback_url: receiver.url } });
      await receiver.waitFor(1);
      const body = { model: 'seedream', prompt: '[sim:create:500]' };
      for (let n = 0; n < 5; n += 1) {
        const image = await account.call('POST', '/v1/images/generations', { body });
        expect(image.status).toBeGreaterThanOrEqual(500);
      }
      let series: readonly Series[] = [];
      const notYet = async () => {
        series = await scrape();
        const missing = faults.filter(
          ({ alert, shows: [name, labels] }) =>
            sumOf(series, name, labels) < (alert === 'MediaryUpstreamFailing' ? 3 : 1),
        );
        const callbacks = sumOf(series, 'mediary_callbacks', { state: 'failing' });
        return [...missing.map(({ alert }) => alert), ...(callbacks === 1 ? [] : ['MediaryCallbacksFail'])];
      };
      await expect.poll(notYet, { interval: 250 }).toEqual([]);
      const fired = await firing(await scrape(20 * 60_000));
      const expected = [
        ...faults.map(({ alert }) => alert),
        'MediaryCallbacksFail',
        'MediaryImagesFail',
        'MediaryRequestsFail',
      ];
      expect(expected.filter((alert) => !fired.includes(alert))).toEqual([]);
    },
  );

  it('and a worker have every metric and label that rules and dashboard use', async () => {
    // Start this process last, so that the tests above do not read its counters.
    const port = String(await choosePort('any', 'the metrics'));
    const environment = { ...gateway.environment, METRICS_PORT: port };
    worker = startGatewayProcess('worker', environment, join(directory, 'worker.log'));
    const seen = async () => parseScrape(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    const isThere = (name: string, series: readonly Series[]) =>
      series.some((each) => each.name.startsWith(name));
    await waitUntil('the worker counts', async () => isThere('mediary_census_time', await seen()));
    await waitUntil('the worker has had a step of a task', async () => {
      await account.finished(await account.made({ model: 'calm' }));
      return isThere('temporal_workflow_task_schedule', await seen());
    });
    await gateway.admin('POST', '/ledger/verify');
    const scraped = [...(await scrape()), ...(await seen())];
    const own = ['job', 'instance'];
    const known = new Map([
      ['up', new Set(own)],
      ['ALERTS', new Set(['alertname', 'alertstate'])],
    ]);
    for (const { name, labels } of scraped) {
      const found = known.get(name) ?? new Set(own);
      for (const label of Object.keys(labels)) found.add(label);
      known.set(name, found);
    }
    const asked = [
      ...alerts.map(({ expr, annotations }) => ({
        expr,
        labels: [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
      })),
      ...dashboardExpressions,
    ];
    const missing = asked.flatMap(({ expr, labels }) =>
      selectorsOf(expr).flatMap((selector) =>
        [...selector.labels, ...labels]
          .filter((label) => known.get(selector.name)?.has(label) !== true)
          .concat(known.has(selector.name) ? [] : ['(no such metric)'])
          .map((label) => `${selector.name} ${label}: ${expr}`),
      ),
    );
    expect(missing).toEqual([]);
    expect(asked.flatMap(({ expr }) => selectorsOf(expr)).length).toBeGreaterThan(50);
    expect(readRepositoryFile('deploy/prometheus/prometheus.yaml')).toContain('mediary.rules.yaml');
  });
});
