import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAdminClient } from '../../src/cli/admin-client.ts';
import { addOperatorCommands } from '../../src/cli/commands.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { createProgram, exitStatuses, groups, verbs } from '../../src/cli/program.js';
import { actionTable, operatorActions } from '../../src/operating/acts.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const context = {} as CliContext;

async function wholeProgram() {
  const program = createProgram();
  await addOperatorCommands(program, context, Object.keys(groups));
  return program;
}

interface Walked {
  readonly path: readonly string[];
  readonly command: Command;
}

function walk(command: Command, path: readonly string[] = []): Walked[] {
  const below = command.commands.flatMap((one) => walk(one, [...path, one.name()]));
  return [{ path, command }, ...below];
}

async function said(line: readonly string[]): Promise<string> {
  const program = await wholeProgram();
  let text = '';
  const write = (part: string) => void (text += part);
  for (const { command } of walk(program))
    command.exitOverride().configureOutput({ writeOut: write, writeErr: write });
  await program.parseAsync(['node', 'gateway', ...line]).catch(() => undefined);
  return text;
}

const words = (line: string) =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );

const commands = walk(await wholeProgram());

describe.each(commands)('gateway $path', ({ path, command }) => {
  it('has a description, and examples that it accepts', async () => {
    expect(command.description()).toMatch(/^[A-Z`].*\w.*\.$/s);
    const help = await said([...path, '--help']);
    expect(help).toContain(command.description().split(' ').slice(0, 3).join(' '));
    const [, below = ''] = help.split('\nExample:\n');
    const lines =
      below
        .split('\n\n')[0]
        ?.split('\n')
        .filter((line) => line.startsWith('  gateway ')) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect([line, await complaintAbout(words(line).slice(1))]).toEqual([line, '']);
  });
});

it.each(commands)('gateway $path has no option that a command above it has', ({ command }) => {
  const above: Command[] = [];
  for (let one = command.parent; one !== null; one = one.parent) above.push(one);
  const namesOf = (one: Command) => one.options.flatMap((option) => [option.attributeName(), option.short]);
  const taken = new Set(above.flatMap(namesOf));
  expect(namesOf(command).filter((name) => name !== undefined && taken.has(name))).toEqual([]);
});

const numbered = commands.flatMap(({ path, command }) =>
  command.options
    .filter(({ flags }) => /<(n|percent|seconds|version)>$/.test(flags))
    .map((option) => ({ name: [...path, option.long ?? ''].join(' '), option })),
);

it.each(numbered)('gateway $name sends no text that is not a number as if it were absent', ({ option }) => {
  const parse = option.parseArg;
  if (parse === undefined) return;
  for (const text of ['many', '', '1,5', '5%', '0x10'])
    expect(() => parse(text, undefined)).toThrow('It must be');
});

async function complaintAbout(line: readonly string[]): Promise<string> {
  if (line.includes('--help')) return '';
  const program = await wholeProgram();
  let complaint = '';
  for (const { command } of walk(program)) {
    command.exitOverride().configureOutput({ writeErr: (text) => void (complaint += text) });
    if (command.commands.length === 0) command.action(() => undefined);
  }
  await program.parseAsync(['node', 'gateway', ...line]).catch(() => undefined);
  return complaint;
}

it.each(commands)(
  'the help of gateway $path has one list of examples, and defaults as they are typed',
  async ({ path }) => {
    const help = await said([...path, '--help']);
    expect(help.split('\nExample:\n')).toHaveLength(2);
    expect(help).not.toMatch(/\(default: (""|\d{4,})\)/);
  },
);

it('gateway --help names every command', async () => {
  const help = await said(['--help']);
  for (const verb of verbs) expect(help).toMatch(new RegExp(`^  ${verb} +\\S`, 'm'));
});

describe('the help of an action', () => {
  it.each(operatorActions)('%s: what it does, when, and only the options that it accepts', async (name) => {
    const help = await said(['tasks', 'action', name, '--help']);
    const { description, possible, fields } = actionTable[name];
    expect(help).toContain(`${name}: ${description}`);
    for (const state of possible) expect(help).toMatch(new RegExp(`^  ${state} +\\w`, 'm'));
    const optionOf = (field: string) => `--${field.replaceAll('_', '-')} <`;
    const all = new Set(operatorActions.flatMap((one) => Object.keys(actionTable[one].fields)));
    const shown = [...all].filter((field) => help.includes(`  ${optionOf(field)}`));
    expect(shown.toSorted()).toEqual(Object.keys(fields).toSorted());
    const [, line = ''] = help.split('\nExample:\n  gateway ');
    expect(await complaintAbout(words(line))).toBe('');
  });

  it('lists all of them if none is named', async () => {
    const help = await said(['tasks', 'action', '--help']);
    for (const name of operatorActions) expect(help).toContain(actionTable[name].description);
  });
});

describe('the program on the PATH', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mediary-bin-'));
    const { bin } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
    await symlink(join(project, bin.gateway), join(directory, 'gateway'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const gateway = (...line: string[]) =>
    promisify(execFile)('gateway', line, {
      cwd: directory,
      env: { PATH: `${directory}:${process.env['PATH']}` },
    });

  it('prints its version', async () => {
    const { version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
    expect((await gateway('--version')).stdout).toBe(`${version}\n`);
  });

  it('runs commands that need TypeScript, without colours if its output is not a terminal', async () => {
    const { stdout } = await gateway('vendors', 'show');
    expect(stdout).toMatch(/^ark /m);
    expect(stdout).not.toContain('\u001B');
  });

  it('ends with a specific status for a wrong command line, and another for a wrong configuration', async () => {
    const { usage, configuration, not_found: notFound } = exitStatuses;
    await expect(gateway('tasks', 'lst')).rejects.toMatchObject({ code: usage.status });
    await expect(gateway('vendors', 'show', 'nobody')).rejects.toMatchObject({ code: notFound.status });
    await expect(gateway('config', 'check')).rejects.toMatchObject({ code: configuration.status });
  });
});

describe('how a command ends', () => {
  it.each([
    [400, 'refused'],
    [401, 'refused'],
    [409, 'refused'],
    [404, 'not_found'],
    [503, 'not_reachable'],
    [500, 'failed'],
  ] as const)('where the gateway answers %d: %s', async (status, ending) => {
    const server = createServer((_, response) =>
      response.writeHead(status).end('{"error":{"message":"No.","code":"x"}}'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(createAdminClient({ url, token: 'x' }).call('GET', '/x')).rejects.toMatchObject({
      status: exitStatuses[ending].status,
    });
  });

  it('if nothing listens: not reachable', async () => {
    const client = createAdminClient({ url: 'http://127.0.0.1:1', token: 'x' });
    await expect(client.call('GET', '/x')).rejects.toMatchObject({
      status: exitStatuses.not_reachable.status,
    });
  });

  it('no two outcomes share a status, and help and documentation describe each in the same words', async () => {
    const rows = Object.values(exitStatuses);
    expect(new Set(rows.map(({ status }) => status)).size).toBe(rows.length);
    const help = await said(['--help']);
    const page = await readFile(join(project, 'docs/operating.md'), 'utf8');
    const documented = [...page.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, status, about]) => ({
      status: Number(status),
      about,
    }));
    expect(documented).toEqual(rows);
    for (const { status, about } of rows) expect(help).toMatch(new RegExp(`^  ${status} +${about}$`, 'm'));
  });
});
