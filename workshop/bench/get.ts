import { waitUntil, type Stand } from '../stand/stand.ts';
import { openCreates, startBenchGateway, type BenchGateway } from './support/gateway.ts';
import type { BenchOptions } from './support/options.ts';
import { times, type Goal, type Report } from './support/report.ts';
import { httpSubject, measureInTurns, middleOf, reportShares, roundsOf } from './support/rounds.ts';
import type { Measured, Subject } from './support/rounds.ts';
import { ask } from '../stand/http.ts';

/**
 * Measures GET of finished tasks on 1, 16 and 64 connections, each reading a different task, and of a list of 50 tasks.
 * The comparison is a bare Koa server that serves the same documents with the MongoDB driver's `findOne`. Both read
 * from the same MongoDB server, in separate processes and one at a time.
 */

const goalShare = 0.75;
const listTimesMax = 3;
const listed = 50;
const usual = { rounds: 5, connections: [1, 16, 64], countMax: 400_000 };

export async function benchGet(options: BenchOptions, stand: Stand): Promise<Report> {
  const rounds = roundsOf(options, usual);
  const gateway = await startBenchGateway(stand, { profile: options.profile, accounts: 1 });
  const paths = await finishedTasks(gateway, Math.max(listed, ...rounds.connections));
  const list = `/v1/videos/generations?limit=${listed}`;
  const subjects = [
    await bareSubject(stand, gateway, paths),
    gatewaySubject(gateway, { name: 'gateway', title: 'gateway', paths }),
    gatewaySubject(gateway, { name: 'list', title: `gateway, list of ${listed}`, paths: [list] }),
  ];
  const measured = await measureInTurns(stand, rounds, { subjects });
  await gateway.close();
  const report = reportShares(measured, rounds, {
    title: 'GET /v1/videos/generations/{id}',
    name: 'gateway',
    limit: 'bare',
    goalShare,
  });
  return { ...report, goals: [...report.goals, ...listGoals(measured, rounds.connections)] };
}

async function finishedTasks(gateway: BenchGateway, count: number): Promise<readonly string[]> {
  const creates = openCreates(gateway, 1);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await creates.create(0, gateway.videoBody('short')));
  await creates.close();
  const tasks = gateway.db.collection<{ _id: string; status: string }>('tasks');
  const finished = { _id: { $in: ids }, status: 'succeeded' };
  await waitUntil('the tasks to be finished', async () => (await tasks.countDocuments(finished)) === count);
  return ids.map((id) => `/v1/videos/generations/${id}`);
}

async function bareSubject(stand: Stand, { db }: BenchGateway, paths: readonly string[]): Promise<Subject> {
  const port = await stand.freePort();
  const origin = `http://127.0.0.1:${port}`;
  await stand.startProgram({
    name: 'bare',
    script: new URL('support/bare-get.ts', import.meta.url),
    args: [String(port), stand.mongodbUri, db.databaseName],
    probe: () => ask(`${origin}${paths[0]}`),
  });
  const calls = paths.map((path) => ({ method: 'GET', path, headers: {} }) as const);
  return httpSubject({ name: 'bare', title: 'bare Koa + findOne', process: 'bare', origin, calls });
}

function gatewaySubject(
  { url, keys: [key] }: BenchGateway,
  { paths, ...about }: { readonly name: string; readonly title: string; readonly paths: readonly string[] },
): Subject {
  const headers = { authorization: `Bearer ${key}` };
  const calls = paths.map((path) => ({ method: 'GET', path, headers }) as const);
  return httpSubject({ ...about, process: 'api', origin: url, calls });
}

function listGoals(measured: readonly Measured[], connections: readonly number[]): Goal[] {
  return connections.flatMap((count) => {
    const one = middleOf(measured, 'gateway', count)?.run.p50;
    const list = middleOf(measured, 'list', count)?.run.p50;
    if (one === undefined || list === undefined) return [];
    return {
      what: `a list of ${listed} at ${count} connection(s), p50`,
      goal: `at most ${listTimesMax} × a GET`,
      measured: times(list, one),
      met: list <= listTimesMax * one,
    };
  });
}
