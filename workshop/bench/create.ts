import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { requirePoller, waitUntil, type Stand } from '../stand/stand.ts';
import type { plainWorkflow } from './support/empty-workflow.ts';
import { openCreates, startBenchGateway, type BenchGateway, type RenderKind } from './support/gateway.ts';
import type { BenchOptions } from './support/options.ts';
import { benchProcesses } from './support/processes.ts';
import type { Report } from './support/report.ts';
import { measureInTurns, reportShares, roundsOf, type Subject } from './support/rounds.ts';

/**
 * Measures POST /v1/videos/generations on 1, 16 and 64 connections. The comparison is the two operations that every
 * durable creation needs: inserting a document with majority write concern, and starting an empty workflow. If
 * `--processes` is set, compares different numbers of API processes and workers instead.
 */

const goalShare = 0.6;
const settleMs = 1_000;
const emptyQueue = 'bench-empty';
const title = 'POST /v1/videos/generations';
const subjects = {
  short: { name: 'create-1s', title: 'create, render of 1 s' },
  long: { name: 'create', title: 'create, render that does not end' },
};
const usual = { rounds: 3, connections: [1, 16, 64], countMax: 50_000 };

export async function benchCreate(options: BenchOptions, stand: Stand): Promise<Report> {
  const gateway = await startBenchGateway(stand, { profile: options.profile });
  if (options.processes !== undefined) {
    const counts = options.processes;
    return benchProcesses(
      { ...options, counts },
      { gateway, stand },
      {
        title,
        subject: (urls) => createSubject('long', gateway, urls),
        warmUp: (urls) => createSubject('short', gateway, urls),
      },
    );
  }
  const rounds = roundsOf(options, usual);
  await stand.startProgram({
    name: 'empty-worker',
    script: new URL('support/empty-worker.ts', import.meta.url),
    args: [stand.temporalAddress, emptyQueue],
    probe: () => requirePoller(stand, emptyQueue),
  });
  const limit = limitSubject(stand, gateway);
  const measured = await measureInTurns(stand, rounds, {
    subjects: [limit, createSubject('long', gateway)],
    warmUp: [limit, createSubject('short', gateway)],
  });
  await gateway.close();
  return reportShares(measured, rounds, {
    title,
    name: 'create',
    limit: 'limit',
    goalShare,
  });
}

function limitSubject({ temporal }: Stand, { db }: BenchGateway): Subject {
  return {
    name: 'limit',
    title: 'majority insert, plain start of an empty workflow, no HTTP',
    open: () => ({
      async once() {
        const workflowId = randomUUID();
        const majority = { writeConcern: { w: 'majority' } } as const;
        await db.collection<{ _id: string }>('bench_limit').insertOne({ _id: workflowId }, majority);
        await temporal.workflow.start<typeof plainWorkflow>('plainWorkflow', {
          workflowId,
          taskQueue: emptyQueue,
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
        });
      },
      async close() {
        await delay(settleMs);
        const open = `TaskQueue = "${emptyQueue}" AND ExecutionStatus = "Running"`;
        const isEmpty = async () => (await temporal.workflow.count(open)).count === 0;
        await waitUntil('the empty workflows to end', isEmpty, { deadlineMs: 600_000, everyMs: 1_000 });
      },
    }),
  };
}

function createSubject(
  kind: RenderKind,
  gateway: BenchGateway,
  urls: readonly string[] = [gateway.url],
): Subject {
  const body = gateway.videoBody(kind);
  const tasks = gateway.db.collection<{ status: string; model: string }>('tasks');
  const unsettled = kind === 'short' ? ['pending', 'submitted', 'running'] : ['pending'];
  return {
    ...subjects[kind],
    process: 'api',
    open(connections) {
      const creates = openCreates({ ...gateway, urls }, connections);
      return {
        once: async (caller) => void (await creates.create(caller, body)),
        async close() {
          const left = () => tasks.findOne({ model: kind, status: { $in: unsettled } });
          const isSettled = async () => (await left()) === null;
          await waitUntil('the tasks to settle', isSettled, { deadlineMs: 600_000, everyMs: 1_000 });
          await creates.close();
        },
      };
    },
  };
}
