import { setTimeout as delay } from 'node:timers/promises';
import type { Stand } from '../stand/stand.ts';
import { openCountedLink } from './support/counted-link.ts';
import { startBenchGateway } from './support/gateway.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, short, type Goal, type Report } from './support/report.ts';
import { measureCpu, usageOf } from './support/usage.ts';

const ours = ['api', 'worker'] as const;
const processes = [...ours, 'temporal', 'mongodb'] as const;
const settleSeconds = 30;
const goals = {
  'API and worker, CPU': { limit: 2, unit: '% of a core' },
  'API and worker, resident': { limit: 350, unit: 'MB' },
  'commands to MongoDB': { limit: 2, unit: 'a second' },
} as const;

export async function benchIdle(options: BenchOptions, stand: Stand): Promise<Report> {
  const seconds = options.seconds ?? (options.quick ? 5 : 120);
  const link = await openCountedLink(Number(new URL(stand.mongodbUri).port));
  const gateway = await startBenchGateway(through(stand, link.port), { profile: false });
  await gateway.close();
  await delay(options.quick ? 1000 : settleSeconds * 1000);
  link.take();
  const cpu = await measureCpu(stand.pids);
  await delay(seconds * 1000);
  const used = await cpu.stop();
  const commands = [...link.take()].toSorted(([, a], [, b]) => b - a);
  link.close();
  const percent = (name: string): number => (used[name] ?? 0) / seconds / 10;
  const resident = Object.fromEntries(
    await Promise.all(
      processes.map(async (name) => [name, (await usageOf(stand.pids[name] ?? 0)).bytes] as const),
    ),
  );
  const sumOfOurs = (of: (name: string) => number): number => ours.reduce((sum, name) => sum + of(name), 0);
  return {
    setting: { seconds },
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
        title: 'Commands to MongoDB',
        rows: commands.map(([command, n]) => ({ command, 'a minute': short((n / seconds) * 60) })),
      },
    ],
    goals: [
      goal('API and worker, CPU', sumOfOurs(percent)),
      goal('API and worker, resident', sumOfOurs((name) => resident[name] ?? 0) / 1024 / 1024),
      goal('commands to MongoDB', commands.reduce((sum, [, n]) => sum + n, 0) / seconds),
    ],
    raw: { used, resident, commands },
  };
}

function through(stand: Stand, port: number): Stand {
  const uri = new URL(stand.mongodbUri);
  uri.port = String(port);
  return { ...stand, mongodbUri: uri.href };
}

function goal(what: keyof typeof goals, measured: number): Goal {
  const { limit, unit } = goals[what];
  return { what, goal: `below ${limit} ${unit}`, measured: short(measured), met: measured < limit };
}
