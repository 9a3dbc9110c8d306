import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { dataConverter } from '../../src/temporal/connection.ts';
import { replayError } from '../support/replay-error.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import { resolveTemporal } from '../../src/local/servers/temporal-source.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { caller, createOnce, type TestAccount } from '../support/client.ts';
import { startGateway, videoBody, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { cacheDir } from '../support/cache-dir.ts';
import { attendedYaml } from '../support/test-yaml.ts';
import { runLine, runPlanned } from './support.ts';

/** This provider cannot search for a lost job, so an operator is asked immediately. */
const channel = (id: string, priority: number) => `
  - id: ${id}
    provider: dashscope
    priority: ${priority}
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500 }
    models: { wan: { upstream: wan2.6-t2v } }`;
const yaml = attendedYaml.replace('\nmodels:', `${channel('main', 5)}${channel('second', 1)}\nmodels:`);

let gateway: TestGateway;
let account: TestAccount;
let temporal: string;
let token: string;
let late: string;

beforeAll(async () => {
  gateway = await startGateway({ yaml });
  account = await gateway.account();
  temporal = await resolveTemporal({ dataDir: cacheDir, report: () => {}, environment: process.env });
  const by = { token: gateway.adminToken };
  const { text } = await runLine(
    gateway,
    ['operators', 'add', 'anna', '--roles', 'everything', '-o', 'json'],
    by,
  );
  token = JSON.parse(text).token;
  late = await create('overdue [sim:never-finishes]');
});
afterAll(() => gateway.stop());

const cli = (...line: string[]) => runLine(gateway, line, { token });
const json = async (...line: string[]) => JSON.parse((await cli(...line, '-o', 'json')).text);
const show = (task: string) => json('tasks', 'show', task);
const created: string[] = [];
const act = (task: string, action: string, ...more: string[]) => {
  const line = ['tasks', 'action', task, action, '--reason', `${action} it`, ...more];
  return more.includes('--dry-run') ? cli(...line) : runPlanned(gateway, line, { token });
};
const kindsOf = async (task: string) =>
  (await gateway.core.ledger.entriesOfTask(task)).map(({ kind }) => kind);

async function create(prompt: string, more: object = {}): Promise<string> {
  const task = await account.made({ model: 'wan', prompt, duration: 5, ...more });
  created.push(task);
  return task;
}

const needs = (task: string, reason: string) =>
  waitUntil(`${task} asks for an operator: ${reason}`, async () => {
    const { needs_attention: shown } = await show(task);
    return shown === reason;
  });

/** Waits until nothing changes any more. The record is omitted, because it contains the time of the request. */
async function settled(task: string) {
  let shown: object = {};
  await waitUntil(`${task} has settled`, async () => {
    const before = JSON.stringify(shown);
    const { record: _record, ...rest } = await show(task);
    shown = rest;
    return JSON.stringify(rest) === before;
  });
  return shown;
}

async function lose(prompt: string): Promise<string> {
  const task = await create(`${prompt} [sim:create:accepted-502*1][sim:never-finishes]`);
  await needs(task, 'submit_ambiguous');
  return task;
}

const jobOf = (prompt: string) => gateway.simulator.tasks(prompt)[0]?.id ?? '';

async function recordOf(task: string): Promise<string[]> {
  const { actions, record } = await show(task);
  const inRecord = record.events.filter(({ what }: { what: string }) => what === 'operator');
  expect(inRecord).toHaveLength(actions.length);
  return actions.map((one: { by: string; action: string; reason: string; at: number }) => {
    expect(one.reason).not.toBe('');
    expect(Math.abs(one.at - Date.now() / 1000)).toBeLessThan(600);
    return `${one.by}: ${one.action}`;
  });
}

const isRefused = (line: Promise<unknown>, sentence: string | RegExp) =>
  expect(line).rejects.toThrow(sentence);

describe('our command line', () => {
  it('a lost job is adopted after a search, the adoption is undone, and another decision ends the task', async () => {
    const task = await lose('to adopt');
    const listed = await json('tasks', 'list', '--needs-attention', '--channel', 'main');
    expect(listed).toContainEqual(expect.objectContaining({ id: task, channel: 'main', upstream_id: null }));
    await isRefused(
      act(task, 'accept_charge'),
      /`accept_charge` is not possible: it is not known .* Possible now: /,
    );
    await isRefused(act(task, 'adopt', '--upstream-id', 'no-such-job'), 'no-such-job');
    await isRefused(act(task, 'retry_now'), 'The upstream cannot be searched for the job.');
    expect((await show(task)).needs_attention).toBe('submit_ambiguous');
    const dry = await act(task, 'adopt', '--upstream-id', jobOf('to adopt'), '--dry-run');
    expect(dry.text).toMatch(
      /^would\n +task +The task adopts the job .* of main.*\n +money +The hold of 0\.5/,
    );
    expect(await recordOf(task)).toEqual([]);

    await act(task, 'adopt', '--upstream-id', jobOf('to adopt'));
    await waitUntil('it waits for the job', async () => (await show(task)).upstream_id === jobOf('to adopt'));
    await act(task, 'extend', '--seconds', '3600');
    await act(task, 'retry_now');
    await act(task, 'undo');
    await needs(task, 'submit_ambiguous');
    await act(task, 'fail');
    expect(await account.finished(task)).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error' },
    });
    expect(await kindsOf(task)).toEqual(['hold', 'release']);
    expect(await recordOf(task)).toEqual([
      'anna: adopt',
      'anna: extend',
      'anna: retry_now',
      'anna: undo',
      'anna: fail',
    ]);
    await isRefused(act(task, 'fail'), 'The task has already failed.');
  });

  it('is resubmitted to a named channel, and a running job is completed by hand', async () => {
    const task = await lose('to resubmit');
    await isRefused(act(task, 'resubmit', '--channel', 'ark'), 'ark');
    const { text } = await act(task, 'resubmit', '--channel', 'second');
    expect(text).toMatch(/money +.*if the first submission was accepted, the upstream bills two/);
    await waitUntil('it is there', async () => (await show(task)).channel === 'second');
    const files = createServer((_, response) => response.end('a video'));
    onTestFinished(() => void files.close());
    await new Promise<void>((resolve) => void files.listen(0, '127.0.0.1', resolve));
    const address = files.address();
    const file = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/video.mp4`;
    await isRefused(
      act(task, 'complete', '--result-url', 'http://127.0.0.1:1/video.mp4', '--duration', '4'),
      /^The result URL cannot be opened/,
    );
    await act(task, 'complete', '--result-url', file, '--duration', '4');
    expect(await account.finished(task)).toMatchObject({
      status: 'succeeded',
      charge: '0.400000',
      data: [{ url: file }],
    });
    expect(await kindsOf(task)).toEqual(['hold', 'settle']);
    expect(await recordOf(task)).toEqual(['anna: resubmit', 'anna: complete']);
    expect(gateway.simulator.submissions('to resubmit').creates).toBe(2);
  });

  it('a task that waits to be submitted is cancelled', async () => {
    const task = await create('to cancel [sim:create:429=30]');
    await waitUntil('it waits', async () => (await show(task)).waiting.activity !== null);
    await act(task, 'cancel');
    expect(await account.finished(task)).toMatchObject({ error: { code: 'task_cancelled' } });
    expect(await recordOf(task)).toEqual(['anna: cancel']);
  });

  it('a charge far above the hold is accepted', async () => {
    const task = await create('costly [sim:usage-above=20]', { model: videoBody.model });
    await needs(task, 'charge_review');
    await act(task, 'accept_charge');
    expect(await account.finished(task)).toMatchObject({ status: 'succeeded', charge: '15.246000' });
    expect(await kindsOf(task)).toEqual(['hold', 'settle', 'charge_extra']);
    expect(await recordOf(task)).toEqual(['anna: accept_charge']);
  });

  it('a callback that was abandoned is listed, and redelivered for every such task', async () => {
    const receiver = await startCallbackReceiver([410, 204]);
    onTestFinished(() => void receiver.close());
    const task = await create('called back', { metadata: { callback_url: receiver.url } });
    const listed = async () =>
      (await json('tasks', 'list', '--callback-failed')).map(({ id }: { id: string }) => id);
    await waitUntil('it is abandoned', async () => (await listed()).includes(task));
    const many = ['tasks', 'act', '--callback-failed', '--action', 'redeliver', '--reason', 'it is back'];
    expect((await cli(...many, '--yes')).text).toContain('1 of 1 done.');
    await receiver.waitFor(2);
    expect(await recordOf(task)).toEqual(['anna: redeliver']);
    await waitUntil('it is listed no more', async () => !(await listed()).includes(task));
  });

  it('an action on many tasks: a dry run, the action, and its continuation', async () => {
    const tasks = [await lose('one of many 1'), await lose('one of many 2')];
    const query =
      'NeedsAttention = "submit_ambiguous" AND MediaModel = "wan" AND ExecutionStatus = "Running"';
    await waitUntil('visibility has both, and none of those that have ended', async () => {
      const ids = (await json('tasks', 'list', '--query', query)).map(({ id }: { id: string }) => id);
      return ids.length === tasks.length && tasks.every((task) => ids.includes(task));
    });
    const attended = await json('tasks', 'list', '--needs-attention');
    expect(attended.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(tasks));
    const line = ['tasks', 'act', '--query', query, '--action', 'fail', '--reason', 'an outage'];
    const dry = await cli(...line, '--dry-run');
    expect(dry.text).toMatch(
      /^fail: 2 tasks, 1\.000000 is held for them\.\n2 of 2 would be done\.\n2 × The task fails/,
    );
    expect(dry.text).toContain(
      'In total, it releases 1.000000; the upstream may bill 2 jobs that no charge covers.',
    );
    expect(await recordOf(tasks[0] ?? '')).toEqual([]);
    await isRefused(cli(...line), '--plan PLAN');
    expect((await runPlanned(gateway, line, { token })).text).toContain('2 of 2 done.');
    for (const task of tasks) {
      expect(await account.finished(task)).toMatchObject({ status: 'failed' });
      expect(await recordOf(task)).toEqual(['anna: fail']);
    }
    expect((await runPlanned(gateway, [...line, '--continue'], { token })).status).toBe(0);
  });

  it('rotates a key, closes an account, and opens a circuit: each takes effect at once, and records who did it', async () => {
    const { keyId, id, key } = await gateway.account();
    const videos = (bearer: string) =>
      createOnce(caller(gateway.url, bearer), '/v1/videos/generations', videoBody);
    const rotated = await json('keys', 'rotate', keyId, '--reason', 'leaked', '--old-valid', '1h');
    for (const valid of [key, rotated.key]) expect((await videos(valid)).status).toBe(200);
    expect((await cli('keys', 'list', '--account', id)).text).toContain(rotated.id);

    expect((await cli('accounts', 'close', id, '--reason', 'left us')).text).toMatch(
      /anna +closed +left us$/m,
    );
    await expect
      .poll(async () => (await videos(rotated.key)).body)
      .toMatchObject({ error: { code: 'account_closed' } });

    const circuit = ['second', 'a', '--reason', 'a test'];
    expect((await cli('channels', 'open-circuit', ...circuit)).text).toContain('anna');
    expect((await cli('channels', 'list')).text).toMatch(/^second /m);
    expect((await cli('route', 'explain', 'wan')).text).toMatch(/second .*circuit_open/);
    await cli('channels', 'close-circuit', ...circuit);
    // The narrow form truncates the roles to make room for the ages.
    expect((await cli('operators', 'list', '-o', 'wide')).text).toMatch(
      /^anna +read, amounts, tasks, money, /m,
    );
    await isRefused(cli('operators', 'add', 'bert', '--roles', 'everything'), 'operator_not_allowed');
  });

  it('the program itself ends with 3 and a sentence if it is refused', async () => {
    const task = await lose('spawned');
    const line = ['tasks', 'action', task, 'accept_charge', '--reason', 'x', '--dry-run'];
    const run = promisify(execFile)(process.execPath, ['src/gateway.js', ...line], {
      env: { PATH: process.env['PATH'], PUBLIC_URL: gateway.url, OPERATOR_TOKEN: token },
    });
    await expect(run).rejects.toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /^`accept_charge` is not possible: .*\(action_not_possible, request \S+\)\n$/,
      ),
    });
    expect((await act(task, 'fail')).text).toMatch(
      /^did\n +task .*\n +money +The hold of 0\.500000 USD is released in full/,
    );
    expect((await cli('tasks', 'show', task)).text).toMatch(
      /^ +20\S+Z +\+\d+\.\d{3} s +operator +anna: fail \(fail it\)/m,
    );
  });

  it('a job that takes far too long is listed as overdue', async () => {
    await waitUntil('it is listed', async () => {
      const listed = await json('tasks', 'list', '--overdue');
      return listed.some(({ id }: { id: string }) => id === late);
    });
    expect((await cli('tasks', 'list', '--needs-attention')).text).toMatch(
      new RegExp(`^${late} .* overdue +`, 'm'),
    );
    await act(late, 'fail');
    await waitUntil(
      'it is listed no more',
      async () => !(await cli('tasks', 'list', '--overdue')).text.includes(late),
    );
  });
});

it('a bill names the job of a lost submission, which is proposed, adopted, and then matched', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'bill-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const bill = join(directory, 'bill.csv');
  const [task, known] = [await lose('a job that is billed'), await create('a clip that is billed')];
  await account.finished(known);
  const jobs = [jobOf('a job that is billed'), jobOf('a clip that is billed')];
  const lines = jobs.map((job) => `${job},wan2.6-t2v,0.25,${new Date().toISOString()}`);
  writeFileSync(bill, ['id,what,cost,at', ...lines].join('\n'));
  const columns = ['job=id', 'model=what', 'amount=cost', 'at=at'].flatMap((column) => ['--column', column]);
  const channels = ['--channel', 'main', '--channel', 'second'];
  const line = ['reconcile', '--bill', bill, '--format', 'mapped', '--unit', 'USD', ...channels, ...columns];
  const rows = async () => {
    const { text, status } = await cli(...line, '-o', 'jsonl');
    expect(status).toBe(1);
    return text.split('\n').map((row) => JSON.parse(row));
  };
  const of = async (job: string | undefined) => (await rows()).find((row) => row.job === job);
  expect(await of(jobs[1])).toMatchObject({ result: 'amount_unknown', task: known, billed: '0.25' });
  const { result, candidates } = await of(jobs[0]);
  expect(result).toBe('upstream_only');
  expect(candidates.map((one: { task: string }) => one.task)).toContain(task);
  await act(task, 'adopt', '--upstream-id', jobs[0] ?? '');
  expect(await of(jobs[0])).toMatchObject({ result: 'amount_unknown', task });
  await act(task, 'fail');
});

describe('Temporal’s command line', () => {
  const update = (task: string, name: string, ...input: string[]) => {
    const target = ['--address', temporalAddress(), '--workflow-id', task, '--name', name, ...input];
    return promisify(execFile)(temporal, ['workflow', 'update', 'execute', ...target], { timeout: 180_000 });
  };
  const input = (value: object) => ['--input', JSON.stringify(value)];

  it('rejects empty or malformed input with a sentence, and changes nothing', async () => {
    const task = await lose('temporal refuses');
    const before = await settled(task);
    const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
      ['fail', [], /must be a JSON object.* `fail`: Fails the task/],
      ['fail', ['--input', '""'], /must be a JSON object/],
      ['fail', input({ because: 'x' }), /`because` is not a field/],
      ['fail', ['--input', '[1]'], /must be a JSON object/],
      ['fail', ['--input', '"the reason alone"'], /must be a JSON object/],
      ['fail', input({ reason: 'x' }), /`by` is missing/],
      ['adopt', input({ reason: 'x', by: 'bert' }), /`upstream_id` is missing/],
      ['adopt', input({ reason: 'x', by: 'bert', upstream_id: 'no-such-job' }), /no-such-job/],
      ['extend', input({ reason: 'x', by: 'bert', seconds: 'long' }), /`seconds` is not valid/],
      [
        'accept_charge',
        input({ reason: 'x', by: 'bert' }),
        /`accept_charge` is not possible.* Possible now: /,
      ],
    ];
    for (const [name, given, sentence] of wrong)
      await expect(update(task, name, ...given)).rejects.toMatchObject({
        stderr: expect.stringMatching(sentence),
      });
    expect(await settled(task)).toEqual(before);
    expect(await recordOf(task)).toEqual([]);
    await update(task, 'fail', ...input({ reason: 'x', by: 'anna' }), '--update-id', 'api-1.1');
    expect(await recordOf(task)).toEqual(['temporal:anna: fail']);
    expect(await account.finished(task)).toMatchObject({ status: 'failed' });
  });

  it('adopts a job and fails a task, and the record shows who, when and why', async () => {
    const task = await lose('temporal adopts');
    const job = jobOf('temporal adopts');
    await update(task, 'adopt', ...input({ upstream_id: job, reason: 'in the console', by: 'bert' }));
    await waitUntil('it waits for the job', async () => (await show(task)).upstream_id === job);
    await update(task, 'fail', ...input({ reason: 'not wanted', by: 'bert' }));
    expect(await account.finished(task)).toMatchObject({ status: 'failed' });
    expect(await kindsOf(task)).toEqual(['hold', 'release']);
    expect(await recordOf(task)).toEqual(['temporal:bert: adopt', 'temporal:bert: fail']);
  });
});

it('another worker could have continued each of them from its history', async () => {
  const { client, temporal: settings } = gateway.core;
  const options = { workflowBundle: await bundleWorkflows(), dataConverter: dataConverter(settings) };
  expect(created.length).toBeGreaterThanOrEqual(10);
  for (const task of created) {
    const history = await client.workflow.getHandle(task).fetchHistory();
    const error = await replayError(task, history, options);
    expect({ task, error }).toEqual({ task, error: undefined });
  }
});
