import { mkdirSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resultsDir } from './report.ts';
import type { Row, Table } from './report.ts';
import type { Stand } from './stand.ts';
import { measureThreads } from './usage.ts';

/** CPU profiles that node writes when a process ends, in workshop/bench/results/profiles/<process>/. */

const sampleEveryMicros = 500;
const rowsMax = 25;
const busyMicrosMin = 300_000;

function profilesOf(name: string): string {
  return join(resultsDir, 'profiles', name);
}

/** Flags of node for a process whose profile is wanted; forgets the one before. */
export function profileFlags(name: string): readonly string[] {
  const directory = profilesOf(name);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  return ['--cpu-prof', `--cpu-prof-dir=${directory}`, `--cpu-prof-interval=${sampleEveryMicros}`];
}

/** V8's and the system's monotonic clock, in microseconds: the same in all processes of a machine (Linux). */
function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

interface Window {
  readonly from: number;
  readonly to: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Profiling {
  /** Ends the processes, which writes their profiles, and tells what ran between `start` and now. */
  finish(calls: number): Promise<Table[]>;
}

/** Watches processes that were started with `profileFlags`, from now on. */
export async function startProfiling(stand: Stand, names: readonly string[]): Promise<Profiling> {
  const from = monotonicMicros();
  const threads = await Promise.all(
    names.map(async (name) => [name, await measureThreads(stand.pids[name] ?? 0)] as const),
  );
  return {
    finish: async (calls) => {
      const window = { from, to: monotonicMicros() };
      const tables: Table[] = [];
      for (const [name, measured] of threads) {
        const spent = await measured.stop();
        tables.push({
          title: `${name}, CPU by thread`,
          rows: [...spent]
            .toSorted((a, b) => b[1] - a[1])
            .filter(([, ms]) => ms > 0)
            .map(([thread, ms]) => ({ thread, ms, 'µs per call': ((ms * 1000) / calls).toFixed(0) })),
        });
        await stand.endProgram(name);
        tables.push(...(await summarizeProfiles(name, window, calls)));
      }
      return tables;
    },
  };
}

/** What ran in the process while it was measured: by function, and by package. One pair of tables per thread. */
async function summarizeProfiles(name: string, window: Window, calls: number): Promise<Table[]> {
  const files = await readdir(profilesOf(name)).catch(() => []);
  const tables: Table[] = [];
  for (const file of files.toSorted((a, b) => a.localeCompare(b))) {
    const profile = JSON.parse(await readFile(join(profilesOf(name), file), 'utf8')) as CpuProfile;
    const micros = timeByNode(profile, window);
    const busy = busyMicros(profile, micros);
    // The loader's thread, which has nothing to do once everything is loaded.
    if (busy < busyMicrosMin) continue;
    const title = `${name}, ${threadOf(file)}: ${(busy / calls).toFixed(0)} µs of JavaScript per call`;
    tables.push(
      { title: `${title}, by function (self)`, rows: rowsOf(selfTimes(profile, micros, functionOf), busy) },
      { title: `${title}, by package (self)`, rows: rowsOf(selfTimes(profile, micros, packageOf), busy) },
      {
        title: `${title}, our functions with what they call`,
        rows: rowsOf(ownTotals(profile, micros), busy),
      },
    );
  }
  return tables;
}

/** CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile */
function threadOf(file: string): string {
  const thread = file.split('.')[4] ?? '?';
  return thread === '0' ? 'main thread' : `thread ${thread}`;
}

function timeByNode({ samples, timeDeltas, startTime }: CpuProfile, window: Window): Map<number, number> {
  const micros = new Map<number, number>();
  let at = startTime;
  samples.forEach((node, index) => {
    at += timeDeltas[index] ?? 0;
    // A sample stands for the time until the next one.
    const lasts = timeDeltas[index + 1] ?? 0;
    if (at >= window.from && at < window.to) micros.set(node, (micros.get(node) ?? 0) + lasts);
  });
  return micros;
}

const idleNames: readonly string[] = ['(idle)', '(root)'];

function busyMicros({ nodes }: CpuProfile, micros: ReadonlyMap<number, number>): number {
  return nodes
    .filter(({ callFrame }) => !idleNames.includes(callFrame.functionName))
    .reduce((sum, { id }) => sum + (micros.get(id) ?? 0), 0);
}

function selfTimes(
  { nodes }: CpuProfile,
  micros: ReadonlyMap<number, number>,
  label: (node: ProfileNode) => string,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const node of nodes) {
    if (idleNames.includes(node.callFrame.functionName)) continue;
    const name = label(node);
    sums.set(name, (sums.get(name) ?? 0) + (micros.get(node.id) ?? 0));
  }
  return sums;
}

/** Time of each function of ours and all that it called, counted once where it calls itself. */
function ownTotals({ nodes }: CpuProfile, micros: ReadonlyMap<number, number>): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const sums = new Map<string, number>();
  const walk = (node: ProfileNode, callers: ReadonlySet<string>): number => {
    const name = functionOf(node);
    const inside = new Set(callers).add(name);
    let total = micros.get(node.id) ?? 0;
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) total += walk(child, inside);
    }
    if (packageOf(node) === 'mediary' && !callers.has(name)) sums.set(name, (sums.get(name) ?? 0) + total);
    return total;
  };
  const [root] = nodes;
  if (root !== undefined) walk(root, new Set());
  return sums;
}

function functionOf({
  callFrame: { functionName, url, lineNumber },
}: Pick<ProfileNode, 'callFrame'>): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name.length > 80 ? `${name.slice(0, 80)}…` : name;
  // Line numbers of our own files are those of the transformed text, which is one line.
  return packageOf({ callFrame: { functionName, url, lineNumber } }) === 'mediary'
    ? `${name} ${shortUrl(url)}`
    : `${name} ${shortUrl(url)}:${lineNumber + 1}`;
}

function packageOf({ callFrame: { functionName, url } }: Pick<ProfileNode, 'callFrame'>): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native';
  if (url.startsWith('node:')) return url.split('?')[0] ?? url;
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (inPackage !== undefined) return inPackage;
  if (/\/workflow-bundle-\w+\.js$/.test(url)) return 'workflow bundle';
  return /\/(src|activities|workflows|bench)\//.test(url) ? 'mediary' : shortUrl(url);
}

function shortUrl(url: string): string {
  return url
    .replace(/^.*\/node_modules\//, '')
    .replace(/^file:\/\/.*?\/((?:src|activities|workflows|bench)\/)/, '$1')
    .replace(/\?.*$/, '');
}

function rowsOf(sums: ReadonlyMap<string, number>, busy: number): Row[] {
  return [...sums]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, rowsMax)
    .filter(([, micros]) => micros > busy / 200)
    .map(([what, micros]) => ({
      what,
      share: `${((100 * micros) / busy).toFixed(1)} %`,
      ms: (micros / 1000).toFixed(0),
    }));
}
