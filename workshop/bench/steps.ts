import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';

import { searchAttributes } from '../../workflows/search-attributes.ts';
import { runLoad } from './support/load.ts';
import type { BenchOptions } from './support/options.ts';
import { publish, short } from './support/report.ts';
import type { Row } from './support/report.ts';
import { openStand, requirePoller } from './support/stand.ts';
import type { Stand } from './support/stand.ts';
import type { StepsInput } from './support/steps-activities.ts';
import type { stepsWorkflow } from './support/steps-workflow.ts';
import { measureCpu } from './support/usage.ts';

/**
 * What each step of a workflow costs in CPU when nothing is done in it: the floor that `tasks` stands on. Each row is
 * the row before it with one step more; the last has all steps of a task with a callback but the callback itself.
 */

const workflowQueue = 'bench-steps';
const activitiesQueue = 'bench-steps-channel';
/** What the server still does after a workflow has ended: its row in the list, timers that have become pointless. */
const settleMs = 2_500;
const secondsMax = 600;
const idleMs = 10_000;

interface Variant extends StepsInput {
  /** With search attributes and a summary. */
  readonly isListed?: true;
}

const steps: readonly { readonly name: string; readonly adds: Variant }[] = [
  { name: 'start and end', adds: {} },
  { name: '+ an activity on a queue of its own', adds: { queue: activitiesQueue } },
  { name: '+ a timer, cancelled at the end', adds: { timer: true } },
  { name: '+ search attributes and summary at the start', adds: { isListed: true } },
  { name: '+ a search attribute at the end', adds: { upsert: true } },
  { name: '+ two local activities', adds: { locals: true } },
  { name: '+ the activity takes a second', adds: { seconds: 1 } },
  { name: '+ it has a heartbeat timeout', adds: { heartbeatTimeout: true } },
  { name: '+ it sends a heartbeat', adds: { heartbeat: true } },
];

interface Cost {
  readonly temporal: number;
  readonly worker: number;
  readonly events: number;
}

export async function benchSteps(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const count = options.count ?? (options.quick ? 20 : 200);
  const inFlight = options.connections?.[0] ?? 50;
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const stand = await openStand();
  try {
    await stand.startProgram({
      name: 'worker',
      script: new URL('support/steps-worker.ts', import.meta.url),
      args: [stand.temporalAddress, workflowQueue, activitiesQueue],
      probe: () =>
        Promise.all([
          requirePoller(stand, workflowQueue, 'workflow'),
          requirePoller(stand, activitiesQueue, 'activity'),
        ]),
    });
    let variant: Variant = {};
    const measured = steps.map(({ name, adds }) => {
      variant = { ...variant, ...adds };
      return { name, variant, costs: [] as Cost[] };
    });
    // A process that was just started compiles its code while it is measured.
    for (const { variant } of measured) await measure(variant, { count: inFlight, inFlight }, stand);
    for (let round = 0; round < rounds; round += 1) {
      for (const { variant, costs } of measured)
        costs.push(await measure(variant, { count, inFlight }, stand));
    }
    const idle = await measureIdle(stand);
    await publish(
      {
        name: 'steps',
        command: options.command,
        setting: { rounds, workflows: count, 'in flight': inFlight, 'idle server, ms a second': idle },
        tables: [{ title: 'CPU of a workflow, ms', rows: rowsOf(measured) }],
        goals: [],
        raw: measured,
      },
      load,
    );
  } finally {
    await stand.close();
  }
}

interface Slice {
  readonly count: number;
  readonly inFlight: number;
}

async function measure(variant: Variant, { count, inFlight }: Slice, stand: Stand): Promise<Cost> {
  const cpu = await measureCpu(stand.pids);
  let last: WorkflowHandle | undefined;
  const run = await runLoad({
    concurrency: inFlight,
    countMax: count,
    seconds: secondsMax,
    once: async () => {
      last = await start(variant, stand);
      await last.result();
    },
  });
  if (run.failed > 0) throw new Error(`workflows failed: ${run.firstError ?? ''}`);
  await delay(settleMs);
  const { temporal = 0, worker = 0 } = await cpu.stop();
  const events = (await last?.describe())?.historyLength ?? 0;
  return { temporal: temporal / count, worker: worker / count, events };
}

/** What the server does while nothing happens is part of every row, by the time that the row took. */
async function measureIdle({ pids }: Stand): Promise<string> {
  const cpu = await measureCpu(pids);
  await delay(idleMs);
  const { temporal = 0 } = await cpu.stop();
  return short((temporal * 1000) / idleMs);
}

function start(
  { isListed, ...input }: Variant,
  { temporal }: Stand,
): Promise<WorkflowHandle<typeof stepsWorkflow>> {
  return temporal.workflow.start<typeof stepsWorkflow>('stepsWorkflow', {
    workflowId: randomUUID(),
    taskQueue: workflowQueue,
    args: [input],
    ...(isListed ? description : {}),
  });
}

const description = {
  staticSummary: 'a-model for an-account',
  priority: { fairnessKey: 'an-account' },
  typedSearchAttributes: new TypedSearchAttributes([
    { key: searchAttributes.model, value: 'a-model' },
    { key: searchAttributes.channel, value: 'a-channel' },
    { key: searchAttributes.account, value: 'an-account' },
    { key: searchAttributes.status, value: 'open' },
  ]),
};

interface Measured {
  readonly name: string;
  readonly costs: readonly Cost[];
}

function rowsOf(measured: readonly Measured[]): Row[] {
  let before = 0;
  return measured.map(({ name, costs }) => {
    const sorted = costs.toSorted((a, b) => a.temporal - b.temporal);
    const { temporal = 0, worker = 0, events = 0 } = sorted[Math.floor((sorted.length - 1) / 2)] ?? {};
    const added = temporal - before;
    before = temporal;
    return {
      step: name,
      'Temporal’s server': short(temporal),
      added: short(added),
      'at least': short(sorted[0]?.temporal ?? 0),
      worker: short(worker),
      events,
    };
  });
}
