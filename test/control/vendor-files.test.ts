import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { openRunningConfig, type RunningConfigDeps } from '../../src/control/running-config.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { packText } from '../../src/config/configuration-text.ts';
import { adapters } from '../../src/providers/index.ts';
import type { PublishedConfiguration } from '../../src/store/configurations.ts';
import { createVendorChecks } from '../../src/providers/vendor-files/vendor-checks.ts';
import { exampleData } from '../providers/vendor-files/support.ts';

const gateway = stringify({
  currency: 'USD',
  vendors: ['v.yaml'],
  channels: [
    {
      id: 'a',
      provider: 'recraft',
      base_url: 'https://v.example/v1',
      credentials: [{ id: 'k', api_key: 'x' }],
      models: { pic: { upstream: 'recraftv4_1' } },
    },
  ],
  models: [{ id: 'pic', kind: 'image', price: { lines: [{ measure: 'image', price: '0.05' }] } }],
});

function load(change: (file: any) => void = () => undefined) {
  const vendor = exampleData('recraft');
  change(vendor);
  const text = packText({ gateway, vendors: { 'v.yaml': stringify(vendor) } });
  return { text, config: parseGatewayConfig(text, 'test', { ...adapters, environment: {} }) };
}

function world() {
  const published: PublishedConfiguration[] = [];
  const store: any = {
    wasPublished: async (hash: string) => published.some((one) => one.hash === hash),
    confirmHead: async () => published.at(-1),
    head: async () => published.at(-1),
    read: async () => published.at(-1),
    publish: async (one: Omit<PublishedConfiguration, 'version'>) => {
      published.push({ ...one, version: published.length + 1 });
      return published.at(-1);
    },
  };
  const open = (own: ReturnType<typeof load>, file: () => ReturnType<typeof load> = () => own) => {
    const deps: RunningConfigDeps = {
      store,
      own,
      load: file,
      refusal: (violations) => new ConfigError('gateway.yaml', violations),
      parse: (text) => ({ config: parseGatewayConfig(text, 'test', { ...adapters, environment: {} }) }),
      openSecrets: async () => new Map(),
      bringsBack: false,
      hasMoney: async () => false,
      checkVendors: createVendorChecks(),
      node: 'n',
      now: () => 0,
      keepStart: (publish) => publish(),
      onRefused: () => undefined,
      onTaken: () => undefined,
      onOldCopy: () => undefined,
      onError: () => undefined,
    };
    return openRunningConfig(deps);
  };
  return { open, published };
}

const broken = () => load((file) => (file.images.generate.answer = '{ "images": data.{ "url": link } }'));
const sentence = /^vendors\.recraft: "fixture .*Run `gateway vendors test FILE`, and correct the file\.$/;

it('a vendor file whose fixtures fail is not published, and the running one stays active', async () => {
  const { open, published } = world();
  const running = await open(load(), broken);
  const result = await running.publish('anna');
  expect(result).toEqual({ ok: false, violations: [expect.stringMatching(sentence)] });
  expect(published).toHaveLength(1);
  expect(running.state()).toMatchObject({ version: 1, hash: load().config.hash });
});

it('a process does not start with such a file', async () => {
  const { open, published } = world();
  await expect(open(broken())).rejects.toThrow(/vendors\.recraft/);
  expect(published).toEqual([]);
});

it('a process that cannot run a published one keeps the one it runs, and explains why', async () => {
  const { open, published } = world();
  const running = await open(load());
  const { text, config } = broken();
  published.push({ version: 2, hash: config.hash, text, currency: 'USD', by: 'x', node: 'y', at: 0 });
  await running.refresh();
  expect(running.current().hash).toBe(load().config.hash);
  expect(running.state().refused).toEqual({ version: 2, reasons: [expect.stringMatching(sentence)] });
});

it('a file that passes is published with its hash', async () => {
  const { open, published } = world();
  const other = load((file) => (file.about.inputs = 'text alone'));
  const running = await open(load(), () => other);
  expect(await running.publish('anna')).toMatchObject({ ok: true });
  expect(published.map(({ hash }) => hash)).toEqual([load().config.hash, other.config.hash]);
  expect(running.current().vendors['recraft']?.about.inputs).toBe('text alone');
});
