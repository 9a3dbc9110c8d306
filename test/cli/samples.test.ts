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
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { runLine } from './support.ts';

/**
 * Runs each `console` block of docs/operating.md against local mode and compares the output. Ids, times and counts
 * differ from run to run, and a line that consists of `…` matches any number of lines.
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
/** Run these samples last: they change state that the output of other samples depends on. */
const last = [/ --plan \w+$/, /^gateway secrets rotate/];
const rank = ({ command }: Sample) => last.findIndex((line) => line.test(command));
const changes = (sample: Sample) =>
  rank(sample) >= 0 || sample.command.startsWith('temporal workflow update');

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
  await receiver.close();
  await rm(directory, { recursive: true });
});

async function makeDone(): Promise<void> {
  const id = await create('seedance-2.5', 'a boat', { metadata: { callback_url: receiver.url } });
  here.set(shown.done, id);
  await waitUntil('all of it is recorded', async () => {
    const { text } = await cli(`gateway tasks show ${id}`);
    return [': succeeded, 1 result', 'stored, 1 file', 'responded with 204'].every((part) =>
      text.includes(part),
    );
  });
}

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
    // A failed poll is first attributed to the credential, which the task with the disputed charge shares with the
    // failing task. Until its own poll succeeds, that task may therefore show `poll_failing`, too.
    return reasons.toSorted().join() === 'charge_review,poll_failing,submit_ambiguous,submit_ambiguous';
  });
  const [failing = '', , first = ''] = made;
  here.set(shown.lost, first);
  here.set(shown.marker, `mediary-${first.slice('task_'.length).toLowerCase()}-1`);
  here.set(shown.failing, failing);
  here.set(shown.job, jobOf('a boat [sim:create'));
}

async function makeBill(): Promise<void> {
  const prompts = ['a billed boat', 'a dear boat'];
  for (const prompt of prompts) await account.finished(await create('fal-seedance-2.0', prompt));
  const [billed = '', dear = ''] = prompts.map(jobOf);
  const now = Date.now();
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

const create = (model: string, prompt: string, more: object = {}): Promise<string> =>
  account.made({ model, prompt, duration: 5, resolution: '720p', ratio: '16:9', ...more });

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
      // On a busy machine, a step may start late, which adds a line to the timeline.
      .replaceAll(/^(?:.*No worker has taken the next step|TIME .*\b(?:worker|submission)\b).*$/gm, '')
      .replaceAll(/^( *next_at +)-$/gm, '$1TIME')
      .replaceAll(/\+\d+\.\d{3} s/g, 'LATER')
      // How long a task waits for each step depends on the machine, so omit the waits.
      .replaceAll(/^ *TIME +(?:LATER +wait|TIME|\d[\d:T-]+…) .*$/gm, '')
      .replaceAll(/https?:\/\/[\w.:-]+(?= responded)/g, 'URL')
      .replaceAll(/; \d+ like the previous one are not shown/g, '')
      .replaceAll(/^(key +)[0-9a-f]{8}$/gm, '$1HEX')
      .replaceAll(/^(plan +)[0-9a-f]{16}$/gm, '$1HEX')
      .replaceAll(/^(fields_rewritten +)\d+$/gm, '$1N')
      .replaceAll(/\b\d+(?:\.\d+)?(?= (?:ms|s|failed)\b)/g, 'N')
      .replaceAll(/\b\d+ polls?\b/g, 'N polls')
      .replaceAll(/^( *(?:failed_)?polls +)\d+$/gm, '$1N')
      .replaceAll(/ \d+[smhd]$/gm, ' AGE')
      // A charge may come up for review before or after a poll has seen the job running.
      .replaceAll(/ (?:submitted|running) (?= *charge_review)/g, ' STATUS ')
      .replaceAll(/ {2,}/g, '  ')
      .replaceAll(/ +$/gm, '')
  );
}

/** Compares cell by cell, because the width at which the table truncates a cell may depend on other rows. */
function isSameLine(printed: string, shownLine: string): boolean {
  const [ours, theirs] = [printed, shownLine].map((line) => line.split('  '));
  if (ours === undefined || theirs === undefined || ours.length !== theirs.length) return false;
  return ours.every((cell, index) => isSameCell(cell, theirs[index] ?? ''));
}

function isSameCell(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (one === other || !short.endsWith('…')) return one === other;
  return long.startsWith(short.slice(0, -1));
}

it('shows some', () => {
  expect(samples.length).toBeGreaterThan(12);
});

function missingPart(printed: string, text: string) {
  let rest = linesOf(text);
  for (const chunk of printed.split(/^…$/m)) {
    const lines = linesOf(chunk);
    if (lines.length === 0) continue;
    const at = rest.findIndex((_, index) =>
      lines.every((line, offset) => isSameLine(rest[index + offset] ?? '', line)),
    );
    if (at < 0) return { lines, rest };
    rest = rest.slice(at + lines.length);
  }
  return undefined;
}

const linesOf = (text: string) =>
  stable(text)
    .split('\n')
    .filter((line) => line !== '');

it.each(samples.toSorted((a, b) => rank(a) - rank(b)))('$command', async (sample) => {
  const { command, printed } = sample;
  if (command.includes(shown.unwanted)) await makeUnwanted();
  const typed = [...here].reduce((line, [there, id]) => line.replaceAll(there, id), command);
  const missing = async () => {
    const { text } = await cli(typed);
    const [plan, ours] = [printed, text].map((words) => /^plan +(\w{16})$/m.exec(words)?.[1]);
    if (plan !== undefined && ours !== undefined) here.set(plan, ours);
    return missingPart(printed, text);
  };
  // The page omits whatever Temporal does not return within two seconds, so this may need several attempts.
  if (changes(sample)) expect(await missing()).toBeUndefined();
  else await expect.poll(missing).toBeUndefined();
});
