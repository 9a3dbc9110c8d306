import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { silenceTemporal } from './replay/replay-file.ts';
import { check } from './soak/check.ts';
import { strike } from './soak/killer.ts';
import { everyDialect, twoChannels } from './soak/configuration.ts';
import { chargesOf, createLoad } from './soak/load.ts';
import { createOperators } from './soak/operators.ts';
import type { Operators } from './soak/operators.ts';
import { settle } from './soak/settle.ts';
import { openStand, linkNames } from './soak/stand.ts';
import type { Stand } from './soak/stand.ts';

/**
 * `npm run soak -- --tasks M --kills N --seed S`: creates M tasks while N faults strike the gateway, its servers and its
 * links, and one upstream call in five goes wrong. Afterwards every promise of the README must hold. Exits with 1 on
 * any violation. The seed repeats the decisions, though not their timing. `--seeds 4,5`
 * runs one soak after the other with each of these seeds, and `--seeds` alone with 1, 2 and 3.
 */

const whole = (text: string): number => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new InvalidArgumentError('must be a whole number');
  return number;
};
const seedList = (text: string): readonly number[] => text.split(',').map(whole);
const command = new Command()
  .name('soak')
  .option('--tasks <n>', 'tasks to create', whole, 200)
  .option('--kills <n>', 'faults that strike meanwhile', whole, 12)
  .option('--seed <n>', 'of all random decisions', whole, 1)
  .addOption(
    new Option('--seeds [list]', 'one soak after the other, with each of these seeds')
      .preset('1,2,3')
      .argParser(seedList)
      .conflicts('seed'),
  )
  .option('--every <ms>', 'from one fault to the next, on average', whole, 2_500)
  .option('--every-dialect', 'every video model of local mode instead of one')
  .option('--clocks', 'mostly move the clocks of the gateway’s processes, by 15 minutes or 40 days')
  .option('--keep', 'keep the directory with the logs')
  .parse();

interface Options {
  readonly tasks: number;
  readonly kills: number;
  readonly seed: number;
  readonly seeds?: readonly number[];
  readonly every: number;
  readonly everyDialect?: true;
  readonly clocks?: boolean;
  readonly keep?: true;
}

const faultShare = 0.2;
const attendEveryMs = 5_000;
const options = command.opts<Options>();
const report = (line: string): void => void process.stdout.write(`${line}\n`);
const startedAt = Date.now();
const fleet = options.everyDialect === true ? everyDialect() : twoChannels;
process.exitCode = options.seeds === undefined ? await runSeed() : runSeeds(options.seeds, options);

async function runSeed(): Promise<number> {
  silenceTemporal();
  const stand = await openStand({ seed: options.seed, keepsLogs: options.keep === true, fleet });
  try {
    return await soak(stand, options);
  } finally {
    await stand.close();
  }
}

/** Runs each seed in a process of its own, which a signal ends with all that it started. Later seeds run all the same. */
function runSeeds(
  seeds: readonly number[],
  { tasks, kills, every, everyDialect, clocks, keep }: Options,
): number {
  const common = ['--tasks', tasks, '--kills', kills, '--every', every].map(String);
  if (everyDialect === true) common.push('--every-dialect');
  if (clocks === true) common.push('--clocks');
  if (keep === true) common.push('--keep');
  const failed = seeds.filter((seed) => {
    const script = [fileURLToPath(import.meta.url), ...common, '--seed', String(seed)];
    return spawnSync(process.execPath, [...process.execArgv, ...script], { stdio: 'inherit' }).status !== 0;
  });
  if (failed.length > 0) report(`seeds that failed: ${failed.join(', ')}`);
  return failed.length === 0 ? 0 : 1;
}

/** What asks for a person keeps its place in the channel's limit: with nobody there, a long run would come to a stop. */
async function attend(operators: Operators, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await operators.answerAttention().catch(() => undefined);
    await delay(attendEveryMs, undefined, { signal: ended }).catch(() => undefined);
  }
}

async function soak(stand: Stand, { tasks, kills, seed, every, clocks = false }: Options): Promise<number> {
  const operators = createOperators(stand);
  report(`seed ${seed}: ${tasks} tasks, ${kills} faults; logs in ${stand.directory}/logs`);
  const charges = await chargesOf(stand, fleet.offers);
  await stand.setFaults(faultShare);
  const running = async () => {
    const found = stand.core.mongo.db.collection<{ _id: string }>('tasks').find({
      status: { $nin: ['succeeded', 'failed'] },
    });
    return (await found.toArray()).map(({ _id }) => _id);
  };
  const loaded = new AbortController();
  const attending = attend(operators, loaded.signal);
  const [creates] = await Promise.all([
    createLoad(stand, { offers: fleet.offers, tasks, seed, spanMs: kills * every }),
    strike(stand, { kills, seed, everyMs: every, clocks, running, operators, report }),
  ]);
  loaded.abort();
  await attending;
  const { calls, faulty } = await stand.setFaults(0);
  for (const name of linkNames) await stand.setLink(name, 'pass');
  const loadedAt = Date.now();
  const waiting = await settle(stand, creates, { operators, report });
  const settledAt = Date.now();
  const { violations, ...found } = await check(stand, creates, { operators, charges });
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
