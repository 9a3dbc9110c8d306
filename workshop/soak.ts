import { setTimeout as delay } from 'node:timers/promises';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { Command, InvalidArgumentError } from 'commander';
import { check } from './soak/check.ts';
import { strike } from './soak/killer.ts';
import { createLoad } from './soak/load.ts';
import { createOperators, type Operators } from './soak/operators.ts';
import { settle } from './soak/settle.ts';
import { openStand, linkNames, type Stand } from './soak/stand.ts';

/**
 * `npm run soak -- --tasks M --kills N --seed S`: creates M tasks while N faults hit the gateway, its servers and its
 * links, and one upstream call in five fails. Afterwards, every promise in the README must hold. Exits with 1 on any
 * violation. The seed reproduces the decisions, but not their timing.
 */

const whole = (text: string): number => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new InvalidArgumentError('must be a whole number');
  return number;
};
const command = new Command()
  .name('soak')
  .option('--tasks <n>', 'tasks to create', whole, 200)
  .option('--kills <n>', 'the number of faults during the run', whole, 12)
  .option('--seed <n>', 'the seed of all random decisions', whole, 1)
  .option('--every <ms>', 'the average time between two faults', whole, 2_500)
  .option('--clocks', 'mostly move the clocks of processes, by 15 minutes or 40 days in either direction')
  .option('--keep', 'keep the directory with the logs')
  .parse();

interface Options {
  readonly tasks: number;
  readonly kills: number;
  readonly seed: number;
  readonly every: number;
  readonly clocks?: boolean;
  readonly keep?: true;
}

const faultShare = 0.2;
const attendEveryMs = 5_000;
const options = command.opts<Options>();
const report = (line: string): void => void process.stdout.write(`${line}\n`);
const startedAt = Date.now();
process.exitCode = await runSeed();

async function runSeed(): Promise<number> {
  // Keeps Temporal's own log out of the output.
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });
  const stand = await openStand({ seed: options.seed, keepsLogs: options.keep === true });
  try {
    return await soak(stand, options);
  } finally {
    await stand.close();
  }
}

/** Acts on tasks that need an operator. They keep their slots, so a long run would stall otherwise. */
async function attend(operators: Operators, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await operators.answerAttention().catch(() => undefined);
    await delay(attendEveryMs, undefined, { signal: ended }).catch(() => undefined);
  }
}

async function soak(stand: Stand, { tasks, kills, seed, every, clocks = false }: Options): Promise<number> {
  const operators = createOperators(stand);
  report(`seed ${seed}: ${tasks} tasks, ${kills} faults; logs in ${stand.directory}/logs`);
  await stand.setFaults(faultShare);
  const running = async () => {
    const found = stand.core.mongo.db
      .collection<{ _id: string }>('tasks')
      .find({ status: { $nin: ['succeeded', 'failed'] } });
    return (await found.toArray()).map(({ _id }) => _id);
  };
  const loaded = new AbortController();
  const attending = attend(operators, loaded.signal);
  const [creates] = await Promise.all([
    createLoad(stand, { tasks, seed, spanMs: kills * every }),
    strike(stand, { kills, seed, everyMs: every, clocks, running, operators, report }),
  ]);
  loaded.abort();
  await attending;
  const { calls, faulty } = await stand.setFaults(0);
  for (const name of linkNames) await stand.setLink(name, 'pass');
  const loadedAt = Date.now();
  const waiting = await settle(stand, creates, { operators, report });
  const settledAt = Date.now();
  const { violations, ...found } = await check(stand, creates, operators);
  const count = (action: string) => operators.done.filter((deed) => deed.action === action).length;
  const seconds = (from: number, to: number) => `${Math.round((to - from) / 1000)} s`;
  report(
    `seed ${seed}: ${found.accepted} of ${tasks} accepted, ${found.succeeded} succeeded, ${found.failed} failed; ` +
      `${faulty} of ${calls} upstream calls disturbed; ${found.callbacks} callbacks; ${count('resubmit')} resubmits; ` +
      `${seconds(startedAt, loadedAt)} of load, settled after ${seconds(loadedAt, settledAt)}`,
  );
  const all = [
    ...stand.exits.map((sentence) => `by itself, ${sentence}`),
    ...waiting.map((line) => `still waiting: ${line}`),
    ...violations,
  ];
  for (const violation of all) report(`VIOLATION ${violation}`);
  report(`seed ${seed}: ${all.length === 0 ? 'every promise held' : `${all.length} violations`}`);
  return all.length === 0 ? 0 : 1;
}
