import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveTemporal } from '../../src/local/servers/temporal-source.ts';
import { cacheDir } from '../support/cache-dir.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { runLine } from './support.ts';

/**
 * docs/operating.md shows what the gateway, and Temporal's own command line, print: each block of `console` is typed here,
 * on the configuration of local mode, and compared. Ids, times and counts differ from run to run; a line of `…` stands for
 * any lines.
 */
const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = await read('docs/operating.md');
const localYaml = (await read('src/local/gateway.local.yaml')).replaceAll(
  '${SIMULATOR_API_KEY}',
  'simulated',
);

interface Sample {
  readonly command: string;
  readonly printed: string;
}

const samples = [...page.matchAll(/^( *)```console\n([^]*?)\n\1```$/gm)]
  .map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
  .flatMap((block) => block.split(/^\$ /m).slice(1))
  .map((text): Sample => {
    const [command = '', ...printed] = text.trimEnd().split('\n');
    return { command, printed: printed.join('\n') };
  });
/** What changes that which the others show comes last. */
const last = [/ --plan \w+$/, /^gateway secrets rotate/];
const rank = ({ command }: Sample) => last.findIndex((line) => line.test(command));

/** What the page calls the tasks, the marker and the job that it shows. */
const shown = {
  lost: 'task_07Q1KGxXoh7LBzNdepc5ZXKg',
  marker: 'mediary-07q1kgxxoh7lbzndepc5zxkg-1',
  job: '9968390b-16a2-44c0-a773-ec9510ad33a5',
  failing: 'task_dbsw0pva4gWOA50MlLLJpYd9',
  done: 'task_Tj43r79krlFAR7bmuhkCtjck',
  unwanted: 'task_V9Y1wNCPUYsxv6037f5lXcFy',
  bill: 'october.csv',
} as const;

let gateway: TestGateway;
let account: TestAccount;
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
let directory: string;
let temporal: string;
/** What is called so there is called so here. */
const here = new Map<string, string>();
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-samples-'));
  temporal = await resolveTemporal({ dataDir: cacheDir, report: () => {}, environment: process.env });
  receiver = await startCallbackReceiver();
  gateway = await startGateway({ yaml: localYaml, environment: { DATA_DIR: directory } });
  account = await gateway.account({ id: 'local' });
  await makeDone();
  await makeAttended();
  await makeBill();
});
afterAll(async () => {
  await gateway.stop();
  receiver.close();
  await rm(directory, { recursive: true });
});

/** A task of which everything has been recorded. */
async function makeDone(): Promise<void> {
  const id = await create('seedance-2.5', 'a boat', { metadata: { callback_url: receiver.url } });
  here.set(shown.done, id);
  await waitUntil('all of it is recorded', async () => {
    const { text } = await cli(`gateway tasks show ${id}`);
    return [': succeeded, 1 result', 'stored, 1 file', 'answered 204'].every((part) => text.includes(part));
  });
}

/** Four tasks that need somebody. */
async function makeAttended(): Promise<void> {
  const lost = '[sim:create:accepted-then-silent][sim:never-finishes]';
  const made = [
    await create('seedance-2.0', 'a boat [sim:poll:401][sim:never-starts][sim:callback-never]'),
    await create('seedance-2.0', 'a boat [sim:usage-above=20]'),
    await create('wan-2.6', `a boat ${lost}`),
    await create('wan-2.6', `another ${lost}`),
  ];
  await waitUntil('all need somebody', async () => {
    const { text } = await cli('gateway tasks list --needs-attention -o json');
    const reasons = JSON.parse(text).map((task: { needs_attention: string }) => task.needs_attention);
    // One that waits for its charge may have been troubled by the failing one's credential before.
    return reasons.toSorted().join() === 'charge_review,poll_failing,submit_ambiguous,submit_ambiguous';
  });
  const [failing = '', , first = ''] = made;
  here.set(shown.lost, first);
  here.set(shown.marker, `mediary-${first.slice('task_'.length).toLowerCase()}-1`);
  here.set(shown.failing, failing);
  here.set(shown.job, jobOf('a boat [sim:create'));
}

/** Two jobs of an upstream that says what they cost, one of them at another amount; and one that is nobody's. */
async function makeBill(): Promise<void> {
  const prompts = ['a billed boat', 'a dear boat'];
  for (const prompt of prompts) await account.finished(await create('fal-seedance-2.0', prompt));
  const [billed = '', dear = ''] = prompts.map(jobOf);
  const now = Date.now();
  // Days around all of it, whichever day it is by then.
  const [before, time, after] = [-1, 0, 1].map((days) => new Date(now + days * 86_400_000).toISOString());
  const lines = [`${billed},1.512,${before}`, `${dear},1.68,${after}`, `none-of-ours,1.512,${time}`];
  here.set(shown.bill, join(directory, 'bill.csv'));
  await writeFile(join(directory, 'bill.csv'), ['id,cost,time', ...lines].join('\n'));
}

async function makeUnwanted(): Promise<void> {
  const id = await create('seedance-2.0', 'an unwanted boat [sim:never-finishes]');
  here.set(shown.unwanted, id);
  await waitUntil('it has a job', async () => {
    const { body } = await gateway.admin('GET', `/tasks/${id}`);
    return body.upstream_id !== null;
  });
}

const jobOf = (prompt: string) => gateway.simulator.tasks(prompt)[0]?.id ?? '';

async function create(model: string, prompt: string, more: object = {}): Promise<string> {
  const request = { model, prompt, duration: 5, resolution: '720p', ratio: '16:9', ...more };
  const { body } = await account.create(request);
  return body.id;
}

async function cli(command: string): Promise<{ text: string }> {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
  const [program, ...line] = words;
  try {
    if (program === 'temporal') return await run(temporal, [...line, '--address', temporalAddress()]);
    if (line[0] === 'secrets') return await run(process.execPath, ['src/gateway.js', ...line]);
    return await runLine(gateway, line, { token: gateway.adminToken });
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error) };
  }
}

/** A program of its own; a key was put before that of the gateway. */
async function run(program: string, line: readonly string[]): Promise<{ text: string }> {
  const keys = [randomBytes(32).toString('base64'), gateway.environment['SECRETS_KEY']];
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    ...gateway.environment,
    SECRETS_KEY: keys.join(),
  };
  const { stdout } = await promisify(execFile)(program, [...line], { env });
  return { text: stdout };
}

/** What no two runs have in common, named by its kind. */
function stable(text: string): string {
  return (
    text
      .replaceAll(/task_[A-Za-z0-9]{24}/g, 'TASK')
      .replaceAll(/mediary-[a-z0-9]{24}-1/g, 'MARKER')
      .replaceAll(/task_[A-Za-z0-9]+…/g, 'TASK…')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]+…/g, 'UUID…')
      .replaceAll(/cgt-\d{14}-\w{5}/g, 'JOB')
      .replaceAll(/key_\w{16}/g, 'KEY')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      // A busy machine takes a step late, and the timeline says so.
      .replaceAll(/^(?:.*No worker has taken the next step|TIME .*\bworker\b).*$/gm, '')
      // While a poll is with its upstream, no time stands for the next one.
      .replaceAll(/^( *next_at +)-$/gm, '$1TIME')
      .replaceAll(/\+\d+\.\d{3} s/g, 'LATER')
      .replaceAll(/https?:\/\/[\w.:-]+(?= answered)/g, 'URL')
      .replaceAll(/; \d+ like the one before are not shown/g, '')
      .replaceAll(/^(key +)[0-9a-f]{8}$/gm, '$1HEX')
      .replaceAll(/^(plan +)[0-9a-f]{16}$/gm, '$1HEX')
      .replaceAll(/^(documents_rewritten +)\d+$/gm, '$1N')
      .replaceAll(/\b\d+(?:\.\d+)?(?= (?:ms|s|failed)\b)/g, 'N')
      .replaceAll(/\b\d+ polls?\b/g, 'N polls')
      .replaceAll(/^( *(?:failed_)?polls +)\d+$/gm, '$1N')
      .replaceAll(/ \d+[smhd]$/gm, ' AGE')
      // A charge is asked about whether or not a poll has seen the job run.
      .replaceAll(/ (?:submitted|running) (?= *charge_review)/g, ' STATUS ')
      .replaceAll(/ +/g, ' ')
      .replaceAll(/ $/gm, '')
  );
}

it('shows some', () => {
  expect(samples.length).toBeGreaterThan(12);
});

it.each(samples.toSorted((a, b) => rank(a) - rank(b)))('$command', async ({ command, printed }) => {
  // It would be overdue where the other samples take their time.
  if (command.includes(shown.unwanted)) await makeUnwanted();
  const typed = [...here].reduce((line, [there, id]) => line.replaceAll(there, id), command);
  const { text } = await cli(typed);
  const [plan, ours] = [printed, text].map((words) => /^plan +(\w{16})$/m.exec(words)?.[1]);
  if (plan !== undefined && ours !== undefined) here.set(plan, ours);
  let rest = stable(text)
    .split('\n')
    .filter((line) => line !== '');
  for (const chunk of stable(printed).split(/^…$/m)) {
    const lines = chunk.split('\n').filter((line) => line !== '');
    const at = rest.findIndex((_, index) => lines.every((line, offset) => rest[index + offset] === line));
    expect(at < 0 ? rest : lines).toEqual(lines);
    rest = rest.slice(at + lines.length);
  }
});
