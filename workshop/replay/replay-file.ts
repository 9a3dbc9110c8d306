import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { z } from 'zod';
import { messageOf } from '../../src/base/caught.ts';
import { replayRecord } from './replay-record.ts';
import { recordFormat, recordVersion, flightRecordSchema } from '../../src/flight/flight-record.ts';
import type { FlightRecord } from '../../src/flight/flight-record.ts';
import { providers } from '../../src/providers/index.ts';
import { replayError } from './replay-error.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';

export interface ReplayResult {
  /** For a person: what differs, what could not be replayed, or that all is the same. */
  readonly lines: readonly string[];
  readonly same: boolean;
}

export type ReadFile =
  | { readonly ok: true; readonly record: FlightRecord }
  | { readonly ok: false; readonly problem: string };

const fileBytesMax = 20 * 1024 * 1024;

/** A file may come from anywhere: whatever it holds, the answer is a sentence. */
export async function readReplayFile(file: string): Promise<ReadFile> {
  try {
    if ((await stat(file)).size > fileBytesMax)
      return { ok: false, problem: 'The file is larger than 20 MiB.' };
    return parseReplayFile(await readFile(file, 'utf8'));
  } catch (error) {
    return { ok: false, problem: `The file cannot be read: ${messageOf(error)}.` };
  }
}

export function parseReplayFile(text: string): ReadFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'The file is not JSON.' };
  }
  const { data, error } = flightRecordSchema.safeParse(value);
  if (data !== undefined) return { ok: true, record: data };
  const [issue] = error.issues;
  const where = issue === undefined ? '' : ` (${issue.path.join('.') || 'the whole'}: ${issue.message})`;
  return { ok: false, problem: `The file is not a ${recordFormat} of version ${recordVersion}${where}.` };
}

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

export async function replayFile(read: ReadFile): Promise<ReplayResult> {
  if (!read.ok) return { lines: [read.problem], same: false };
  const { record } = read;
  const { differences, notes, calls } = await replayRecord(record, providers);
  const history = await replayHistory(record);
  const all = [...differences, ...history.differences];
  const told = [...notes, ...history.notes];
  const summary =
    all.length === 0
      ? `The same as recorded: ${calls} calls, ${record.task.status}, charge ${record.task.charge ?? 'none'}.`
      : `${all.length} differences:`;
  return { lines: [...told.map((line) => `Note: ${line}`), summary, ...all], same: all.length === 0 };
}

async function replayHistory(
  record: FlightRecord,
): Promise<{ readonly differences: string[]; readonly notes: string[] }> {
  if (record.history === undefined || record.history === null) {
    return { differences: [], notes: ['The workflow is not replayed: its history is not in the record.'] };
  }
  if (!historySchema.safeParse(record.history).success) {
    return { differences: ['The history in the record is not one of a workflow.'], notes: [] };
  }
  bundle ??= bundleWorkflows();
  const error = await bundle.then(
    (workflowBundle) =>
      Promise.race([replayError(record.task.id, record.history, { workflowBundle }), tooLate()]),
    messageOf,
  );
  const differences =
    error === undefined ? [] : [`The workflow of today cannot replay the task’s history: ${error}`];
  return { differences, notes: [] };
}

/** What Temporal's replay waits for in vain if it is missing. */
const historySchema = z.object({
  events: z
    .array(z.looseObject({ eventType: z.string().startsWith('EVENT_TYPE_') }))
    .refine(([first]) => first?.eventType === 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED'),
});

const replayMaxMs = 60_000;

async function tooLate(): Promise<string> {
  await sleep(replayMaxMs, undefined, { ref: false });
  return 'it did not end within a minute';
}

/** Before the first replay: Temporal's own log would be between the lines of ours. */
export function silenceTemporal(): void {
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });
}
