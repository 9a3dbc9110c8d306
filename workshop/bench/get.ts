import { waitUntil, type Stand } from '../stand/stand.ts';
import { openCreates, startBenchGateway, type BenchGateway } from './support/gateway.ts';
import type { BenchOptions } from './support/options.ts';
import type { Report } from './support/report.ts';
import { httpSubject, measureInTurns, reportShares, roundsOf, type Subject } from './support/rounds.ts';
import { ask } from '../stand/http.ts';

/**
 * Measures GET of finished tasks at 1, 16 and 64 connections, each reading a different task. The comparison is a bare
 * Koa that serves the same documents with the MongoDB driver's `findOne`. The two subjects run in separate processes,
 * one at a time, and read from the same server.
 */

const goalShare = 0.75;
const usual = { rounds: 5, connections: [1, 16, 64], countMax: 400_000 };

export async function benchGet(options: BenchOptions, stand: Stand): Promise<Report> {
  const rounds = roundsOf(options, usual);
  const gateway = await startBenchGateway(stand, { profile: options.profile, accounts: 1 });
  const paths = await finishedTasks(gateway, Math.max(...rounds.connections));
  const subjects = [await bareSubject(stand, gateway, paths), gatewaySubject(gateway, paths)];
  const measured = await measureInTurns(stand, rounds, { subjects });
  await gateway.close();
  return reportShares(measured, rounds, {
    title: 'GET /v1/videos/generations/{id}',
    name: 'gateway',
    limit: 'bare',
    goalShare,
  });
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

function gatewaySubject({ url, keys: [key] }: BenchGateway, paths: readonly string[]): Subject {
  const headers = { authorization: `Bearer ${key}` };
  const calls = paths.map((path) => ({ method: 'GET', path, headers }) as const);
  return httpSubject({ name: 'gateway', title: 'gateway', process: 'api', origin: url, calls });
}
