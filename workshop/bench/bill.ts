import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Task } from '../../src/task/record.ts';
import { toDocument } from '../../src/store/task-document.ts';
import { endedTask } from './support/ended-task.ts';
import { startBenchGateway } from './support/gateway.ts';
import type { BenchGateway } from './support/gateway.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, publish, short } from './support/report.ts';
import { openStand } from './support/stand.ts';
import type { Stand } from './support/stand.ts';
import { usageOf } from './support/usage.ts';

/** `gateway reconcile` over a bill of many lines and as many tasks: how long it takes, and its memory at its peak. */

const goal = { lines: 100_000, seconds: 30, growth: 1.5 };
const month = Date.parse('2026-10-01T00:00:00Z');
const taskEveryMs = 20_000;
const tasksAtOnce = 1_000;
const watchMs = 50;

export async function benchBill(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const count = options.count ?? (options.quick ? 2_000 : goal.lines);
  const stand = await openStand();
  try {
    const gateway = await startBenchGateway(stand, { profile: options.profile });
    const runs: Run[] = [];
    let made = 0;
    for (const lines of [Math.ceil(count / 10), count]) {
      for (; made < lines; made = Math.min(lines, made + tasksAtOnce)) await makeTasks(gateway, made, lines);
      const file = join(stand.directory, `bill-${lines}.csv`);
      await writeFile(file, billOf(lines));
      runs.push(await reconcile(file, { lines, gateway, stand }));
    }
    await gateway.close();
    const [small, large] = runs;
    if (small === undefined || large === undefined) return;
    await publish(
      {
        name: 'bill',
        command: options.command,
        setting: { MongoDB: stand.mongoKind, lines: count },
        tables: [
          {
            title: 'gateway reconcile',
            rows: runs.map(({ lines, seconds, peakBytes, rows, cpuSeconds }) => ({
              lines,
              seconds: short(seconds),
              'lines a second': short(lines / seconds),
              rows,
              ...Object.fromEntries(
                Object.entries(cpuSeconds).map(([name, cpu]) => [`CPU s, ${name}`, short(cpu)]),
              ),
              'peak memory': megabytes(peakBytes),
            })),
          },
        ],
        goals: [
          {
            what: `${goal.lines} lines`,
            goal: `${goal.seconds} s`,
            met: (large.seconds / large.lines) * goal.lines <= goal.seconds,
            measured: `${short((large.seconds / large.lines) * goal.lines)} s`,
          },
          {
            what: 'ten times the lines',
            goal: `${goal.growth} times the memory`,
            met: large.peakBytes <= small.peakBytes * goal.growth,
            measured: short(large.peakBytes / small.peakBytes),
          },
        ],
        raw: { runs },
      },
      load,
    );
  } finally {
    await stand.close();
  }
}

/** One job in a hundred is in the bill alone, another one is not in it; of a third the amount differs. */
function billOf(lines: number): string {
  const rows = Array.from({ length: lines }, (_, n) => {
    const at = new Date(month + n * taskEveryMs + 60_000).toISOString();
    const job = n % 100 === 1 ? `nobodys-${n}` : jobOf(n);
    return `${job},${n % 100 === 2 ? '0.36' : '0.35'},${at}`;
  });
  return ['id,cost,at', ...rows].join('\n');
}

/** In no order of time. */
function jobOf(n: number): string {
  return `job-${((n * 7919) % 1_000_003).toString().padStart(7, '0')}`;
}

async function makeTasks({ db }: BenchGateway, from: number, end: number): Promise<void> {
  const count = Math.min(tasksAtOnce, end - from);
  const documents = Array.from({ length: count }, (_, n) => toDocument(taskOf(from + n)));
  await db.collection<{ _id: string }>('tasks').insertMany(documents.map((document) => ({ ...document })));
}

function taskOf(n: number): Task {
  const id = `task_${n.toString().padStart(24, '0')}`;
  const at = month + n * taskEveryMs;
  const money = { hold: 1n, charge: 1n };
  return endedTask({ id, account: 'account-0', model: 'short', at, job: jobOf(n), money });
}

interface Run {
  readonly lines: number;
  readonly seconds: number;
  readonly peakBytes: number;
  /** Of the report, its totals included. */
  readonly rows: number;
  /** By process; on a busy machine the seconds say less. */
  readonly cpuSeconds: Readonly<Record<string, number>>;
}

interface Reconciling {
  readonly lines: number;
  readonly gateway: BenchGateway;
  readonly stand: Stand;
}

async function reconcile(bill: string, { lines, gateway, stand }: Reconciling): Promise<Run> {
  const columns = ['job=id', 'amount=cost', 'at=at'].flatMap((column) => ['--column', column]);
  const format = ['--format', 'mapped', '--unit', 'USD', '--channel', 'ark', ...columns];
  const csv = join(stand.directory, 'report.csv');
  const program = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
  const before = await cpuOf(stand.pids);
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', program, 'reconcile', '--bill', bill, ...format, '--csv', csv, '-o', 'jsonl'],
    {
      env: { ...process.env, PUBLIC_URL: gateway.url, ADMIN_TOKEN: gateway.adminToken },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let [rows, peakBytes, commandMs] = [0, 0, 0];
  child.stdout.on('data', (bytes: Buffer) => {
    rows += bytes.filter((byte) => byte === 0x0a).length;
  });
  const watch = setInterval(() => {
    if (child.pid === undefined) return;
    void usageOf(child.pid).then(
      ({ bytes, peakBytes: peak = bytes, cpuMs }) => {
        commandMs = Math.max(commandMs, cpuMs);
        peakBytes = Math.max(peakBytes, peak);
      },
      () => undefined,
    );
  }, watchMs);
  const [status] = await once(child, 'close');
  clearInterval(watch);
  // What differs is found: the bill is not in order.
  if (status !== 1) throw new Error(`gateway reconcile ended with ${String(status)}`);
  const seconds = (performance.now() - begun) / 1000;
  const after = await cpuOf(stand.pids);
  const used = Object.entries(after).map(([name, cpu]) => [name, cpu - (before[name] ?? 0)] as const);
  return {
    lines,
    seconds,
    peakBytes,
    rows,
    cpuSeconds: { command: commandMs / 1000, ...Object.fromEntries(used) },
  };
}

/** In seconds, of those that have a part in it. */
async function cpuOf(pids: Stand['pids']): Promise<Record<string, number>> {
  const named = Object.entries(pids).filter(([name]) => /^(?:api|mongo)/i.test(name));
  const used = named.map(async ([name, pid]) => [name, (await usageOf(pid)).cpuMs / 1000] as const);
  return Object.fromEntries(await Promise.all(used));
}
