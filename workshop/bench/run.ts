import { readOptions, usage } from './support/options.ts';
import type { BenchOptions } from './support/options.ts';

/** `npm run bench -- <name>`: one measurement, on servers of its own. See docs/benchmarks.md. */

type Bench = (options: BenchOptions) => Promise<void>;

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  create: async () => (await import('./create.ts')).benchCreate,
  get: async () => (await import('./get.ts')).benchGet,
  tasks: async () => (await import('./tasks.ts')).benchTasks,
  steps: async () => (await import('./steps.ts')).benchSteps,
  news: async () => (await import('./news.ts')).benchNews,
  questions: async () => (await import('./questions.ts')).benchQuestions,
  memory: async () => (await import('./memory.ts')).benchMemory,
  images: async () => (await import('./images.ts')).benchImages,
  console: async () => (await import('./console.ts')).benchConsole,
  ledger: async () => (await import('./ledger.ts')).benchLedger,
  bill: async () => (await import('./bill.ts')).benchBill,
  idle: async () => (await import('./idle.ts')).benchIdle,
  fairness: async () => (await import('./fairness.ts')).benchFairness,
  flapping: async () => (await import('./flapping.ts')).benchFlapping,
};

const options = readOptions(process.argv.slice(2));
const load = benches[options.name];
if (load === undefined) {
  console.error(`${usage}\nNames: ${Object.keys(benches).join(', ')}`);
  process.exit(64);
}
const bench = await load();
await bench(options);
process.exit();
