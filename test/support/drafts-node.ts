import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openConfigFile } from '../../src/config/config-file.ts';
import { sealedNamesIn } from '../../src/config/secret-places.ts';
import { createConfigDrafts } from '../../src/control/config-drafts.ts';
import { openRunningConfig, type RunningConfig } from '../../src/control/running-config.ts';
import type { HttpWorld, NodeChange, Server } from './http-world.ts';

const yaml = `# A comment that stays.
currency: USD
channels:
  - id: one
    provider: test
    base_url: https://api.example
    credentials: [{ id: a, api_key: sk-written-in-the-file }]
    models: { clip: { upstream: u } }
models:
  - { id: clip, kind: video, price: { lines: [{ measure: second, price: "0.10" }] } }
`;

const collections = [
  'configuration',
  'replaced_configurations',
  'configuration_drafts',
  'configured_secrets',
];

export interface DraftsNode extends Server {
  readonly running: RunningConfig;
  draft(): Promise<any>;
  set(edits: Record<string, unknown>, revision?: number): ReturnType<Server['admin']>;
}

export async function startDraftsNode(
  world: HttpWorld,
  { isExportOnly = false, ...change }: NodeChange & { readonly isExportOnly?: boolean } = {},
): Promise<DraftsNode> {
  const { stores, db } = world;
  const forget = async () => {
    for (const name of collections) await db.collection(name).deleteMany({});
  };
  await forget();
  onTestFinished(forget);
  const directory = mkdtempSync(join(tmpdir(), 'mediary-drafts-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'gateway.yaml');
  writeFileSync(path, yaml);
  const ignored = () => undefined;
  const running = await openRunningConfig({
    ...openConfigFile(path, { environment: { NEW_KEY: 'k' }, providerNames: ['test'] }),
    store: stores.configurations,
    openSecrets: (text) => stores.configDrafts.openSecrets(sealedNamesIn(text)),
    bringsBack: false,
    hasMoney: () => Promise.resolve(true),
    checkVendors: () => Promise.resolve([]),
    node: 'host/1/x',
    now: Date.now,
    keepStart: (publish) => publish(),
    onRefused: ignored,
    onTaken: ignored,
    onOldCopy: ignored,
    onError: ignored,
  });
  const drafts = createConfigDrafts({ ...stores, running, isExportOnly, now: Date.now, randomBytes });
  const node = await world.startNode({ ...change, drafts, publishConfig: (by) => running.publish(by) });
  const draft = async () => (await node.admin('GET', '/config/draft')).body;
  return {
    ...node,
    running,
    draft,
    set: async (set, revision) =>
      node.admin('PUT', '/config/draft', { revision: revision ?? (await draft()).revision, set }),
  };
}
