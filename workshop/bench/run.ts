import { loadavg } from 'node:os';
import { openStand, type Stand } from '../stand/stand.ts';
import { readOptions, usage, type BenchOptions } from './support/options.ts';
import { publish, type Report } from './support/report.ts';

type Bench = (options: BenchOptions, stand: Stand) => Promise<Report>;

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  create: async () => (await import('./create.ts')).benchCreate,
  get: async () => (await import('./get.ts')).benchGet,
  news: async () => (await import('./news.ts')).benchNews,
  memory: async () => (await import('./memory.ts')).benchMemory,
  images: async () => (await import('./images.ts')).benchImages,
  console: async () => (await import('./console.ts')).benchConsole,
  ledger: async () => (await import('./ledger.ts')).benchLedger,
  idle: async () => (await import('./idle.ts')).benchIdle,
  start: async () => (await import('./start.ts')).benchStart,
};
/**
 * The size of the heap in megabytes. The MongoDB stand-in serves queries from memory, so benchmarks with a lot of data
 * need a larger heap.
 */
const heapMegabytes: Readonly<Record<string, number>> = { ledger: 4_096 };

const options = readOptions(process.argv.slice(2));
const load = benches[options.name];
if (load === undefined) {
  console.error(`${usage}\nNames: ${Object.keys(benches).join(', ')}`);
  process.exit(64);
}
const bench = await load();
const before = loadavg()[0] ?? 0;
const heap = heapMegabytes[options.name];
const stand = await openStand(heap === undefined ? {} : { heapMegabytes: heap });
try {
  const report = await bench(options, stand);
  await publish(report, options, { mongodb: stand.mongoKind, 'load before': before.toFixed(2) });
} finally {
  await stand.close();
}
process.exit();
