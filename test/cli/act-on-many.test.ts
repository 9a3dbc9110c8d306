import { PassThrough } from 'node:stream';
import { createServer } from 'node:http';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { taskFailures } from '../../src/task/failures.ts';
import { createTerminal, type Terminal } from '../../src/cli/terminal.ts';
import { actionTable } from '../../src/operating/acts.ts';
import { actOn } from '../support/client.ts';
import { useHttpWorld } from '../support/http-world.ts';
import { waitUntil } from '../support/processes.ts';
import { runLine, runPlanned } from './support.ts';
import { listen, listener } from '../support/listen.ts';

const world = useHttpWorld('cli_act_on_many');
const query = 'NeedsAttention = "submit_ambiguous" AND MediaChannel = "one"';
const line = ['tasks', 'act', '--query', query, '--action', 'resubmit', '--reason', 'the incident'];

let made: string[] = [];
beforeEach(async () => {
  const account = await world.newAccount();
  made = [];
  for (let n = 0; n < 5; n += 1) made.push((await account.create()).body.id);
  world.port.found.set(query, made);
  world.port.situation = 'asking';
  world.port.situations.clear();
  world.port.acts.length = 0;
});

const really = () => world.port.acts.filter(({ input }) => input.dry_run !== true);
const actedOn = () =>
  really()
    .map(({ task }) => task)
    .toSorted();
const terminal = (answer: boolean, shown: string[] = []): Terminal => ({
  confirm: async (question) => {
    shown.push(question);
    return answer;
  },
  progress: (text) => void shown.push(text),
});

it('acts on every task that a query finds, and first shows how many there are and how much is held', async () => {
  const { text, status } = await runPlanned(world, line);
  expect(text.split('\n')).toEqual([
    'resubmit: 5 tasks, 2.500000 is held for them.',
    '5 of 5 done.',
    '5 × Done.',
  ]);
  expect(status).toBe(0);
  expect(actedOn()).toEqual(made.toSorted());
  expect(really()[0]).toMatchObject({
    action: 'resubmit',
    input: { reason: 'the incident', by: 'admin' },
  });
  for (const id of made) {
    const { body } = await world.admin('GET', `/tasks/${id}`);
    expect(body.actions).toMatchObject([{ action: 'resubmit', by: 'admin', reason: 'the incident' }]);
  }
});

it('reads the whole list, however many pages it has', async () => {
  world.port.pageMax = 2;
  onTestFinished(() => void (world.port.pageMax = Infinity));
  const { text } = await runPlanned(world, line);
  expect(text).toContain('5 of 5 done.');
  expect(actedOn()).toEqual(made.toSorted());
});

it('--dry-run asks about each task, and changes none', async () => {
  const [refused = ''] = made;
  world.port.situations.set(refused, 'waiting');
  const { text, status } = await runLine(world, [...line, '--dry-run']);
  expect(text).toContain('4 of 5 would be done.');
  expect(text).toContain(`${refused}  \`resubmit\` is not possible: the upstream has the job`);
  expect(status).toBe(1);
  expect(world.port.acts.every(({ input }) => input.dry_run === true)).toBe(true);
  expect((await world.admin('GET', `/tasks/${made[1]}`)).body.actions).toEqual([]);
});

it('names every task that was refused, with the reason, and ends with status 1', async () => {
  const refused = made[2] ?? '';
  world.port.situations.set(refused, 'waiting');
  const { text, status } = await runPlanned(world, [...line, '-o', 'json']);
  expect(JSON.parse(text)).toMatchObject({
    tasks: 5,
    held: '2.500000',
    done: expect.arrayContaining(made.filter((id) => id !== refused)),
    refused: [{ task: refused, message: expect.stringContaining('Possible now: retry_now') }],
  });
  expect(status).toBe(1);
});

it('refusals, however many, do not end the run', async () => {
  world.port.situation = 'waiting';
  const { text } = await runPlanned(world, line);
  expect(text).toContain('0 of 5 done.');
  expect(text.match(/is not possible/g)).toHaveLength(5);
});

it('asks for confirmation at a terminal, and does nothing without a yes', async () => {
  const shown: string[] = [];
  const { text, status } = await runLine(world, line, { terminal: terminal(false, shown) });
  const question = `${actionTable.resubmit.confirmation} Continue?`;
  expect(shown.filter((words) => words.endsWith('?'))).toEqual([question]);
  expect(text).toContain('5 × Done.');
  expect(text).toContain('Nothing was done.');
  expect([status, really()]).toEqual([1, []]);
  await runLine(world, line, { terminal: terminal(true, shown) });
  expect(shown).toContain('5 of 5, 0 not done');
  expect(really()).toHaveLength(5);
});

it('does nothing if nobody can confirm it, or for an action on a single task', async () => {
  for (const more of [[], ['--yes']])
    await expect(runLine(world, [...line, ...more])).rejects.toThrow('--plan PLAN');
  const wake = line.with(5, 'retry_now');
  await expect(runLine(world, wake)).rejects.toThrow('Add --yes');
  await expect(runLine(world, ['tasks', 'act', '--action', 'fail', '--reason', 'r'])).rejects.toThrow(
    'or many',
  );
  await expect(
    runLine(world, ['tasks', 'act', 'task_1', 'fail', '--query', query, '--reason', 'r']),
  ).rejects.toThrow('or many');
  const adopt = [
    'tasks',
    'act',
    '--query',
    query,
    '--action',
    'adopt',
    '--upstream-id',
    'x',
    '--reason',
    'r',
  ];
  await expect(runLine(world, [...adopt, '--yes'])).rejects.toThrow('cannot be used with --query');
  expect(world.port.acts).toEqual([]);
});

it('--continue omits what an interrupted run has done', async () => {
  const [first = ''] = made;
  const one = { action: 'resubmit', reason: 'the incident' };
  await actOn(world.admin, first, one);
  await actOn(world.admin, made[1] ?? '', { ...one, reason: 'something else' });
  world.port.acts.length = 0;
  const { text } = await runPlanned(world, [...line, '--continue']);
  expect(text).toContain('resubmit: 4 tasks (1 were already done), 2.000000 is held');
  expect(actedOn()).toEqual(made.slice(1).toSorted());
});

it('stops when the gateway goes away, lists what is left, and --continue resumes it', async () => {
  let calls = 0;
  const proxy = createServer(
    listener(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk));
      const isAct = request.method === 'POST' && !Buffer.concat(chunks).includes('"dry_run":true');
      calls += isAct ? 1 : 0;
      if (isAct && calls > 2) return void request.socket.destroy();
      const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
      const answer = await fetch(`${world.url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization, 'content-type': type },
        ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    }),
  );
  const { url, close } = await listen(proxy);
  const account = await world.newAccount();
  // The command stops after ten consecutive failures. In the worst case, the second success comes after nine, while
  // four requests are in flight.
  for (let n = 0; n < 20; n += 1) made.push((await account.create()).body.id);

  const { plan } = JSON.parse((await runLine(world, [...line, '--dry-run', '-o', 'json'])).text);
  const { text, status } = await runLine(world, [...line, '--plan', plan], { url });
  expect(text).toMatch(/^2 of 25 done\.$/m);
  expect(text).toMatch(/^\d+ were not tried: .* --continue for the rest\.$/m);
  expect(status).toBe(1);
  await close();

  const rest = await runPlanned(world, [...line, '--continue']);
  expect(rest.text).toContain('23 of 23 done.');
  expect(new Set(actedOn()).size).toBe(25);
});

it('is one entry of the audit log', async () => {
  await runPlanned(world, line);
  const { body } = await world.admin('GET', '/audit?limit=1');
  expect(body.data).toMatchObject([{ action: 'resubmit', target: '5 tasks', result: '5 done', via: 'cli' }]);
});

it('does nothing if the plan no longer applies, because a task or the list has changed', async () => {
  const { plan } = JSON.parse((await runLine(world, [...line, '--dry-run', '-o', 'json'])).text);
  const planned = () => runLine(world, [...line, '--plan', plan]);
  await world.admin('POST', `/tasks/${made[1]}/actions`, { action: 'extend', seconds: 60, reason: 'r' });
  world.port.acts.length = 0;
  await expect(planned()).rejects.toThrow('The plan no longer applies');
  expect(really()).toEqual([]);
});

it('redelivers abandoned callbacks', async () => {
  const [first = ''] = made;
  const target = 'https://me.example';
  const round = { task: first, round: 'own', target };
  await world.stores.tasks.beginCallback(round);
  await world.stores.tasks.recordCallback(round, { at: 1, durationMs: 1, status: 410 }, 'gave_up');
  const resend = [
    'tasks',
    'act',
    '--callback-failed',
    '--action',
    'redeliver',
    '--reason',
    'their server is back',
  ];
  const { text, status } = await runLine(world, [...resend, '--yes']);
  expect(text).toContain(`${first}  A callback can be redelivered only after the task has ended.`);
  expect(status).toBe(1);
  expect(text).toContain('1 tasks, 0.500000 is held for them.');
  const listed = await runLine(world, ['tasks', 'list', '--callback-failed']);
  expect(listed.text).toContain(first);
  await world.drive.fail(first, taskFailures.upstream);
  const ended = await runLine(world, [...resend, '--dry-run']);
  expect(ended.text).toContain('1 tasks, 0.000000 is held for them.');
});

it('a query is also paged on the command line', async () => {
  const first = await runLine(world, ['tasks', 'list', '--query', query, '--limit', '3']);
  expect(first.text).toContain('More results: --page 3');
  const rest = await runLine(world, ['tasks', 'list', '--query', query, '--limit', '3', '--page', '3']);
  for (const id of made.slice(3)) expect(rest.text).toContain(id);
  for (const id of made.slice(0, 3)) expect(rest.text).not.toContain(id);
});

it('the terminal asks once, and replaces its line', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const written: string[] = [];
  output.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  const made = createTerminal(input, output);
  for (const [answer, agreed] of [
    ['y', true],
    ['yes', true],
    ['', false],
    ['no', false],
  ] as const) {
    const asked = made.confirm('Continue?');
    input.write(`${answer}\n`);
    expect(await asked).toBe(agreed);
  }
  made.progress('1 of 2');
  made.progress('');
  await waitUntil('it is written', () => Promise.resolve(written.join('').endsWith('1 of 2\r\u001B[K')));
});
