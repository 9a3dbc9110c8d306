import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { addOperatorCommands } from '../../src/cli/commands.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { createProgram, groups } from '../../src/cli/program.js';
import { createTerminal, failureText } from '../../src/cli/terminal.ts';
import { resolveTarget } from '../../src/cli/target.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { findAnswering } from '../../src/local/find-running.ts';
import { identifyProcess } from '../../src/process/process-identity.ts';
import type { VerifyResult } from '../../src/ledger/verify.ts';
import { startDraftsNode } from '../support/drafts-node.ts';
import { fallbackCatalogue } from '../support/fallback-catalogue.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';
import { succeededWith } from '../support/task-records.ts';
import { runLine, type LineChange } from './support.ts';

const world = useHttpWorld('cli_commands');

const gateway = (line: readonly string[], change: LineChange = {}) => runLine(world, line, change);

const situation = {
  what: '',
  attention: null,
  advice: null,
  where: null,
  marker: null,
  charge: null,
  actions: [],
};

const json = async (line: readonly string[]) => JSON.parse((await gateway([...line, '-o', 'json'])).text);

describe('vendors check', () => {
  it('names models that are shut down first, and fails if a channel in service has one', async () => {
    expect((await gateway(['vendors', 'check'])).status).toBe(0);
    world.configure((yaml) =>
      yaml
        .replace('plain: { upstream: p }', 'plain: { upstream: gone }')
        .replace('other: { upstream: o }', 'other: { upstream: ends }'),
    );
    const rows = await json(['vendors', 'check']);
    const { text, status } = await gateway(['vendors', 'check']);
    await world.admin('POST', '/channels/one', { enabled: false, reason: 'gone' });
    const paused = await gateway(['vendors', 'check']);
    await world.admin('POST', '/channels/one', { enabled: true, reason: 'gone' });
    world.configure();
    expect(rows.slice(0, 2)).toMatchObject([
      { channel: 'one', model: 'plain', upstream: 'gone', state: 'shut down', retired: '2026-01-02' },
      { channel: 'three', model: 'other', upstream: 'ends', state: 'ends', retired: '2999-01-02' },
    ]);
    expect(rows[2]).toMatchObject({ state: 'served', retired: null, source: 'a test', read: '2026-11' });
    expect([status, text]).toEqual([1, expect.stringMatching(/one +plain +gone +shut down +2026-01-02 /)]);
    expect(paused.status).toBe(0);
  });
});

describe('accounts', () => {
  it('create, credit, show, list', async () => {
    const made = await gateway([
      'accounts',
      'create',
      'studio',
      '--name',
      'A studio',
      '--overdraft-limit',
      '5',
    ]);
    expect(made.text).toMatch(/^webhook_secret +whsec_\S+$/m);
    expect(made.text).toContain('will not be shown again');
    const credit = await json([
      'accounts',
      'credit',
      'studio',
      '12.5',
      '--reference',
      'invoice-1',
      '--note',
      'thanks',
    ]);
    expect(credit).toMatchObject({ amount: '12.500000', note: 'by admin: thanks' });
    const correction = await json(['accounts', 'credit', 'studio', '-2.5', '--reference', 'undo']);
    expect(correction).toMatchObject({ kind: 'adjust', available: '10.000000' });
    const shown = await gateway(['accounts', 'show', 'studio']);
    expect(shown.text).toMatch(/^available +10\.000000$/m);
    expect(shown.text).toMatch(/^created_at +\d{4}-\d\d-\d\dT/m);
    const listed = await gateway(['accounts', 'list', '--limit', '100']);
    expect(listed.text).toMatch(/^ID +NAME +AVAILABLE +HELD/);
    expect(listed.text).toMatch(/^studio +A studio +10\.000000 +0\.000000 +5\.000000/m);
    const rotated = await json(['accounts', 'rotate-webhook-secret', 'studio']);
    expect(rotated.webhook_secret).toMatch(/^whsec_/);
  });

  it('balance, now and before', async () => {
    const { id } = await world.newAccount({ credit: '10' });
    expect(await json(['accounts', 'balance', id])).toMatchObject({ available: '10.000000', seq: 1 });
    expect(await json(['accounts', 'balance', id, '--at', '2026-01-01'])).toMatchObject({
      at: 1_767_225_600,
      available: '0.000000',
      seq: 0,
    });
  });

  it('cap-users, keys cap', async () => {
    await gateway(['accounts', 'create', 'capped']);
    const line = ['accounts', 'cap-users', 'capped', '--day', '2', '--user', 'a:b:day=3,total=5'];
    expect(await json([...line, '--reason', 'free plan'])).toMatchObject({
      end_user_caps: { day: '2.000000', users: [{ user: 'a:b', day: '3.000000', total: '5.000000' }] },
    });
    const made = ['keys', 'create', 'capped', '--day', '4', '--model', 'clip:month=9'];
    const { id, caps: first } = await json(made);
    expect(first).toEqual({ day: '4.000000', models: [{ model: 'clip', month: '9.000000' }] });
    const caps = ['--month', '9.5', '--model', 'clip:day=1', '--model', 'plain:total=0'];
    expect(await json(['keys', 'cap', id, ...caps, '--reason', 'trial'])).toMatchObject({
      caps: {
        month: '9.500000',
        models: [
          { model: 'clip', day: '1.000000' },
          { model: 'plain', total: '0.000000' },
        ],
      },
    });
    expect((await json(['keys', 'cap', id, '--reason', 'over'])).caps).toEqual({ models: [] });
    const wrong = ['keys', 'cap', id, '--model', 'clip:week=1', '--reason', 'x'];
    await expect(gateway(wrong)).rejects.toThrow('It must be a name and its caps');
  });

  it('price-factor', async () => {
    await gateway(['accounts', 'create', 'agreed']);
    const line = ['accounts', 'price-factor', 'agreed', '0.9', '--model', 'clip=0.80', '--reason', 'a year'];
    expect((await json(line)).price_factors).toEqual({
      factor: '0.9',
      models: [{ model: 'clip', factor: '0.8' }],
    });
    const wrong = ['accounts', 'price-factor', 'agreed', '1', '--model', 'clip', '--reason', 'x'];
    await expect(gateway(wrong)).rejects.toThrow('It must be a model and its factor');
  });

  it('set-alert, alert: the endpoint is the account’s, and the request goes to the gateway', async () => {
    await gateway(['accounts', 'create', 'alerted']);
    const endpoint = ['--endpoint', 'https://caller.example/hook'];
    const line = ['accounts', 'set-alert', 'alerted', '10', '--caps', ...endpoint, '--reason', 'asked'];
    const set = { threshold: '10.000000', caps: true, url: 'https://caller.example/hook' };
    expect(await json(line)).toMatchObject(set);
    expect(await json(['accounts', 'alert', 'alerted'])).toMatchObject(set);
    expect(await json(['accounts', 'set-alert', 'alerted', 'off', '--reason', 'over'])).toMatchObject({
      threshold: null,
      caps: false,
      url: null,
    });
  });

  it('overdraft, close, reopen', async () => {
    await gateway(['accounts', 'create', 'closing']);
    await gateway(['accounts', 'credit', 'closing', '3', '--reference', 'r']);
    const limit = await json(['accounts', 'overdraft', 'closing', '7.5', '--reason', 'trusted']);
    expect(limit).toMatchObject({ overdraft_limit: '7.500000' });
    const closed = await gateway(['accounts', 'close', 'closing', '--reason', 'left us']);
    expect(closed.text).toMatch(/^balance_note +Nothing is held, .* credit of -3\.000000\.$/m);
    expect(closed.text).toMatch(/admin +closed +left us$/m);
    await expect(gateway(['accounts', 'close', 'closing', '--reason', 'again'])).rejects.toThrow('already');
    expect(await json(['accounts', 'reopen', 'closing', '--reason', 'came back'])).toMatchObject({
      closed_at: null,
      changes: [{}, {}, {}, { by: 'admin', action: 'reopened', reason: 'came back' }],
    });
    await expect(gateway(['accounts', 'close', 'closing'])).rejects.toThrow('--reason');
  });

  it('explain how to see more', async () => {
    for (const id of ['page-1', 'page-2']) await gateway(['accounts', 'create', id]);
    const { text } = await gateway(['accounts', 'list', '--limit', '1', '--after', 'page-0']);
    expect(text).toContain('More results: --after page-1');
  });
});

it('operators invite, withdraw; sessions list, end-all; a new webhook secret', async () => {
  const invited = await gateway(['operators', 'invite', 'zoe', '--roles', 'support', '--valid', '1h']);
  expect(invited.text).toMatch(/^link +https?:\/\/\S+\/console#\/invitation\/iv-\S+$/m);
  expect(await json(['operators', 'withdraw', 'zoe'])).toMatchObject({ name: 'zoe', revoked: true });
  await expect(gateway(['operators', 'withdraw', 'zoe', '--reason', 'again'])).rejects.toMatchObject({
    status: 4,
  });
  await world.admin('POST', '/sessions');
  expect((await gateway(['sessions', 'list'])).text).toMatch(/^ses_\S+ +admin /m);
  expect((await json(['sessions', 'end-all', '--operator', 'admin'])).ended).toBeGreaterThan(0);
  expect((await gateway(['sessions', 'list'])).text).toBe('None.');
  await gateway(['accounts', 'create', 'resealed']);
  const { text } = await gateway(['accounts', 'rotate-webhook-secret', 'resealed']);
  expect(text).toContain('The webhook secret will not be shown again.');
});

it('config catalogue: the channels and prices of a model, as `config draft add` needs them', async () => {
  const { text } = await gateway(['config', 'catalogue', '-o', 'wide']);
  expect(text).toMatch(/^ID +KIND +OWNED_BY +CHANNELS +PRICES$/m);
  expect(text).toMatch(/^seedance-2\.0 +video +bytedance +ark-cn, \S.* 7\.00\/million_tokens\b/m);
  expect(text).not.toContain('{');
});

it.each([
  ['accepted', 0],
  ['untested', 0],
  ['refused', 1],
  ['unclear', 1],
])('config draft test: a credential that is %s ends it with %d', async (verdict, expected) => {
  const words = `It is ${verdict}.`;
  const server = createServer((_, response) => response.end(JSON.stringify({ verdict, words })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { text, status } = await gateway(['config', 'draft', 'test', 'one', 'a'], { url });
  expect([text, status]).toEqual([words, expected]);
});

describe('a command that lists a page', async () => {
  const program = createProgram();
  await addOperatorCommands(program, {} as CliContext, Object.keys(groups));
  const leaves = (command: Command, path: readonly string[]): [string, Command][] => [
    [path.join(' '), command],
    ...command.commands.flatMap((one) => leaves(one, [...path, one.name()])),
  ];
  const paged = leaves(program, []).filter(([, command]) =>
    command.options.some(({ long }) => long === '--limit'),
  );

  it.each(paged)('%s: says how to continue, in JSON on standard error', async (path, command) => {
    const row = { id: 'last', seq: 'last', situation, actions: [] };
    const server = createServer((_, response) =>
      response.end(JSON.stringify({ object: 'list', data: [row], has_more: true })),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const given = command.registeredArguments.filter(({ required }) => required).map(() => 'x');
    const line = [...path.split(' '), ...given, '--limit', '1', '--after', 'first'];
    const hint = 'More results: --after last';
    expect((await gateway(line, { url })).text.split('\n').at(-1)).toBe(hint);
    for (const form of ['json', 'jsonl']) {
      const { text, warned } = await gateway([...line, '-o', form], { url });
      expect([JSON.parse(text), warned]).toEqual([form === 'json' ? [row] : row, [hint]]);
    }
  });
});

it('--watch does not repeat commands that change something', async () => {
  await expect(gateway(['accounts', 'create', 'acme', '-w'])).rejects.toMatchObject({
    status: 2,
    message: '--watch works only with commands that list or show something.',
  });
});

it('audit: what was done, by whom and when, as the options request', async () => {
  await gateway(['accounts', 'create', 'audited']);
  await gateway(['accounts', 'overdraft', 'audited', '7.5', '--reason', 'trusted']);
  const { text } = await gateway(['audit', '--since', '5m', '--by', 'admin', '--limit', '2']);
  expect(text.split('\n')).toEqual([
    expect.stringMatching(/^AT +BY +ACTION +TARGET +OUTCOME +REASON$/),
    expect.stringMatching(/^\d+[sm] +admin +setOverdraft +audited +done +trusted$/),
    expect.stringMatching(/^\d+[sm] +admin +createAccount +audited +done +-$/),
    expect.stringMatching(/^More results: --after \d+-\w+$/),
  ]);
  const since = await json(['audit', '--since', '2026-01-01T00:00:00Z', '--limit', '1']);
  expect(since).toMatchObject([
    { via: 'cli', what: '{"overdraft_limit":"7.500000"}', address: expect.any(String) },
  ]);
  expect((await gateway(['audit', '--by', 'nobody'])).text).toBe('None.');
  expect((await gateway(['audit', '--task', 'task_none'])).text).toBe('None.');
  await expect(gateway(['audit', '--since', 'yesterday'])).rejects.toThrow('It must be a date');
});

describe('text from outside', () => {
  const hostile = '\u001B]0;owned\u0007\u202Egnp\u009B2J';
  const shownAs = '\\u001b]0;owned\\u0007\\u202egnp\\u009b2J';

  async function answering(body: unknown, status = 200) {
    const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  const row = { id: 'a', name: hostile, note: `two\nlines`, nested: { list: [hostile] }, [hostile]: 1 };
  const listed = { data: [row], has_more: true };

  it.each([
    ['a table', ['accounts', 'list'], listed],
    ['a list as JSON', ['accounts', 'list', '-o', 'json'], listed],
    ['an object', ['accounts', 'show', 'a'], row],
    ['an object as JSON', ['accounts', 'show', 'a', '-o', 'json'], row],
    ['a task', ['tasks', 'show', 't'], { ...row, situation: { ...situation, what: hostile } }],
  ])('is shown but not interpreted in %s', async (_, line, body) => {
    const { text } = await gateway(line, await answering(body));
    expect(text).toContain(shownAs);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('is one line in a cell', async () => {
    const { text } = await gateway(['ledger', 'show', 'a', '-o', 'wide'], await answering(listed));
    expect(text).toContain('two\\u000alines');
  });

  it('is shown but not interpreted in an error', async () => {
    const said = { error: { message: hostile, code: 'x' } };
    const error = await gateway(['accounts', 'show', 'a'], await answering(said, 400)).catch(
      (thrown: unknown) => thrown,
    );
    expect(failureText(error, true)).toContain(shownAs);
    expect(failureText(new TypeError(hostile), false)).toContain(shownAs);
  });

  it('is shown but not interpreted in a progress line', () => {
    const written: string[] = [];
    const output = new Writable({
      write: (chunk, _, done) => {
        written.push(String(chunk));
        done();
      },
    });
    createTerminal(Readable.from([]), output).progress(hostile);
    expect(written.join('')).toBe(`\r\u001B[K${shownAs}`);
  });
});

it('keys: create, list, revoke', async () => {
  await gateway(['accounts', 'create', 'keyed']);
  const made = await json([
    'keys', 'create', 'keyed', '--name', 'ci', '--models', 'clip, plain', '--channels', 'one',
    '--requests-per-minute', '60', '--concurrent-tasks', '3', '--expires-at', '2040-01-31T12:00Z',
    '--duration-max', '8', '--resolution-max', '1080p',
  ]); // prettier-ignore
  expect(made).toMatchObject({
    key: expect.stringMatching(/^sk-/),
    models: ['clip', 'plain'],
    channels: ['one'],
    requests_per_minute: 60,
    concurrent_tasks: 3,
    duration_max: 8,
    resolution_max: '1080p',
    expires_at: Date.UTC(2040, 0, 31, 12) / 1000,
  });
  expect((await gateway(['keys', 'list', '--account', 'keyed'])).text).toMatch(
    /clip, plain +- +in 1\dy +- +\d+[sm]$/m,
  );
  expect((await gateway(['keys', 'list', '--account', 'keyed', '-o', 'wide'])).text).toMatch(
    /clip, plain +- +2040-01-31T12:00:00Z +- +\S+Z +create, read_own +sk-\S+ +- +- +- +one +60 +- +-$/m,
  );
  expect(await json(['keys', 'revoke', made.id])).toMatchObject({ revoked: true });
  await expect(gateway(['keys', 'create', 'keyed', '--requests-per-minute', '0'])).rejects.toThrow(
    'at least 1',
  );
  await expect(gateway(['keys', 'create', 'keyed', '--expires-at', 'soon'])).rejects.toThrow('date');
});

it('keys: rotate, revoke with a reason', async () => {
  await gateway(['accounts', 'create', 'rotating']);
  const { id } = await json(['keys', 'create', 'rotating']);
  const line = ['keys', 'rotate', id, '--reason', 'leaked', '--old-valid', '2h'];
  const made = await json(line);
  expect(made).toMatchObject({ key: expect.stringMatching(/^sk-/), replaces: id });
  expect(made.old_ends_at - made.created_at).toBeGreaterThanOrEqual(2 * 3600 - 1);
  expect(made.old_ends_at - made.created_at).toBeLessThanOrEqual(2 * 3600 + 1);
  await expect(gateway(line)).rejects.toThrow(`was already replaced by ${made.id}`);
  await expect(gateway(['keys', 'rotate', id, '--reason', 'x', '--old-valid', 'soon'])).rejects.toThrow(
    '24h',
  );
  await gateway(['keys', 'revoke', id, '--reason', 'no longer used']);
  const listed = await json(['keys', 'list', '--account', 'rotating']);
  expect(listed.find((key: { id: string }) => key.id === id).changes.at(-1)).toMatchObject({
    by: 'admin',
    action: 'revoked',
    reason: 'no longer used',
  });
});

describe('tasks', () => {
  it('list, show, action', async () => {
    const account = await world.newAccount();
    const id: string = (await account.create()).body.id;
    const listed = await gateway(['tasks', 'list', '--account', account.id, '--status', 'pending']);
    expect(listed.text).toMatch(new RegExp(`^${id} +${account.id} +clip +pending +worker +- +\\d+s$`, 'm'));
    expect((await gateway(['tasks', 'list', '--account', account.id, '--needs-attention'])).text).toBe(
      'None.',
    );
    const shown = await gateway(['tasks', 'show', id]);
    expect(shown.text).toMatch(/^ledger\n {2}KIND +AMOUNT .* AT\n {2}hold +-0\.500000 /m);
    expect(shown.text).toMatch(/^ {2}20\S+Z {2}\+0\.000 s {2}admission {2}clip for /m);
    expect((await json(['tasks', 'show', id])).record.task.id).toBe(id);
    const out = join(await mkdtemp(join(tmpdir(), 'mediary-export-')), 'record.json');
    await gateway(['tasks', 'export', id, '--out', out]);
    const exported: unknown = JSON.parse(await readFile(out, 'utf8'));
    expect(exported).toMatchObject({ format: 'mediary-task-record', task: { id }, history: { of: id } });
    await rm(dirname(out), { recursive: true });
    await expect(gateway(['tasks', 'export', id, '--out', `${out}/no/such`])).rejects.toThrow(
      'cannot be written',
    );
    const acted = await json([
      'tasks',
      'action',
      id,
      'adopt',
      '--reason',
      'found it',
      '--upstream-id',
      'up-1',
    ]);
    expect(acted.actions).toEqual([
      expect.objectContaining({ by: 'admin', action: 'adopt', reason: 'found it' }),
    ]);
  });

  it('show begins with what the task waits for, what to do, and the commands for it', async () => {
    const account = await world.newAccount();
    const [waiting, lost, review] = [
      await account.create(),
      await account.create(),
      await account.create(),
    ].map(({ body }) => body.id as string);
    const linesOf = async (id = '') => (await gateway(['tasks', 'show', id])).text.split('\n');
    await world.drive.accept(waiting ?? '');
    const watched = await linesOf(waiting);
    expect(watched.slice(0, 8)).toEqual([
      'Waiting for one.',
      expect.stringMatching(/^Since 20\S+Z, until 20\S+Z\.$/),
      'Possible actions (try each with --dry-run first):',
      `  gateway tasks action ${waiting} retry_now --reason "…"`,
      '    moves no money',
      `  gateway tasks action ${waiting} fail --reason "…"`,
      '    releases 0.500000; the upstream may bill a job that no charge covers',
      `  gateway tasks action ${waiting} cancel --reason "…"`,
    ]);
    const line = (start: RegExp) => watched.findIndex((text) => start.test(text));
    expect(line(/^ {2}20\S+Z +\+0\.\d{3} s {2}admission/)).toBeGreaterThan(7);
    expect(line(new RegExp(`^id +${waiting}$`))).toBeGreaterThan(line(/ {2}admission {2}/));
    await world.drive.ask(lost ?? '');
    const shown = await linesOf(lost);
    expect(shown.slice(0, 6)).toEqual([
      'The response of one to the submission was lost (upstream_timeout).',
      expect.stringMatching(/^Since /),
      expect.stringMatching(
        /^Needs attention: submit_ambiguous\. The submission may have reached the upstream, /,
      ),
      `Look at one/a for mark-${lost}-1.`,
      'Possible actions (try each with --dry-run first):',
      `  gateway tasks action ${lost} retry_now --reason "…"`,
    ]);
    expect(shown.join('\n')).not.toMatch(/^situation/m);
    await world.drive.polled(review ?? '', succeededWith('https://files.example/a.mp4'));
    await world.drive.step(review ?? '', { kind: 'reviewed', charge: '9000000', why: 'above_hold' });
    expect(await linesOf(review)).toContain('The charge would be 9.000000.');
    expect((await json(['tasks', 'show', review ?? ''])).situation).toMatchObject({ charge: '9.000000' });
  });

  it('prints the gateway’s refusal in its own words', async () => {
    const account = await world.newAccount();
    const id: string = (await account.create()).body.id;
    await expect(gateway(['tasks', 'action', id, 'undo', '--reason', 'try'])).rejects.toThrow(
      /^`undo` is not possible: it is not known .* Possible now: .* \(action_not_possible, request [\w-]+\)$/,
    );
    const { text } = await gateway(['tasks', 'act', id, 'fail', '--reason', 'try', '--dry-run']);
    expect(text).toMatch(/^would\n {2}task {3}Done\.\n {2}money {2}Nothing\.\nplan {3}[0-9a-f]{16}$/);
    await expect(gateway(['tasks', 'show', 'none'])).rejects.toThrow('task_not_found');
  });

  it.each([
    [['tasks', 'action', 'x', 'explode', '--reason', 'r'], /choices are retry_now/],
    [['tasks', 'action', 'x', 'retry_now'], /--reason/],
    [
      ['tasks', 'action', 'x', 'extend', '--reason', 'r', '--seconds', 'an-hour'],
      /It must be a whole number/,
    ],
    [['tasks', 'action', 'x', 'complete', '--reason', 'r', '--images', '0'], /It must be a whole number/],
    [['tasks', 'action', 'x', 'complete', '--reason', 'r', '--total-tokens', '1k'], /It must be a number/],
    [['tasks', 'action', 'x', 'complete', '--reason', 'r', '--duration', '5s'], /It must be a number/],
    [['tasks', 'list', '--status', 'odd'], /choices are pending/],
    [['accounts', 'credit', 'x', '1'], /--reference/],
    [['nonsense'], /unknown command/],
  ])('%j is refused before anything is called', async (line, message) => {
    await expect(gateway(line)).rejects.toThrow(message);
  });
});

describe('usage', () => {
  it('as a table, and as CSV in a file', async () => {
    const account = await world.newAccount({ credit: '10' });
    await account.create();
    const line = ['usage', '--by', 'account,model', '--account', account.id];
    const { text } = await gateway(line);
    expect(text.split('\n')[0]).toMatch(
      /^ACCOUNT +MODEL +TASKS +SETTLED +RELEASED +OPEN +CHARGED +REFUNDED$/,
    );
    expect(text).toMatch(/ +clip +1 +0 +0 +1 +0\.000000 +0\.000000$/);
    const directory = await mkdtemp(join(tmpdir(), 'usage-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'usage.csv');
    await gateway([...line, '--csv', file]);
    expect(await readFile(file, 'utf8')).toMatch(
      /^account,model,tasks,[^\n]*\n[^,]+,clip,1,0,0,1,0\.000000,0\.000000\r\n$/,
    );
  });
});

describe('ledger', () => {
  it('show', async () => {
    const account = await world.newAccount({ credit: '10' });
    await account.create();
    const { text } = await gateway(['ledger', 'show', account.id, '-o', 'wide']);
    expect(text.split('\n')[1]).toMatch(
      /^ +1 +\d{4}-\S+Z +credit +10\.000000 +10\.000000 +0\.000000 +- +by admin$/,
    );
    expect(text.split('\n')[2]).toMatch(/hold +-0\.500000 +9\.500000 +0\.500000 +task_/);
    expect((await gateway(['ledger', 'show', account.id, '--after', '1'])).text).not.toContain('credit');
  });

  it('statement: printed, and saved as a file only if it is complete', async () => {
    const account = await world.newAccount({ credit: '10' });
    const entries = (await world.admin('GET', `/accounts/${account.id}/ledger`)).body.data;
    const month = new Date(entries[0].at * 1000).toISOString().slice(0, 7);
    const line = ['ledger', 'statement', account.id, '--month', month];
    const { text } = await gateway(line);
    expect(text).toMatch(/^at,seq,kind,.*\n\S+,,opening,.*\n\S+,1,credit,,10\.000000,10\.000000,/);
    const directory = await mkdtemp(join(tmpdir(), 'statement-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'statement');
    await gateway([...line, '--format', 'html', '--out', file]);
    const page = await readFile(file, 'utf8');
    expect(page).toMatch(/^<!doctype html>[^]*<\/html>\n$/);
    const other = ['ledger', 'statement', 'none', '--month', month, '--out', file];
    await expect(gateway(other)).rejects.toMatchObject({ status: 4 });
    expect(await readFile(file, 'utf8')).toBe(page);
    expect(await readdir(directory)).toEqual(['statement']);
  });

  const openHolds = { workflow: 1, lease: 2, creation: 0 };
  const sound: VerifyResult = { openHolds, accounts: 2, entries: 7, violations: [], violationCount: 0 };
  const verifying = async (result: VerifyResult) => {
    const node = await world.startNode({ verifyLedger: () => Promise.resolve(result) });
    return gateway(['ledger', 'verify'], { url: node.url });
  };

  it('verify: sound', async () => {
    expect(await verifying(sound)).toMatchObject({
      text:
        '2 accounts, 7 entries: 0 violations.\n' +
        'Open holds: 1 for running workflows, 2 for images, 0 for tasks being created.\n' +
        'No exported heads were compared, so this verification does not prove that nobody removed entries together with their anchors. See `ledger.heads`.',
      status: 0,
    });
  });

  it('verify: reports the exported heads that were compared', async () => {
    const outside = { days: 3, heads: 4, newest: '2026-11-25', notCompared: ['2026-11-24', '2026-11-22'] };
    const { text, status } = await verifying({ ...sound, outside });
    expect(text).toContain('Compared 4 exported heads from 3 days; the newest day is 2026-11-25.');
    expect(text).toContain(
      'The exported heads of 2 days could not be read and were not compared: 2026-11-22 to 2026-11-24.',
    );
    expect(status).toBe(0);
  });

  it('verify --heads: rejects a file without heads before it verifies anything', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'heads-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'heads.jsonl');
    let verified = 0;
    const verifyLedger = () => Promise.resolve({ ...sound, accounts: ++verified });
    const { url } = await world.startNode({ verifyLedger });
    const refusal = async () => {
      const error: unknown = await gateway(['ledger', 'verify', '--heads', file], { url }).catch(
        (thrown: unknown) => thrown,
      );
      return error;
    };
    expect(await refusal()).toMatchObject({ status: 2, message: expect.stringContaining('read: ENOENT') });
    for (const text of ['', '\n', 'not a head\n', '[]', '{"account":"a"}\n']) {
      await writeFile(file, text);
      const message = expect.stringContaining(`${file} does not consist of heads`);
      expect([text, await refusal()]).toMatchObject([text, { status: 2, message }]);
    }
    expect(verified).toBe(0);
  });

  it('verify: status 1 and a table of the violations', async () => {
    const violation = {
      invariant: 'hash_chain_intact',
      account: 'a',
      message: 'entry 3 was changed',
    } as const;
    const { text, status } = await verifying({ ...sound, violations: [violation], violationCount: 1 });
    expect(text).toMatch(/^a +hash_chain_intact +entry 3 was changed$/m);
    expect(status).toBe(1);
  });
});

it('channels: list, disable, enable', async () => {
  expect((await gateway(['channels', 'list'])).text).toMatch(
    /^one +ill +- +- +\d+ +No worker is running\.$/m,
  );
  const off = await json(['channels', 'disable', 'two', '--reason', 'maintenance']);
  expect(off).toMatchObject({ enabled: false, switch: { by: 'admin', reason: 'maintenance' } });
  expect(await json(['channels', 'enable', 'two'])).toMatchObject({ enabled: true });
});

it('operators: add, list, revoke', async () => {
  const added = await gateway(['operators', 'add', 'anna']);
  expect(added.text).toMatch(/^token +op-\w+$/m);
  expect(added.text).toContain('will not be shown again');
  expect(await json(['operators', 'add', 'grafana', '--roles', 'viewer'])).toMatchObject({
    roles: ['read', 'amounts'],
  });
  expect((await gateway(['operators', 'list'])).text).toMatch(
    /^anna +read +active +op-\w{5} +\d+[sm] +admin +- +- +-$/m,
  );
  expect(await json(['operators', 'change', 'grafana', '--roles', 'support'])).toMatchObject({
    roles: ['read', 'tasks', 'content'],
  });
  expect(await json(['operators', 'revoke', 'grafana'])).toMatchObject({ revoked: true });
  await expect(gateway(['operators', 'add', 'anna'])).rejects.toThrow('The operator anna already exists.');
  await expect(gateway(['operators', 'add', 'bert', '--roles', 'root'])).rejects.toThrow(
    'must be one or more of read, amounts',
  );
});

it('channels: open-circuit, close-circuit', async () => {
  const line = ['two', 'b', '--reason', 'they asked us to'];
  const opened = await json(['channels', 'open-circuit', ...line, '--model', 'clip', '--seconds', '60']);
  const part = { credential: 'b', model: 'clip', by: 'admin', reason: line[3] };
  expect(opened.health.parts).toMatchObject([{ ...part, state: 'paused' }]);
  const wide = await gateway(['channels', 'list', '-o', 'wide']);
  expect(wide.text).toMatch(/^ID +STATE +SINCE +UNTIL +WAITING +HEALTH +PROVIDER +MODELS +CREDENTIALS /m);
  const shown = await gateway(['channels', 'show', 'two']);
  expect(shown.text).toMatch(
    /^circuits\n +of +b\/clip\n +state +paused\n +since +20\S+Z\n +until +20\S+Z\n(?:.*\n)+? +text +admin stopped submissions to model clip/m,
  );
  expect(shown.text).toMatch(
    /^openings\n +OF +AT +SIGN +CODE +BY +REASON\n +b\/clip +20\S+Z +failure +operator +admin +they asked us to$/m,
  );
  await expect(gateway(['channels', 'show', 'none'])).rejects.toThrow('There is no channel none.');
  const closed = await json(['channels', 'close-circuit', ...line, '--model', 'clip']);
  expect(closed.health.parts).toMatchObject([{ state: 'serving' }]);
  await expect(gateway(['channels', 'close-circuit', ...line])).rejects.toThrow('This circuit is not open.');
  await expect(gateway(['channels', 'open-circuit', 'two', 'b'])).rejects.toThrow('--reason');
});

describe('config', () => {
  it('a draft is changed, tried, published and rolled back', async () => {
    const { url, running, admin } = await startDraftsNode(world);
    const draft = (...line: string[]) => gateway(['config', 'draft', ...line], { url });
    const pointer = '/models/clip/price/lines/0/price';
    const change = 'models.clip.price.lines[0].price: "0.10" → "0.20"';
    expect((await draft('set', pointer, '"0.20"')).text).toContain(change);
    expect((await draft('show')).text).toContain('# A comment that stays.');
    expect((await draft('diff')).text).toMatch(/Revision 1\.$/);
    expect((await draft('diff')).text.split('\n')).toContain(change);
    expect((await draft('try')).text).toContain('0 tasks: 0.000000 before');
    await expect(draft('set', pointer, '1', '--revision', '0')).rejects.toThrow('revision 1; you read');
    await expect(draft('set', pointer)).rejects.toThrow('--remove');
    expect((await draft('publish', '--reason', 'spring')).text).toMatch(/^version +2$/m);
    expect((await gateway(['config', 'versions'], { url })).text).toMatch(/^ +2 .* spring$/m);
    const dry = await gateway(['config', 'rollback', '1', '--dry-run'], { url });
    expect(dry.text).toContain('models.clip.price.lines[0].price');
    await gateway(['config', 'rollback', '1', '--reason', 'too much'], { url });
    expect(running.state().version).toBe(3);
    const file = join(tmpdir(), `mediary-draft-${process.pid}.yaml`);
    await writeFile(file, (await admin('GET', '/config/draft')).body.text.replace('"0.10"', '"0.30"'));
    onTestFinished(() => rm(file));
    await draft('set', '--file', file);
    expect((await draft('show')).text).toContain('0.30');
    expect((await draft('set', '/models/clip/owned_by', '--remove')).text).toContain('Revision');
    expect((await draft('discard')).text).toContain('discarded');
  });

  it('check', async () => {
    const { text } = await gateway(['config', 'check']);
    expect(text).toMatch(/^channels +a$/m);
    expect(text).toMatch(/^polls_per_worker +40$/m);
    expect(text).toContain('frontend.namespaceCount');
  });

  it('reload reports what is wrong with the file', async () => {
    await expect(gateway(['config', 'reload'])).rejects.toThrow('models: required; currency: required');
  });

  it('show, and reload, which fails if a process rejects what was published', async () => {
    const head = await world.stores.configurations.publish({
      text: 'x',
      hash: 'abc',
      currency: 'USD',
      by: 'anna',
      node: 'host/1/x',
      at: 0,
    });
    await world.stores.nodes.report({
      id: 'worker/host/1/x',
      kind: 'worker',
      version: '1.0.0',
      since: 0,
      leaving: false,
      config: { version: 0, hash: 'old', refused: { version: head.version, reasons: ['no key'] } },
      channels: ['one'],
      unreached: [],
      load: { eventLoopLagMs: 0, inFlight: 0 },
    });
    const refusal = /^ +worker\/host\/1\/x +running +0 +\{"config":1,"reasons":\["no key"\]\}$/m;
    expect((await gateway(['config', 'show'])).text).toMatch(refusal);
    const node = await world.startNode({
      publishConfig: () => Promise.resolve({ ok: true, head, changes: [] }),
    });
    const reloaded = await gateway(['config', 'reload'], { url: node.url });
    expect(reloaded.text).toMatch(refusal);
    expect(reloaded.status).toBe(1);
    const changes = [{ path: 'models.clip.n', kind: 'changed', before: '1', after: '2' }] as const;
    const other = await world.startNode({ previewConfig: () => Promise.resolve({ ok: true, changes }) });
    const tried = await gateway(['config', 'reload', '--dry-run'], { url: other.url });
    expect([tried.status, tried.text]).toEqual([0, expect.stringMatching(/models\.clip\.n +changed +1 +2/)]);
    const { text } = await gateway(['nodes']);
    expect(text).toMatch(/^worker\/host\/1\/x +running +0 +\d+y +\d+s +0$/m);
    expect((await gateway(['nodes', '-o', 'wide'])).text).toMatch(/^worker.* running .* 1\.0\.0 +0 +one$/m);
    expect(text).toContain('worker/host/1/x rejected {"config":1,"reasons":["no key"]}');
  });
});

describe('a gateway that does not respond', () => {
  it('is named', async () => {
    await expect(gateway(['keys', 'list'], { url: 'http://127.0.0.1:1' })).rejects.toThrow(
      'The gateway does not respond at http://127.0.0.1:1 (ECONNREFUSED). Is it running?',
    );
  });

  it('another service responds', async () => {
    const server = createServer((_, response) => response.end('<html>'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await expect(gateway(['keys', 'list'], { url: `http://127.0.0.1:${port}` })).rejects.toThrow(
      'Check --url',
    );
    server.close();
  });

  it('a valid service responds for another token, or for none', async () => {
    const wrong = { url: world.url, token: 'wrong' };
    const { createAdminClient } = await import('../../src/cli/admin-client.ts');
    await expect(createAdminClient(wrong).call('GET', '/keys')).rejects.toThrow('Check OPERATOR_TOKEN');
    const node = await world.startNode({ operatorAuth: undefined } as never);
    await expect(createAdminClient({ url: node.url, token: 'x' }).call('GET', '/keys')).rejects.toThrow(
      'Does that gateway have an ADMIN_TOKEN?',
    );
  });
});

describe('which gateway', () => {
  let dataDir: string;
  const settings = {
    secretsKey: 'x',
    adminToken: 'the-admin-token-of-local-mode-itself',
    account: 'local',
    apiKey: 'the-key-of-local-mode',
    apiUrl: 'http://127.0.0.1:9999',
  };
  const save = (more: object) =>
    writeFile(join(dataDir, 'local.json'), JSON.stringify({ ...settings, ...more }));

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'mediary-cli-'));
    return () => rm(dataDir, { recursive: true });
  });
  beforeEach(async () => save({ startedBy: await identifyProcess(process.pid) }));

  describe.each([
    ['has ended', { startedBy: { pid: 2 ** 30, startedAt: '1' } }],
    ['has ended, and another process has its id', { startedBy: { pid: process.pid, startedAt: '1' } }],
    ['is still starting', {}],
  ])('while local mode %s', (_, more) => {
    beforeEach(() => save(more));

    it.each<[Record<string, string>, string]>([
      [{ OPERATOR_TOKEN: 'op-x' }, 'op-x'],
      [{ ADMIN_TOKEN: settings.adminToken }, settings.adminToken],
    ])('no token that the operator set is sent to its address: %j', async (environment, token) => {
      const parsed = readEnvironment({ DATA_DIR: dataDir, ...environment });
      expect(await resolveTarget(parsed, undefined)).toEqual({ url: 'http://127.0.0.1:8080', token });
    });

    it('its own token is sent only to an address that the operator names', async () => {
      const parsed = readEnvironment({ DATA_DIR: dataDir });
      await expect(resolveTarget(parsed, undefined)).rejects.toThrow('is not running on this machine');
      const url = 'http://127.0.0.1:9998';
      expect(await resolveTarget(parsed, url)).toEqual({ url, token: settings.adminToken });
    });

    it('`npm run demo` sends its key nowhere else', async () => {
      const shown: unknown[] = [];
      const other = createServer((request, response) => {
        shown.push(request.headers.authorization);
        response.end('{}');
      });
      await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void other.close());
      const apiUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      await save({ ...more, apiUrl });
      expect(await findAnswering(dataDir)).toBeUndefined();
      expect(shown).toEqual([]);
      await save({ apiUrl, startedBy: await identifyProcess(process.pid) });
      expect(await findAnswering(dataDir)).toMatchObject({ apiUrl });
      expect(shown).toEqual([`Bearer ${settings.apiKey}`]);
    });
  });

  it.each<[Record<string, string>, string | undefined, string, string]>([
    [{ ADMIN_TOKEN: 'x'.repeat(32) }, undefined, 'http://127.0.0.1:8080', 'x'.repeat(32)],
    [{ ADMIN_TOKEN: 'x'.repeat(32), PORT: '81', HOST: 'h' }, undefined, 'http://h:81', 'x'.repeat(32)],
    [
      { ADMIN_TOKEN: 'x'.repeat(32), PUBLIC_URL: 'https://g.example/' },
      undefined,
      'https://g.example',
      'x'.repeat(32),
    ],
    [
      { PUBLIC_URL: 'https://g.example' },
      'https://other.example//',
      'https://other.example',
      'the-admin-token-of-local-mode-itself',
    ],
    [{}, undefined, 'http://127.0.0.1:9999', 'the-admin-token-of-local-mode-itself'],
    [{ OPERATOR_TOKEN: 'op-x' }, undefined, 'http://127.0.0.1:9999', 'op-x'],
    [{ OPERATOR_TOKEN: 'op-x', ADMIN_TOKEN: 'x'.repeat(32) }, undefined, 'http://127.0.0.1:8080', 'op-x'],
    [
      { ADMIN_TOKEN: 'the-admin-token-of-local-mode-itself' },
      undefined,
      'http://127.0.0.1:9999',
      'the-admin-token-of-local-mode-itself',
    ],
  ])('%j with --url %s is %s', async (environment, url, expected, token) => {
    const parsed = readEnvironment({ DATA_DIR: dataDir, ...environment });
    expect(await resolveTarget(parsed, url)).toEqual({ url: expected, token });
  });

  it('no token, and an invalid URL', async () => {
    await expect(resolveTarget(readEnvironment({ DATA_DIR: '/nonexistent' }), undefined)).rejects.toThrow(
      'OPERATOR_TOKEN and ADMIN_TOKEN are not set',
    );
    await expect(resolveTarget(readEnvironment({ DATA_DIR: dataDir }), 'localhost')).rejects.toThrow(
      'is not a URL',
    );
  });
});

it('an operator’s own token: its name is recorded, and its role decides what it may do', async () => {
  const tokenOf = async (name: string, role: string): Promise<string> =>
    (await json(['operators', 'add', name, '--roles', role])).token;
  const line = ['channels', 'disable', 'three', '--reason', 'errors', '-o', 'json'];
  const { stdout } = await run(line, {
    PUBLIC_URL: world.url,
    OPERATOR_TOKEN: await tokenOf('carla', 'engineer'),
    ADMIN_TOKEN: adminToken,
  });
  expect(JSON.parse(stdout).switch).toMatchObject({ by: 'carla', reason: 'errors' });
  await gateway(['channels', 'enable', 'three']);
  const reader = { token: await tokenOf('dora', 'read') };
  expect((await gateway(['channels', 'list'], reader)).text).toContain('three');
  await expect(gateway(line, reader)).rejects.toMatchObject({
    status: 3,
    message: expect.stringMatching(
      /^The operator dora has the roles read\. .* \(operator_not_allowed, request/,
    ),
  });
});

const run = (line: readonly string[], environment: Record<string, string>) =>
  promisify(execFile)(process.execPath, ['src/gateway.js', ...line], {
    env: { PATH: process.env['PATH'], ...environment },
  });

it('config check: the file of npm start if local mode was started here, or 78 and every problem of your own file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-cli-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const localSettings = {
    secretsKey: randomBytes(32).toString('base64'),
    adminToken: 'the-admin-token-of-local-mode-itself',
    account: 'local',
  };
  await writeFile(join(directory, 'local.json'), JSON.stringify(localSettings));
  const { stdout } = await run(['config', 'check', '-o', 'json'], { DATA_DIR: directory });
  expect(JSON.parse(stdout)).toMatchObject({ file: expect.stringMatching(/gateway\.local\.yaml$/) });
  const own = join(directory, 'gateway.yaml');
  await writeFile(own, 'currency: dollars\nchannels: []\n');
  const refused = run(['config', 'check'], { DATA_DIR: directory, GATEWAY_CONFIG: own });
  const { code, stderr } = await refused.catch((error) => error);
  expect(code).toBe(78);
  expect(stderr).toMatch(/gateway\.yaml[\s\S]*currency: must be a currency code[\s\S]*models: required/);
});

describe('price explain', () => {
  it('explains how the hold and the charge of a request come about', async () => {
    const { text } = await gateway(['price', 'explain', 'clip', '--request', '{"duration":-1}']);
    const lines = text.split('\n');
    expect(lines.slice(0, 2)).toEqual(['hold: 1.200000 USD', '  by the price of the model on channel one']);
    expect(lines).toContain('  duration 12 (left open: the most expensive)');
    expect(lines).toContain('  resolution 720p (the model’s default)');
    expect(lines).toContain('  for an output of 12 seconds');
    expect(lines).toContain('  + 1.2   line 2: 0.100000 USD × 12 seconds (left open: the most expensive)');
    expect(lines).toContain('  = 1.200000   the sum of the lines, rounded half up to six places');
    expect(lines).toContain('usual charge: 0.500000 USD');
    expect(lines).toContain('  duration 5 (left open: the usual)');
    expect(text).toMatch(/^CHANNEL +AT MOST +PRICE\none +1\.200000 +of the model$/m);
    expect(await json(['price', 'explain', 'clip'])).toMatchObject({ hold: { amount: '0.500000' } });
  });

  it('accepts the body of a create from a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mediary-test-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'request.json');
    await writeFile(file, '{"model":"clip","prompt":"x","duration":8}');
    const held = async (...line: string[]) => (await json(['price', 'explain', ...line])).hold.amount;
    expect(await held('--file', file)).toBe('0.800000');
    expect(await held('--file', file, '--request', '{"duration":3}')).toBe('0.300000');
    await writeFile(file, '[1]');
    await expect(gateway(['price', 'explain', '--file', file])).rejects.toThrow('must be a JSON object');
    await expect(gateway(['price', 'explain', '--file', directory])).rejects.toThrow('cannot be read');
    await expect(gateway(['price', 'explain'])).rejects.toThrow('Specify a model or a task');
    await expect(gateway(['price', 'explain', 'nope'])).rejects.toMatchObject({ status: 4 });
  });

  it('shows what was held for a task', async () => {
    const account = await world.newAccount();
    const { id } = (await account.create({ duration: 8 })).body;
    const { text } = await gateway(['price', 'explain', id]);
    expect(text).toMatch(new RegExp(`^${id}: The charge depends on the upstream’s report`));
    expect(text).toContain('\nhold: 0.800000 USD\n  by the price of the model on channel one\n');
    expect(text).toContain('\ncharge: none');
    await account.call('POST', `/v1/videos/generations/${id}/cancel`);
    expect((await gateway(['price', 'explain', id])).text).toContain('\ncharge: 0.000000 USD');
    await expect(gateway(['price', 'explain', 'task_none'])).rejects.toThrow('no task with this id');
  });
});

describe('route why', () => {
  it('explains why a task waits, and what it waited for before', async () => {
    const id: string = (await (await world.newAccount()).create()).body.id;
    await world.stores.tasks.step(id, { kind: 'begun' });
    await world.stores.tasks.setWait(id, {
      cause: 'circuit',
      channel: 'one',
      credential: 'a',
      code: 'failure: x',
    });
    const { text } = await gateway(['route', 'why', id]);
    const words = 'The upstream has failed. The task will be submitted to it again after a pause';
    expect(text).toMatch(
      new RegExp(
        `^The task is being submitted or is waiting for submission .* one/a \\(failure: x\\): ${words}`,
      ),
    );
    expect(text).toMatch(/^SINCE +ENDED +CAUSE +WHERE +AHEAD +TIMES +TEXT$/m);
    expect(text).toMatch(/^20\S+Z +not yet +circuit +one\/a \(failure: x\) /m);
    expect((await gateway(['tasks', 'show', id])).text).toMatch(
      new RegExp(` {2}wait +one/a \\(failure: x\\): ${words}.* It has not ended\\.$`, 'm'),
    );
    expect((await json(['route', 'why', id])).waits).toMatchObject([{ cause: 'circuit', ended_at: null }]);
    await expect(gateway(['route', 'why', 'task_none'])).rejects.toThrow('no task with this id');
  });
});

describe('route explain', () => {
  it('shows which channels are tried, in which order, and why the others are not', async () => {
    const { text } = await gateway(['route', 'explain', 'clip']);
    expect(text.split('\n')).toEqual([
      'CHANNEL  CREDENTIAL  VERDICT            DETAIL',
      'one      a           tried as number 1  -',
      'two      b           tried as number 2  -',
      'three    -           model_not_served   does not list clip',
      'Fallback: none. A failed job ends its task.',
      expect.stringMatching(/^two: ill\. No running worker serves the channel\. /),
    ]);
    expect(await json(['route', 'explain', 'clip'])).toMatchObject({
      candidates: [{ channel: 'one', credential: 'a' }, { channel: 'two' }],
      dropped: [{ channel: 'three', reason: 'model_not_served' }],
    });
  });

  it('shows where a failed job is replaced, and what that does not do', async () => {
    const explained = async (fallback: string, ...more: string[]) => {
      const node = await world.startNode({ catalogue: fallbackCatalogue(fallback) });
      const line = ['route', 'explain', 'seedance', ...more];
      return (await runLine(world, line, { url: node.url })).text;
    };
    expect(await explained('fallback: { channels: [spare] }')).toContain(
      'Fallback: after capacity, internal, another job is submitted to spare if the failed job is not billed (this request: spare/a).\n' +
        '          Content that one vendor rejected is not sent to another vendor.',
    );
    const moderated = 'fallback: { channels: [spare, ark], on: [moderation_input], allow_moderation: true }';
    const words = await explained(moderated, '--request', '{"images":["asset://a-file"]}');
    expect(words).toContain(
      'submitted to spare, ark if the failed job is not billed (this request cannot use any of them).',
    );
    expect(words).toContain('Content that one vendor rejected may go to another vendor.');
  });

  it('considers the permissions of a key, and shows the error that its caller would get', async () => {
    const account = 'explained';
    await gateway(['accounts', 'create', account, '--name', 'Explained']);
    const { id } = await json(['keys', 'create', account, '--name', 'narrow', '--channels', 'three']);
    const { text } = await gateway(['route', 'explain', 'clip', '--key', id]);
    expect(text).toContain('not_permitted');
    expect(text).toContain('Rejected with channel_not_allowed');
  });

  it('names an unknown model, a wrong field and a request that is not JSON', async () => {
    await expect(gateway(['route', 'explain', 'nothing'])).rejects.toThrow(/no model "nothing"/);
    await expect(gateway(['route', 'explain', 'clip', '--request', '{"duration":"long"}'])).rejects.toThrow(
      /duration/,
    );
    await expect(gateway(['route', 'explain', 'clip', '--request', '{'])).rejects.toThrow(
      /must be a JSON object/,
    );
  });
});
