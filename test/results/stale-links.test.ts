import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { succeeded, type Delivering } from '../../activities/poll-answer.ts';
import { createGuardedClient } from '../../src/http-client/guarded-client.ts';
import type { GuardedClient, OpenLink } from '../../src/http-client/index.ts';
import { createLogger } from '../../src/observability/log.ts';
import type { OperationStatus, ProviderContext } from '../../src/providers/provider.ts';
import { createDirectoryStorage } from '../../src/results/directory-storage.ts';
import { createOpenLinks, lookAtLink } from '../../src/results/open-links.ts';
import type { Deliver } from '../../src/routing/delivery.ts';
import { createResultCopier } from '../../src/results/result-copier.ts';
import { isOutage } from '../../src/store/mongo.ts';
import { createResultCopyStore } from '../../src/store/result-copies.ts';
import { openDatabase } from '../capacity/support.ts';
import { providerContext, realMarker, submitContext } from '../providers/support.ts';
import { useSimulator } from '../providers/use-simulator.ts';
import { jobVendors, type JobVendor } from '../providers/vendors.ts';

const simulator = useSimulator({ renderSeconds: 80 });
const log = createLogger({ level: 'silent', format: 'json' });
const maxBytes = 10_000_000;
let client: GuardedClient;
let directory: string;
let database: Awaited<ReturnType<typeof openDatabase>>;

beforeAll(async () => {
  client = createGuardedClient({ networks: ['127.0.0.0/8'] });
  [directory, database] = await Promise.all([mkdtemp(join(tmpdir(), 'mediary-stale-')), openDatabase()]);
});
afterAll(async () => {
  await client.close();
  await rm(directory, { recursive: true, force: true });
  await database.drop();
});

const openLink: OpenLink = (_channel, fetch) => client.openMedia(fetch);

function delivery(isStored: boolean): Deliver {
  if (!isStored) return createOpenLinks(openLink, { maxBytes });
  return createResultCopier({
    storage: createDirectoryStorage(directory),
    copies: createResultCopyStore(database.db),
    tasks: {
      find: () => Promise.resolve(undefined),
      replaceItems: () => Promise.resolve(),
      setConcern: () => Promise.resolve(true),
      isOutage,
    },
    openLink,
    maxBytes,
    channels: () => undefined,
    retentionSeconds: 60,
    log,
    now: Date.now,
  }).deliver;
}

let tasks = 0;

async function end(vendor: JobVendor, { fault, isStored }: { fault: string; isStored: boolean }) {
  const { model, path, kind } = vendor;
  const context = (): ProviderContext =>
    providerContext({ request: simulator.request, baseUrl: simulator.url + path, model });
  const { operation } = await vendor.submit(
    `a boat ${fault}`,
    submitContext({ ...context(), marker: realMarker() }),
  );
  simulator.control.advance(100);
  const asked: OperationStatus[] = [];
  const ask = async () => {
    const status = await vendor.status(operation, context());
    asked.push(status);
    return status;
  };
  const deliver = delivery(isStored);
  const headersFor = (url: string) => vendor.linkHeaders(url, context());
  const delivering: Delivering = {
    deps: {
      measure: () => Promise.resolve(undefined),
      measureVideos: () => Promise.resolve([]),
      requests: { find: () => Promise.resolve(undefined) },
      shapeOf: () => undefined,
      deliver: (task, items, options) => deliver(task, items, { ...options, headersFor }),
      channels: () => undefined,
      tasks: { isOutage },
      log,
      now: Date.now,
    },
    copyMaxMs: 60_000,
    askAgain: ask,
    isLast: false,
  };
  const first = await ask();
  if (first.state !== 'succeeded') throw new Error(`it is ${first.state}`);
  tasks += 1;
  const job = {
    task: `task_stale_${tasks}`,
    account: 'a',
    kind,
    model,
    candidate: { channel: 'c', credential: 'a' },
  };
  return { outcome: succeeded(first, job, delivering), asked, headersFor };
}

const ways = [
  ['copied', true],
  ['not kept', false],
] as const;

describe.each(jobVendors)('a result of $name', (vendor) => {
  it.each(ways)('that is %s: a refused link is replaced before the task succeeds', async (_, isStored) => {
    // If the vendor sends callbacks, a callback delivers a link too, so one more link must be refused.
    const stale = vendor.callbackUrl === undefined ? 1 : 2;
    const fault = `[sim:url-403*${stale}]`;
    const { outcome, asked, headersFor } = await end(vendor, { fault, isStored });
    const ended = await outcome;
    expect(asked).toHaveLength(2);
    if (ended.kind !== 'succeeded') throw new Error('it has failed');
    expect(ended.items.length).toBeGreaterThan(0);
    expect(ended.items.every(({ stored }) => (stored !== undefined) === isStored)).toBe(true);
    for (const { url = '' } of ended.items)
      expect(
        await lookAtLink(openLink, { channel: 'c', url, maxBytes, headers: headersFor(url) }),
      ).toBeUndefined();
  });

  it.each(ways)('that is %s: links that stay refused are not a success', async (_, isStored) => {
    const { outcome, asked } = await end(vendor, { fault: '[sim:url-403]', isStored });
    await expect(outcome).rejects.toMatchObject({ code: 'result_not_delivered' });
    expect(asked).toHaveLength(2);
  });
});
