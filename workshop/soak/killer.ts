import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../src/base/caught.ts';
import { actionsInFlight, type Operators } from './operators.ts';
import { createRandom, type Random } from '../stand/random.ts';
import { linkNames, type LinkMode, type Stand } from './stand.ts';
import type { Victim } from './victim.ts';

const quarterMs = 15 * 60_000;
const fortyDaysMs = 40 * 86_400_000;
const clockSteps = [quarterMs, -quarterMs, fortyDaysMs, -fortyDaysMs] as const;

export interface KillerOptions {
  readonly kills: number;
  readonly seed: number;
  readonly everyMs: number;
  readonly clocks: boolean;
  readonly running: () => Promise<readonly string[]>;
  readonly operators: Operators;
  readonly report: (line: string) => void;
}

type Blow = (random: Random) => Promise<string>;

const linkBlows: readonly LinkMode[] = ['cut', 'silent', 'slow', 'reset'];

export async function strike(stand: Stand, options: KillerOptions): Promise<void> {
  const random = createRandom(options.seed, 'killer');
  const blows = blowsOn(stand, options);
  const under: Promise<void>[] = [];
  const startedAt = Date.now();
  for (let n = 0; n < options.kills; n += 1) {
    await delay(options.everyMs);
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    const blow = random.pick(blows);
    const own = createRandom(options.seed, `blow-${n}`);
    under.push(
      blow(own).then(
        (what) => options.report(`  ${seconds} s: ${what}`),
        (error: unknown) => options.report(`  ${seconds} s: failed: ${messageOf(error)}`),
      ),
    );
  }
  await Promise.all(under);
}

function blowsOn(stand: Stand, options: KillerOptions): Blow[] {
  const everybody = [...stand.gateway, ...stand.servers];
  const mongodb = stand.servers.filter(({ name }) => name === 'mongodb');
  const moves = clockMoves([...stand.gateway, ...(options.clocks ? mongodb : [])]);
  const dealt = createRandom(options.seed, 'clocks');
  let nextMove = Math.floor(dealt.between(0, moves.length));
  const kill: Blow = async (random) => {
    const victim = await free(everybody, random);
    const awayMs = random.between(100, 5_000);
    await victim.kill(awayMs);
    return `killed ${victim.name} for ${Math.round(awayMs)} ms`;
  };
  const suspend: Blow = async (random) => {
    const victim = await free([...everybody, stand.outside], random);
    // Keep an outage of a server below ten seconds. A gateway process that starts in the meantime exits if it cannot
    // reach its servers within that time.
    const awayMs = random.between(1_000, stand.servers.includes(victim) ? 9_000 : 15_000);
    await victim.suspend(awayMs);
    return `stopped ${victim.name} for ${Math.round(awayMs)} ms`;
  };
  const link: Blow = async (random) => {
    const [name, mode] = [random.pick(linkNames), random.pick(linkBlows)];
    const forMs = random.between(1_000, 9_000);
    await stand.setLink(name, mode);
    await delay(forMs);
    await stand.setLink(name, 'pass');
    return `the link to ${name}: ${mode} for ${Math.round(forMs)} ms`;
  };
  const configuration: Blow = async (random) => {
    const forMs = random.between(2_000, 10_000);
    await stand.configure(false);
    await delay(forMs);
    await stand.configure(true);
    return `a credential was removed for ${Math.round(forMs)} ms`;
  };
  const operator: Blow = async (random) => {
    const task = random.pick(await options.running());
    const action = random.pick(actionsInFlight);
    const isDone = await options.operators.act(task, action);
    return `an operator: ${action} ${task}${isDone ? '' : ', refused'}`;
  };
  const reset: Blow = async (random) => {
    const task = random.pick(await options.running());
    await options.operators.reset(task);
    return `reset ${task}`;
  };
  const clock: Blow = async (random) => {
    const { clock: victim, byMs } = moves[nextMove++ % moves.length] ?? random.pick(moves);
    // Each process compares its clock with the database's once a minute, so it could miss a change that lasts less than
    // that.
    const forMs = victim.name === 'mongodb' ? random.between(65_000, 90_000) : random.between(3_000, 15_000);
    await stand.setClock(victim, byMs);
    await delay(forMs);
    await stand.setClock(victim, 0);
    return `moved the clock of ${victim.name} by ${byMs / 60_000} minutes for ${Math.round(forMs)} ms`;
  };
  if (options.clocks) return [clock, clock, clock, kill, suspend];
  const stops = [kill, kill, kill, suspend, suspend, suspend, standstillOf(stand)];
  return [...stops, link, link, clock, configuration, operator, reset];
}

function standstillOf({ gateway }: Stand): Blow {
  return async (random) => {
    const stopped = gateway.filter((victim) => !victim.isBusy());
    const awayMs = random.between(5_000, 15_000);
    await Promise.all(stopped.map((victim) => victim.suspend(awayMs)));
    return `stopped ${stopped.map(({ name }) => name).join(', ')} for ${Math.round(awayMs)} ms`;
  };
}

/** Waits until one of the processes has no injected fault, because each can have only one at a time. */
async function free(victims: readonly Victim[], random: Random): Promise<Victim> {
  for (;;) {
    const victim = random.pick(victims);
    if (!victim.isBusy()) return victim;
    await delay(100);
  }
}

interface ClockMove<Clock> {
  readonly clock: Clock;
  readonly byMs: number;
}

function clockMoves<Clock>(clocks: readonly Clock[]): readonly ClockMove<Clock>[] {
  return clockSteps.flatMap((_, round) =>
    clocks.map((clock, index) => ({ clock, byMs: clockSteps[(index + round) % clockSteps.length] ?? 0 })),
  );
}
