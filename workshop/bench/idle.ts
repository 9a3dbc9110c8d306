import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

import { openCountedLink } from './support/counted-link.ts';
import { startBenchGateway } from './support/gateway.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, publish, short } from './support/report.ts';
import type { Goal } from './support/report.ts';
import { openStand } from './support/stand.ts';
import type { Stand } from './support/stand.ts';
import { measureCpu, measureThreads, usageOf } from './support/usage.ts';

/** Measures an unused gateway: its CPU, its memory, and its commands to MongoDB. */

const ours = ['api', 'worker'] as const;
const processes = [...ours, 'temporal', 'mongodb'] as const;
/** By then the start is complete, and the MongoDB driver has opened its connections. */
const settleSeconds = 30;
const cpuGoalPercent = 2;
const residentGoalMegabytes = 350;
const commandsGoal = 2;

export async function benchIdle(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const seconds = options.seconds ?? (options.quick ? 5 : 120);
  const stand = await openStand();
  try {
    const link = await openCountedLink(Number(new URL(stand.mongodbUri).port));
    const gateway = await startBenchGateway(through(stand, link.port), { profile: false });
    await gateway.close();
    await delay(options.quick ? 1000 : settleSeconds * 1000);
    link.take();
    const cpu = await measureCpu(stand.pids);
    const threads = await Promise.all(ours.map((name) => measureThreads(stand.pids[name] ?? 0)));
    await delay(seconds * 1000);
    const used = await cpu.stop();
    const commands = [...link.take()].toSorted(([, a], [, b]) => b - a);
    link.close();
    const percentOf = (ms: number): number => ms / seconds / 10;
    const percent = (name: string): number => percentOf(used[name] ?? 0);
    const byThread = await Promise.all(threads.map((one) => one.stop()));
    const resident = Object.fromEntries(
      await Promise.all(
        processes.map(async (name) => [name, (await usageOf(stand.pids[name] ?? 0)).bytes] as const),
      ),
    );
    const perSecond = commands.reduce((sum, [, n]) => sum + n, 0) / seconds;
    const residentMegabytes = ((resident['api'] ?? 0) + (resident['worker'] ?? 0)) / 1024 / 1024;
    await publish(
      {
        name: 'idle',
        command: options.command,
        setting: { mongodb: stand.mongoKind, seconds },
        tables: [
          {
            title: 'Processes without a task',
            rows: processes.map((name) => ({
              process: name,
              'CPU, % of a core': short(percent(name)),
              'resident, MB': megabytes(resident[name] ?? 0),
            })),
          },
          {
            title: 'Their threads',
            rows: ours.flatMap((process, n) =>
              [...(byThread[n] ?? [])]
                .filter(([, ms]) => ms > 0)
                .map(([thread, ms]) => ({ process, thread, 'CPU, % of a core': short(percentOf(ms)) })),
            ),
          },
          {
            title: 'Commands to MongoDB',
            rows: commands.map(([command, n]) => ({ command, 'a minute': short((n / seconds) * 60) })),
          },
        ],
        goals: [
          goal('API and worker, CPU', {
            limit: cpuGoalPercent,
            measured: percent('api') + percent('worker'),
            unit: '% of a core',
          }),
          goal('API and worker, resident', {
            limit: residentGoalMegabytes,
            measured: residentMegabytes,
            unit: 'MB',
          }),
          goal('commands to MongoDB', { limit: commandsGoal, measured: perSecond, unit: 'a second' }),
        ],
        raw: { used, resident, commands },
      },
      load,
    );
  } finally {
    await stand.close();
  }
}

function through(stand: Stand, port: number): Stand {
  const uri = new URL(stand.mongodbUri);
  uri.port = String(port);
  return { ...stand, mongodbUri: uri.href };
}

function goal(
  what: string,
  { limit, measured, unit }: { readonly limit: number; readonly measured: number; readonly unit: string },
): Goal {
  return { what, goal: `below ${limit} ${unit}`, measured: short(measured), met: measured < limit };
}
