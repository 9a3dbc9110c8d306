import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { closeOnSignal } from './bench/support/close-on-signal.ts';
import { messageOf } from '../src/base/caught.ts';
import { defined } from '../src/base/defined.ts';
import { runDemo } from '../src/local/demo.ts';
import type { ComposeProcess } from './topology/compose-process.ts';
import { ask, askFor } from './soak/http.ts';
import { createTask, loadUntil, unsuccessful } from './topology/rotation.ts';
import type { Rotation } from './topology/rotation.ts';
import {
  initializePostgresql,
  openTopology,
  prepareUi,
  replaceFiles,
  requireServerReads,
} from './topology/stand.ts';
import type { TopologyStand } from './topology/stand.ts';

/**
 * `npm run topology`: what docker-compose.yml describes, as processes without Docker, on Linux: every service with the
 * environment, arguments, check and stop time of the file, and deploy/'s own scripts. Then the demo, a rolling restart
 * under load, a backup and its restoration, and `ledger verify`. Prints a row for each step, and exits with 1 if one failed.
 */

const command = new Command()
  .name('topology')
  .option('--namespace <name>', 'of Temporal', 'default')
  .option('--secured', 'Temporal asks for TLS, for certificates of its clients and for a token')
  .option('--keep', 'keep the directory with the logs')
  .parse();
const options = command.opts<{ readonly namespace: string; readonly secured?: true; readonly keep?: true }>();

/** Of the tasks that a backup meets. */
const longRender = '[sim:render=60] in flight at the backup';
const loadEveryMs = 500;
/** What a load balancer needs to notice. */
const leaveRotationMs = 2_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const stand = await openTopology({
  namespace: options.namespace,
  secured: options.secured === true,
  keepsLogs: options.keep === true,
  report: print,
});
closeOnSignal(() => stand.close());
try {
  await startServers(stand);
  await step('temporal-ui', () => openUi(stand));
  await startGateway(stand);
  const rotation = await openRotation(stand);
  await step('the demo', () => demo(rotation));
  await step('a rolling restart under load', () => restartUnderLoad(stand, rotation));
  await backupAndRestore(stand, rotation);
  await step('the demo again', () => demo(rotation));
  await step('gateway ledger verify', () => stand.gateway('ledger', 'verify').then(lastLine));
} catch (error) {
  print(messageOf(error));
  process.exitCode = 1;
} finally {
  await stand.close();
}
notHad(stand).forEach((what) => print(`not had ${what}`));

/** Throws what the work throws: nothing is tried on what has not started. */
async function step(name: string, work: () => Promise<string | void>): Promise<void> {
  const startedAt = Date.now();
  const row = (word: string, result: string): void => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1).padStart(7);
    print(`${word.padEnd(7)} ${name.padEnd(44)} ${seconds} s  ${result}`.trimEnd());
  };
  try {
    row('done', (await work()) ?? '');
  } catch (error) {
    row('failed', '');
    throw error;
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

async function startServers(stand: TopologyStand): Promise<void> {
  const { postgresql, temporal, mongodb, once } = stand;
  await step('postgresql: first start', async () => {
    await initializePostgresql(stand);
    await postgresql.start();
    // The image makes a database of its user's name.
    await postgresql.run('createdb', ['--username', 'temporal', 'temporal']);
    return lastLine(await postgresql.run('postgres', ['--version']));
  });
  for (const time of ['first', 'second'])
    await step(`temporal-schema, the ${time} time`, () => once('temporal-schema'));
  await step('temporal', async () => {
    await requireServerReads(stand);
    await temporal.start();
  });
  for (const time of ['first', 'second'])
    await step(`temporal-namespace, the ${time} time`, () => once('temporal-namespace'));
  await step('mongodb', async () => {
    await mongodb.start();
    return mongodb.kind === 'java' ? 'the stand-in' : 'a mongod';
  });
}

/** The buttons that docker-compose.yml hides are hidden, and the UI reaches Temporal. */
async function openUi(stand: TopologyStand): Promise<string> {
  const { ui } = stand;
  await prepareUi(stand);
  await ui.start();
  const settings = await askFor(z.record(z.string(), z.unknown()), `${urlOf(ui)}/api/v1/settings`);
  const wanted = Object.keys(ui.environment).filter((name) => name.endsWith('_DISABLED'));
  const hidden = Object.keys(settings).filter((name) => name.endsWith('Disabled') && settings[name] === true);
  if (hidden.length !== wanted.length) throw new Error(`hidden are only ${hidden.join(', ')}`);
  const { TEMPORAL_DEFAULT_NAMESPACE: namespace, TEMPORAL_API_KEY: token } = ui.environment;
  const workflows = `${urlOf(ui)}/api/v1/namespaces/${namespace}/workflows`;
  await askFor(z.looseObject({}), workflows, defined({ token }));
  return `hides ${hidden.join(', ')}; lists workflows`;
}

async function startGateway({ apis, workers, gateway }: TopologyStand): Promise<void> {
  await step('gateway config check', () => gateway('config', 'check').then(() => undefined));
  await step('two workers and two APIs', async () => {
    await Promise.all([...workers, ...apis].map((each) => each.start()));
    for (const api of apis) await ready(api);
  });
}

function urlOf({ address }: ComposeProcess): string {
  return `http://${address}:8080`;
}

async function ready(api: ComposeProcess): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while ((await ask(`${urlOf(api)}/readyz`)).status !== 200) {
    if (Date.now() > endsAt) throw new Error(`${api.name} is not ready`);
    await delay(500);
  }
}

/** An account with credit and its key, by the commands of docs/deployment.md. */
async function openRotation({ apis, gateway }: TopologyStand): Promise<Rotation> {
  let key = '';
  await step('an account, credit and a key', async () => {
    await gateway('accounts', 'create', 'shop', '--name', 'Shop');
    await gateway('accounts', 'credit', 'shop', '1000.00', '--reference', 'first-payment');
    const made = await gateway(
      'keys',
      'create',
      'shop',
      '--name',
      'Shop, server',
      '--scopes',
      'create,read_own,read_account',
    );
    key = /\bsk[-_][\w-]{20,}/.exec(made)?.[0] ?? '';
  });
  return { key, urls: new Set(apis.map(urlOf)) };
}

async function demo({ key, urls }: Rotation): Promise<string> {
  const [apiUrl = ''] = urls;
  const lines: string[] = [];
  const succeeded = await runDemo({ apiUrl, apiKey: key, print: (line) => lines.push(line) });
  if (!succeeded) throw new Error(lines.join('\n'));
  return (lines.at(-1) ?? '').trim();
}

/** One after the other, workers first; an API leaves the rotation before it gets its signal. */
async function restartUnderLoad({ workers, apis }: TopologyStand, rotation: Rotation): Promise<string> {
  const ended = new AbortController();
  const loading = loadUntil(ended.signal, rotation, loadEveryMs);
  try {
    for (const worker of workers) await restart(worker);
    for (const api of apis) {
      rotation.urls.delete(urlOf(api));
      await delay(leaveRotationMs);
      await restart(api);
      await ready(api);
      rotation.urls.add(urlOf(api));
    }
  } finally {
    ended.abort();
  }
  const { created, failures, requests } = await loading;
  const lost = await unsuccessful(firstUrl(rotation), rotation.key, created);
  const wrong = [...failures, ...lost];
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${requests}:\n${wrong.join('\n')}`);
  return `${requests} requests, none failed; ${created.length} tasks, all succeeded`;
}

async function restart(process: ComposeProcess): Promise<void> {
  await process.stop();
  await process.start();
}

function firstUrl({ urls }: Rotation): string {
  return [...urls][0] ?? '';
}

/** As docs/deployment.md says: PostgreSQL first, MongoDB after it, with tasks in flight; what came later is forgotten. */
async function backupAndRestore(
  { apis, workers, temporal, postgresql, mongodb, directory }: TopologyStand,
  rotation: Rotation,
) {
  const databases = ['temporal', 'temporal_visibility'];
  const dumpOf = (name: string): string => join(directory, `${name}.dump`);
  const copy = join(directory, 'mongodb-backup');
  const common = ['--username', 'temporal'];
  const create = async (count: number, prompt: string): Promise<string[]> => {
    const made = Array.from({ length: count }, () => createTask(firstUrl(rotation), rotation.key, prompt));
    return (await Promise.all(made)).map(({ id }) => id);
  };
  const inFlight = await create(5, longRender);
  await step('pg_dump with tasks in flight', async () => {
    for (const name of databases)
      await postgresql.run('pg_dump', [...common, '--format', 'custom', '--file', dumpOf(name), name]);
  });
  await step("a copy of MongoDB's files, while it is stopped", async () => {
    await mongodb.stop();
    await replaceFiles(mongodb.files, copy);
    await mongodb.start();
    for (const api of apis) await ready(api);
  });
  const later = await create(2, 'after the backup');
  await step('stop api, worker, temporal', async () => {
    await Promise.all([...apis, ...workers].map((each) => each.stop()));
    await temporal.stop();
  });
  await step('pg_restore, and the copy put back', async () => {
    for (const name of databases)
      await postgresql.run('pg_restore', [
        ...common,
        '--clean',
        '--if-exists',
        '--dbname',
        name,
        dumpOf(name),
      ]);
    await mongodb.stop();
    await replaceFiles(copy, mongodb.files);
    await mongodb.start();
  });
  await step('start on the restored databases', async () => {
    await temporal.start();
    await Promise.all([...workers, ...apis].map((each) => each.start()));
    for (const api of apis) await ready(api);
  });
  await step('tasks that the backup met', async () => {
    const wrong = await unsuccessful(firstUrl(rotation), rotation.key, inFlight);
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    const known = await Promise.all(later.map((id) => isKnown(rotation, id)));
    if (known.includes(true)) throw new Error('a task of after the backup is still known');
    return `${inFlight.length} succeeded; ${later.length} that came later are forgotten`;
  });
}

async function isKnown(rotation: Rotation, id: string): Promise<boolean> {
  const { status } = await ask(`${firstUrl(rotation)}/v1/videos/generations/${id}`, { token: rotation.key });
  return status !== 404;
}

function notHad({ mongodb }: TopologyStand): string[] {
  const node = `Node ${process.versions.node} and the PostgreSQL above instead of the images' versions`;
  const shell = 'mongosh and mongodump: deploy/mongodb, passwords, the replica set of docker-compose.yml';
  const missing = ['Docker: networks, limits of memory, restarts, read-only roots', node, shell];
  if (mongodb.kind === 'java') missing.push('a mongod (MONGOD_BINARY names one): a stand-in took its place');
  return missing;
}
