import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from 'undici';
import { z } from 'zod';
import { rawEnvironment } from '../../src/config/environment.ts';
import { cacheDir, waitUntil, type Stand } from '../stand/stand.ts';
import { benchIdle } from './idle.ts';
import type { BenchOptions } from './support/options.ts';
import { short, type Goal, type Report, type Row } from './support/report.ts';
import { childrenCpuMs, usageOf } from './support/usage.ts';

/** Measures the duration of `npm start`, the cost of commands, and the cost of an idle gateway. */

const project = fileURLToPath(new URL('../..', import.meta.url));
const readyWithinMs = 300_000;
const servers = ['mongodb', 'temporal', 'simulator', 'worker', 'api'] as const;
const commands = { 'gateway --help': ['--help'], 'gateway accounts list': ['accounts', 'list'] } as const;
type CommandName = keyof typeof commands;

interface LocalStart {
  readonly seconds: number;
  readonly cpuMs: Readonly<Record<string, number>>;
}

interface CommandRun {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

export async function benchStart(options: BenchOptions, stand: Stand): Promise<Report> {
  const rounds = options.rounds ?? (options.quick ? 1 : 5);
  const dataDir = await mkdtemp(join(stand.directory, 'start-'));
  for (const name of ['bin', 'mongo-java-server'])
    await cp(join(cacheDir, name), join(dataDir, name), { recursive: true }).catch(() => undefined);
  const environment = { ...rawEnvironment(), DATA_DIR: dataDir, PORT: String(await stand.freePort()) };
  const cold = await measureStart(environment);
  const warm: LocalStart[] = [];
  const runs: Record<CommandName, CommandRun[]> = { 'gateway --help': [], 'gateway accounts list': [] };
  for (let round = 1; round <= rounds; round += 1) {
    const measureCommands = async () => {
      for (const name of Object.keys(commands) as CommandName[])
        runs[name].push(await runCommand(commands[name], environment));
    };
    warm.push(await measureStart(environment, measureCommands));
  }
  const idle = await benchIdle(options, stand);
  return {
    setting: { rounds, ...idle.setting },
    tables: [
      {
        title: 'From `npm start` to the first 200 from /readyz, with everything downloaded',
        rows: [
          startRow('empty data directory', cold),
          ...warm.map((one, index) => startRow(`warm ${index + 1}`, one)),
        ],
      },
      {
        title: 'Commands (median)',
        rows: Object.entries(runs).map(([command, measured]) => ({
          command,
          seconds: short(median(measured.map(({ seconds }) => seconds))),
          'CPU, s': short(median(measured.map(({ cpuSeconds }) => cpuSeconds))),
        })),
      },
      ...idle.tables,
    ],
    goals: [
      goal('a warm start', 5, median(warm.map(({ seconds }) => seconds))),
      goal('gateway --help', 0.15, median(runs['gateway --help'].map(({ seconds }) => seconds))),
      goal(
        'CPU time of a command that calls the API',
        0.5,
        median(runs['gateway accounts list'].map(({ cpuSeconds }) => cpuSeconds)),
      ),
      ...idle.goals,
    ],
    raw: { cold, warm, runs, idle: idle.raw },
  };
}

async function measureStart(
  environment: NodeJS.ProcessEnv,
  whileReady: () => Promise<void> = () => Promise.resolve(),
): Promise<LocalStart> {
  const beganAt = performance.now();
  const child = spawn(process.execPath, ['src/mediary.js'], {
    cwd: project,
    env: environment,
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  try {
    const url = `http://127.0.0.1:${environment['PORT']}/readyz`;
    const isReady = async () => (await request(url).catch(() => undefined))?.statusCode === 200;
    await waitUntil('the gateway to be ready', isReady, { deadlineMs: readyWithinMs, everyMs: 20 });
    const seconds = (performance.now() - beganAt) / 1000;
    const cpuMs = await cpuByProcess(environment['DATA_DIR'] ?? '', child.pid ?? 0);
    await waitUntil('its account', () => hasAccount(environment['DATA_DIR'] ?? ''), {
      deadlineMs: readyWithinMs,
    });
    await whileReady();
    return { seconds, cpuMs };
  } finally {
    child.kill();
    await ended;
  }
}

async function hasAccount(dataDir: string): Promise<boolean> {
  return (await readFile(join(dataDir, 'local.json'), 'utf8')).includes('apiKey');
}

async function cpuByProcess(dataDir: string, start: number): Promise<Record<string, number>> {
  const pids = servers.map(async (name) => {
    const text = await readFile(join(dataDir, 'run', `${name}.json`), 'utf8');
    return [name, z.object({ pid: z.number() }).parse(JSON.parse(text)).pid] as const;
  });
  const used = [['start', start] as const, ...(await Promise.all(pids))].map(
    async ([name, pid]) => [name, (await usageOf(pid)).cpuMs] as const,
  );
  return Object.fromEntries(await Promise.all(used));
}

async function runCommand(line: readonly string[], environment: NodeJS.ProcessEnv): Promise<CommandRun> {
  const [beganAt, before] = [performance.now(), await childrenCpuMs()];
  const options = { cwd: project, env: environment };
  await promisify(execFile)(process.execPath, ['src/gateway.js', ...line], options);
  const seconds = (performance.now() - beganAt) / 1000;
  return { seconds, cpuSeconds: ((await childrenCpuMs()) - before) / 1000 };
}

function startRow(start: string, { seconds, cpuMs }: LocalStart): Row {
  const sum = Object.values(cpuMs).reduce((all, ms) => all + ms, 0);
  const inSeconds = Object.entries({ all: sum, ...cpuMs }).map(([name, ms]) => [
    `CPU of ${name}, s`,
    short(ms / 1000),
  ]);
  return { start, seconds: short(seconds), ...Object.fromEntries(inSeconds) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function goal(what: string, limitSeconds: number, measured: number): Goal {
  return { what, goal: `within ${limitSeconds} s`, measured: short(measured), met: measured <= limitSeconds };
}
