import { loadavg } from 'node:os';

import { nextPoll } from '../../src/polling/poll-schedule.ts';
import { guessedTimes, learnedTimes, quantileOf, renderSamplesMax } from '../../src/models/render-times.ts';
import type { RenderTimes } from '../../src/models/render-times.ts';
import type { BenchOptions } from './support/options.ts';
import { publish } from './support/report.ts';
import type { Row } from './support/report.ts';

/**
 * What the schedule of questions buys at an upstream that cannot list its jobs: how late an end is known, and after how
 * many questions, beside simpler schedules. Simulated: no servers, and no time passes.
 */

type Draw = (random: () => number) => number;
type Ask = (elapsedMs: number, asked: number, random: () => number) => number;

const middleMs = 60_000;
const questionsMax = 200;

const kinds: Readonly<Record<string, Draw>> = {
  'even, ± 20 %': (random) => middleMs * (0.8 + 0.4 * random()),
  'half of 30 s, half of 90 s, ± 5 %': (random) =>
    middleMs * (random() < 0.5 ? 0.5 : 1.5) * (0.95 + 0.1 * random()),
  'log-normal, σ 0.35': (random) => middleMs * Math.exp(0.35 * normal(random)),
};

export async function benchQuestions(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const count = options.count ?? (options.quick ? 200 : 4_000);
  const rows = Object.entries(kinds).flatMap(([kind, draw]) => {
    const random = randomNumbers();
    const samples = Array.from({ length: renderSamplesMax }, () => ({ ms: draw(random), at: 0 }));
    const learned = learnedTimes(samples, 0) ?? guessedTimes(middleMs);
    return Object.entries(schedules(learned)).map(([schedule, ask]): Row => {
      const waits = Array.from({ length: count }, () => askUntilEnded(draw(random), ask, random));
      return { renders: kind, schedule, ...summary(waits) };
    });
  });
  const tables = [{ title: 'The lag is a share of the render', rows }];
  await publish(
    { name: 'questions', command: options.command, setting: { count }, tables, goals: [], raw: rows },
    load,
  );
}

function schedules(learned: RenderTimes): Readonly<Record<string, Ask>> {
  return {
    'learned, by density': ours(learned),
    'learned, evenly in the window': evenly(learned),
    'guessed, right': ours(guessedTimes(middleMs)),
    'guessed, twice as long': ours(guessedTimes(2 * middleMs)),
    'guessed, half as long': ours(guessedTimes(middleMs / 2)),
    'every 10 % of the right guess': () => middleMs / 10,
  };
}

function ours(times: RenderTimes): Ask {
  return (elapsedMs, polls, random) =>
    nextPoll({
      times,
      elapsedMs,
      polls,
      remainingMs: 3_600_000,
      lists: false,
      errors: 0,
      isShared: false,
      random: random(),
    }).delayMs;
}

/** Ten equal steps through the time in which such renders end. */
function evenly(times: RenderTimes): Ask {
  const fromMs = quantileOf(times, 0.05) * 0.95;
  const toMs = quantileOf(times, 0.99) * 1.05;
  return (elapsedMs) => {
    if (elapsedMs < fromMs) return fromMs - elapsedMs;
    return elapsedMs <= toMs ? (toMs - fromMs) / 10 : elapsedMs / 4;
  };
}

interface Waited {
  /** From the end of the render to the answer, as a share of the render. */
  readonly lag: number;
  readonly questions: number;
}

function askUntilEnded(renderMs: number, ask: Ask, random: () => number): Waited {
  let elapsedMs = 0;
  let questions = 0;
  while (elapsedMs < renderMs && questions < questionsMax) {
    elapsedMs += ask(elapsedMs, questions, random);
    questions += 1;
  }
  return { lag: (elapsedMs - renderMs) / renderMs, questions };
}

function summary(waits: readonly Waited[]): Row {
  const lags = waits.map(({ lag }) => lag).toSorted((one, other) => one - other);
  const share = (at: number): string => `${(100 * (lags[Math.floor(lags.length * at)] ?? 0)).toFixed(1)} %`;
  const questions = waits.reduce((sum, each) => sum + each.questions, 0) / waits.length;
  return { 'lag p50': share(0.5), 'lag p95': share(0.95), questions: questions.toFixed(1) };
}

/** The same in each run. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + Number.EPSILON)) * Math.cos(2 * Math.PI * random());
}
