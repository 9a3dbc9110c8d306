import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { closeOnSignal } from './stand/close-on-signal.ts';
import { messageOf } from '../src/base/caught.ts';
import { runDemo } from '../src/local/demo.ts';
import type { ComposeProcess } from './topology/compose-process.ts';
import { ask, askFor, askUntilAnswered } from './stand/http.ts';
import { initializePostgresql, openTopology, replaceFiles, requireServerReads } from './topology/stand.ts';
import type { TopologyStand } from './topology/stand.ts';

const endWithinMs = 300_000;
const lookEveryMs = 2_000;
const tasksPath = '/v1/videos/generations';

/**
 * `npm run topology`: runs the services of docker-compose.yml as processes on Linux, without Docker. Every service has
 * the environment, arguments, check and stop time from the file, and uses the scripts in deploy/. Afterwards, runs the
 * demo, a backup and its restoration, and `ledger verify`. Prints a row for each step, and exits with 1 if one of them
 * failed.
 */

const command = new Command()
  .name('topology')
  .option('--namespace <name>', 'of Temporal', 'default')
  .option('--secured', 'make Temporal require TLS, client certificates and a token')
  .option('--keep', 'keep the directory with the logs')
  .parse();
const options = command.opts<{ readonly namespace: string; readonly secured?: true; readonly keep?: true }>();

const longRender = '[sim:render=60] in flight at the backup';

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
  await startGateway(stand);
  const caller = await makeCaller(stand);
  await step('the demo', () => demo(caller));
  await backupAndRestore(stand, caller);
  await step('the demo again', () => demo(caller));
  await step('gateway ledger verify', () => stand.gateway('ledger', 'verify').then(lastLine));
} catch (error) {
  print(messageOf(error));
  process.exitCode = 1;
} finally {
  await stand.close();
}
notHad(stand).forEach((what) => print(`not had ${what}`));

/** Rethrows the step's error, because later steps depend on the services that it starts. */
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
    // In docker-compose.yml, PostgreSQL's image creates this database. This cluster runs without the image.
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

async function makeCaller({ apis, gateway }: TopologyStand): Promise<Caller> {
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
  return { key, url: urlOf(apis[0]) };
}

async function demo({ key, url: apiUrl }: Caller): Promise<string> {
  const lines: string[] = [];
  const succeeded = await runDemo({ apiUrl, apiKey: key, print: (line) => lines.push(line) });
  if (!succeeded) throw new Error(lines.join('\n'));
  return (lines.at(-1) ?? '').trim();
}

/**
 * Follows docs/deployment.md while tasks are in flight, first for PostgreSQL, then for MongoDB. Changes made after the
 * backup are lost.
 */
async function backupAndRestore(
  { apis, workers, temporal, postgresql, mongodb, directory }: TopologyStand,
  caller: Caller,
) {
  const databases = ['temporal', 'temporal_visibility'];
  const dumpOf = (name: string): string => join(directory, `${name}.dump`);
  const copy = join(directory, 'mongodb-backup');
  const common = ['--username', 'temporal'];
  const create = async (count: number, prompt: string): Promise<string[]> => {
    const made = Array.from({ length: count }, () => createTask(caller, prompt));
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
  await step('pg_restore, and the restored copy', async () => {
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
  await step('tasks that were in flight at the backup', async () => {
    const wrong = await unsuccessful(caller, inFlight);
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    const known = await Promise.all(later.map((id) => isKnown(caller, id)));
    if (known.includes(true)) throw new Error('a task created after the backup still exists');
    return `${inFlight.length} succeeded; ${later.length} created later are gone`;
  });
}

async function isKnown({ url, key }: Caller, id: string): Promise<boolean> {
  const { status } = await ask(`${url}/v1/videos/generations/${id}`, { token: key });
  return status !== 404;
}

function notHad({ mongodb }: TopologyStand): string[] {
  const node = `Node ${process.versions.node} and the PostgreSQL above instead of the images' versions`;
  const shell = 'mongosh and mongodump: deploy/mongodb, passwords, the replica set of docker-compose.yml';
  const missing = ['Docker: networks, memory limits, restarts, read-only roots', node, shell];
  if (mongodb.kind === 'java') missing.push('a mongod (MONGOD_BINARY names one): a stand-in took its place');
  return missing;
}

interface Caller {
  readonly url: string;
  readonly key: string;
}

const taskSchema = z.looseObject({ id: z.string(), status: z.string() });

function createTask({ url, key }: Caller, prompt: string): Promise<{ readonly id: string }> {
  return askUntilAnswered(taskSchema, url + tasksPath, {
    method: 'POST',
    token: key,
    headers: { 'idempotency-key': randomUUID() },
    body: { model: 'seedance', prompt, duration: 5, resolution: '720p', ratio: '16:9' },
  });
}

async function unsuccessful({ url, key }: Caller, tasks: readonly string[]): Promise<string[]> {
  const open = new Map(tasks.map((id) => [id, 'not looked at']));
  for (const endsAt = Date.now() + endWithinMs; Date.now() < endsAt; await delay(lookEveryMs)) {
    for (const id of open.keys()) {
      const { status } = await askFor(taskSchema, `${url}${tasksPath}/${id}`, { token: key });
      if (status === 'succeeded') open.delete(id);
      else open.set(id, status);
    }
    if ([...open.values()].every((status) => status === 'failed')) break;
  }
  return [...open].map(([id, status]) => `${id} is ${status}`);
}
