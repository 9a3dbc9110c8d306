import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from './support/client.ts';
import { startGateway, type TestGateway } from './support/gateway.ts';

const folder = fileURLToPath(new URL('../examples/', import.meta.url));
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const work = mkdtempSync(join(tmpdir(), 'examples-'));
const running: ChildProcess[] = [];

interface Program {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  printed(pattern: RegExp): Promise<string>;
}

function start(command: string, args: readonly string[], environment: NodeJS.ProcessEnv): Program {
  const child = spawn(command, args, {
    cwd: work,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  return {
    child,
    lines,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find((line) => pattern.test(line));
          if (found !== undefined) resolve(found);
        };
        output.on('line', look);
        output.once('close', () => reject(new Error(`${command} ended: ${lines.join(' | ')}`)));
        look();
      }),
  };
}

async function addressOf(program: Program): Promise<string> {
  return /http:\S+/.exec(await program.printed(/^listening on /))?.[0] ?? '';
}

let gateway: TestGateway;
let account: TestAccount;
let result: string;
let client: NodeJS.ProcessEnv;

beforeAll(async () => {
  const upstream = start('node', [join(folder, 'own-upstream/server.mjs')], {
    PORT: '0',
    UPSTREAM_KEY: 'of-the-house',
    RENDER_SECONDS: '0.5',
  });
  const upstreamUrl = await addressOf(upstream);
  result = `${upstreamUrl}/video.mp4`;
  const yaml = read('examples/own-upstream/gateway.yaml')
    .replace('${UPSTREAM_URL}', upstreamUrl)
    .replace('${UPSTREAM_KEY}', 'of-the-house')
    .replace('expected_seconds: 5', 'expected_seconds: 1');
  gateway = await startGateway({ yaml });
  account = await gateway.account();
  client = { GATEWAY_URL: gateway.url, GATEWAY_KEY: account.key, MODEL: 'house-video' };
});

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await gateway.stop();
  rmSync(work, { recursive: true, force: true });
});

const video = { model: 'house-video', duration: 5, resolution: undefined, ratio: undefined };

const hasGo = spawnSync('go', ['version']).status === 0;
const noGo = hasGo ? '' : ' (go skipped: it is not on PATH)';

describe(`a receiver of callbacks${noGo}`, () => {
  const file = (name: string) => join(folder, 'callback-receiver', name);

  /** Build the program first, because `go run` would start a child process that outlives it. */
  function built(source: string): string {
    const program = join(work, 'receive');
    execFileSync('go', ['build', '-o', program, source]);
    return program;
  }

  it.each([
    ['node', [file('receive.mjs')]],
    ['python3', [file('receive.py')]],
    ...(hasGo ? [['go', []] as const] : []),
  ] as const)('%s', async (command, args) => {
    const environment = { PORT: '0', WEBHOOK_SECRET: account.webhookSecret };
    const program = command === 'go' ? built(file('receive.go')) : command;
    const receiver = start(program, args, environment);
    const url = await addressOf(receiver);
    const forged = await fetch(url, { method: 'POST', body: '{"id":"task_forged"}' });
    expect(forged.status).toBe(401);
    const id = await account.made({ ...video, metadata: { callback_url: `${url}/hook` } });
    expect(await receiver.printed(new RegExp(id))).toBe(`${id} succeeded ${result}`);
    expect(receiver.lines.filter((line) => line.includes('forged'))).toEqual([]);
  });

  it.each([
    ['js', 'receive.mjs', 'export function isGenuine'],
    ['python', 'receive.py', 'def is_genuine'],
    ['go', 'receive.go', '// IsGenuine'],
  ])('verifies as docs/callbacks.md does: %s', (language, name, begin) => {
    const [, documented = ''] = read('docs/callbacks.md').split(`\`\`\`${language}\n`);
    const [program = ''] = documented.split('```');
    expect(readFileSync(file(name), 'utf8')).toContain(program.slice(program.indexOf(begin)).trim());
  });
});

it('a batch resumes after a crash, and creates nothing twice', async () => {
  const batch = await gateway.account();
  const count = 40;
  writeFileSync(join(work, 'prompts.txt'), Array.from({ length: count }, (_, n) => `Boat ${n}\n`).join(''));
  const results = join(work, 'results.jsonl');
  const run = () =>
    start('node', [join(folder, 'batch/batch.mjs'), 'prompts.txt', 'results.jsonl'], {
      ...client,
      GATEWAY_KEY: batch.key,
      CONCURRENCY: '20',
    });
  const first = run();
  const ended = once(first.child, 'close');
  await expect.poll(() => readIfThere(results).split('\n').length).toBeGreaterThan(4);
  first.child.kill('SIGKILL');
  await ended;
  // Truncates the file, as a crash in the middle of a write would.
  writeFileSync(results, readIfThere(results).slice(0, -10));
  const second = run();
  expect(await second.printed(/ of 40 done/)).toBe('40 of 40 done');
  const { data } = (await batch.call('GET', '/v1/videos/generations?limit=100')).body;
  expect(data).toHaveLength(count);
  const made = readIfThere(results).matchAll(/"id":"(task_\w+)","status":"succeeded"/g);
  expect(new Set([...made].map(([, id]) => id)).size).toBe(count);
});

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

it('a page creates a video, and its visitors never see the key', async () => {
  const url = await addressOf(start('node', [join(folder, 'page/server.mjs')], { ...client, PORT: '0' }));
  const page = await (await fetch(url)).text();
  expect(page).toContain('<form>');
  expect(page).not.toContain(account.key);
  const body = JSON.stringify({ prompt: 'A paper boat', attempt: 'first-attempt' });
  const create = async () => (await fetch(`${url}/api/videos`, { method: 'POST', body })).json();
  const made: any = await create();
  expect(await create()).toMatchObject({ id: made.id });
  let task: any = made;
  while (task.status !== 'succeeded' && task.status !== 'failed')
    task = await (await fetch(`${url}/api/videos/${made.id}`)).json();
  expect(task).toEqual({
    id: made.id,
    status: 'succeeded',
    message: expect.any(String),
    url: result,
  });
  expect((await fetch(`${url}/api/videos/`, { method: 'POST', body: '{}' })).status).toBe(404);
});
