import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError } from '../../src/config/config-error.ts';
import { openConfigFile } from '../../src/config/config-file.ts';
import { adapters } from '../../src/providers/index.ts';
import { exampleData } from '../providers/vendor-files/support.ts';

const folder = mkdtempSync(join(tmpdir(), 'mediary-vendors-'));
afterAll(() => rmSync(folder, { recursive: true }));

const context = { ...adapters, environment: { KEY: 'secret' } };
const path = join(folder, 'gateway.yaml');

interface Written {
  readonly provider?: string;
  readonly vendors?: readonly string[];
  readonly channel?: object;
  readonly more?: object;
}

function write({
  provider = 'recraft',
  vendors = ['recraft.yaml'],
  channel = {},
  more = {},
}: Written = {}): void {
  const served = {
    id: 'a',
    provider,
    base_url: 'https://v.example/v1',
    credentials: [{ id: 'k', api_key: '${KEY}' }],
  };
  const file = {
    currency: 'USD',
    vendors,
    channels: [{ ...served, models: { pic: { upstream: 'recraftv4_1' } }, ...channel }],
    models: [{ id: 'pic', kind: 'image', price: { lines: [{ measure: 'image', price: '0.05' }] } }],
    ...more,
  };
  writeFileSync(path, stringify(file));
}

function writeVendor(name: string, change: (file: any) => void = () => undefined, as = name): void {
  const data = exampleData(name);
  change(data);
  writeFileSync(join(folder, `${as}.yaml`), stringify(data));
}

const open = () => openConfigFile(path, context);

function violations(): readonly string[] {
  try {
    open();
  } catch (error) {
    if (error instanceof ConfigError) return error.violations;
    throw error;
  }
  return [];
}

describe('vendor files of gateway.yaml', () => {
  it('are part of the published text, so another process needs no file', () => {
    write();
    writeVendor('recraft');
    const { own, parse } = open();
    expect(own.config.vendors['recraft']?.about.vendor).toBe('Recraft');
    rmSync(join(folder, 'recraft.yaml'));
    const published = parse(own.text, new Map());
    expect('config' in published && published.config).toEqual(own.config);
    expect(own.text).not.toContain('secret');
  });

  it('change the hash of the configuration with every character', () => {
    write();
    writeVendor('recraft');
    const before = open().own.config.hash;
    writeVendor('recraft', (file) => (file.about.source += ' and on 2026-11-30'));
    expect(open().own.config.hash).not.toBe(before);
  });

  it('define what their vendor bills, unless gateway.yaml does', () => {
    const costs = () => open().own.config.channels[0]?.models['pic']?.cost?.lines.map(({ price }) => price);
    writeVendor('recraft');
    write();
    expect(costs()).toEqual(['0.035']);
    write({ channel: { cost: { lines: [{ measure: 'image', price: '0.01' }] } } });
    expect(costs()).toBeUndefined();
    write({ more: { currency: 'EUR' } });
    expect(costs()).toBeUndefined();
  });

  it('require our own storage if their links expire within minutes', () => {
    writeVendor('topaz');
    write({ provider: 'topaz', vendors: ['topaz.yaml'] });
    expect(violations()).toEqual([
      expect.stringMatching(/^channels\[0\]\.provider: "topaz" needs results\.storage/),
    ]);
    write({ provider: 'topaz', vendors: ['topaz.yaml'], more: { results: { storage: 'directory' } } });
    expect(violations()).toEqual([]);
  });

  it.each<[string, Written, string]>([
    ['a file that is not there', { vendors: ['recraft.yaml', 'none.yaml'] }, 'none.yaml: cannot be read'],
    [
      'the name of an adapter',
      { vendors: ['recraft.yaml', 'fal.yaml'] },
      'fal.yaml: name: an adapter "fal" already exists',
    ],
    [
      'a name twice',
      { vendors: ['recraft.yaml', 'again.yaml'] },
      'again.yaml: name: an adapter "recraft" already exists',
    ],
    ['a key that nobody knows', { vendors: ['recraft.yaml', 'script.yaml'] }, 'script.yaml: '],
    ['a vendor that no file has', { provider: 'other' }, 'channels[0].provider: "other" must be one of '],
  ])('%s is reported', (_name, written, said) => {
    writeVendor('recraft');
    writeVendor('recraft', () => undefined, 'again');
    writeVendor('ideogram', (file) => (file.name = 'fal'), 'fal');
    writeVendor('ideogram', (file) => (file.script = 'run()'), 'script');
    write(written);
    expect(violations()).toEqual([expect.stringContaining(said)]);
  });
});
