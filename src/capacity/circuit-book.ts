import { createSnapshot } from '../store/snapshot.ts';
import type { Circuit } from '../store/channel-health.ts';
import {
  circuitRules,
  closedAfter,
  closedTo,
  failedAgain,
  isSuspect,
  openedBy,
  scopeOf,
} from '../health/circuit-rules.ts';
import type { CircuitRecord, Failure, HealthSign } from '../health/circuit-rules.ts';
import type { CircuitDecision, CircuitRequest, CircuitTarget, CircuitsDeps } from './circuits.ts';

const intervalMs = 2_000;
/** Another process probes; its answer is known by then, or the next one may. */
const probeElsewhereMs = 2_000;

/** The circuits that one store holds, and how answers open and close them. */
export function createCircuitBook(deps: CircuitsDeps) {
  const { now } = deps;
  const streaks = createStreaks();
  const { known, openCircuits, change } = readCircuits(deps);

  async function succeeded(target: CircuitTarget): Promise<void> {
    for (const id of idsOf(target)) streaks.end(id);
    for (const circuit of openCircuits(target)) {
      const { id, ...record } = circuit;
      // What was in flight when an operator opened it does not close it.
      if (record.by !== undefined && record.until > now()) continue;
      await change(id, closedAfter(record, now()));
    }
  }

  /** True: an open circuit explains the failure. */
  async function failedTrial(request: CircuitRequest, failure: Omit<Failure, 'tasks'>): Promise<boolean> {
    const { task } = request;
    const [credentialId] = idsOf(request);
    let isExplained = false;
    for (const { id, ...record } of openCircuits(request)) {
      const isBlamed = id !== credentialId || scopeOf(failure.sign) === 'credential';
      isExplained ||= isBlamed || record.until > now();
      // Requests that were in flight when it opened add no information.
      if (record.until > now()) continue;
      const after =
        !isBlamed || isSuspect(record, task)
          ? failedAgain(record, now())
          : openedBy({ ...failure, tasks: [task] }, record, now());
      await change(id, after);
    }
    return isExplained;
  }

  async function failed(request: CircuitRequest, failure: Omit<Failure, 'tasks'>): Promise<void> {
    if (await failedTrial(request, failure)) return;
    const [credentialId, modelId] = idsOf(request);
    const id = scopeOf(failure.sign) === 'model' ? modelId : credentialId;
    const before = known.find(id);
    // It failed while the circuit was open, and others then succeeded: the fault is the task's.
    if (isSuspect(before, request.task)) return;
    const tasks = streaks.count(id, failure.sign, request.task);
    if (tasks.size < circuitRules[failure.sign].tasks) return;
    await replace(id, openedBy({ ...failure, tasks: [...tasks] }, before, now()));
  }

  function replace(id: string, record: CircuitRecord): Promise<void> {
    streaks.end(id);
    return change(id, record);
  }

  return {
    known,
    open: openCircuits,
    succeeded,
    failed,
    replace,
    enter: (request: CircuitRequest, leaseMs: number) =>
      enterAll(openCircuits(request), { task: request.task, leaseMs }, deps),
  };
}

async function enterAll(
  open: readonly Circuit[],
  { task, leaseMs }: { readonly task: string; readonly leaseMs: number },
  { store, now }: CircuitsDeps,
): Promise<CircuitDecision> {
  const closedLongest = (a: Circuit, b: Circuit) => closedTo(b, task) - closedTo(a, task);
  // A probe that is taken and then refused elsewhere would keep others out.
  for (const circuit of open.toSorted(closedLongest)) {
    const { id, sign, code } = circuit;
    const until = closedTo(circuit, task);
    const probe = { task, isSuspect: isSuspect(circuit, task), leaseMs };
    if (until <= now() && (await store.takeProbe(id, probe))) continue;
    const retryAfterMs = Math.max(until - now(), probeElsewhereMs);
    return { open: true, retryAfterMs, detail: `${sign}: ${code}` };
  }
  return { open: false };
}

/** What this process last read or wrote. */
function readCircuits({ store, onChange, onError }: CircuitsDeps) {
  const known = createSnapshot<Circuit>({ list: () => store.list(), intervalMs, onError });
  return {
    known,
    openCircuits: (target: CircuitTarget): Circuit[] =>
      idsOf(target).flatMap((id) => {
        const circuit = known.find(id);
        return circuit?.state === 'open' ? [circuit] : [];
      }),
    change: async (id: string, record: CircuitRecord): Promise<void> => {
      const before = known.find(id)?.state ?? 'closed';
      known.put({ ...record, id });
      if (record.state !== before) onChange(id, record);
      await store.write(id, record);
      // A read that began before it was written does not contain it.
      known.put({ ...record, id });
    },
  };
}

/** The circuit of the credential, and that of one model behind it. */
export function idsOf({ channel, credential, model }: CircuitTarget): readonly [string, string] {
  const id = `${channel}/${credential}`;
  return [id, `${id}/${model}`];
}

/** The tasks that failed at a circuit's target since the last success, by kind of failure: each counts once. */
function createStreaks() {
  const counts = new Map<string, Partial<Record<HealthSign, ReadonlySet<string>>>>();
  return {
    /** With this task. */
    count(id: string, sign: HealthSign, task: string): ReadonlySet<string> {
      const tasks = new Set(counts.get(id)?.[sign]).add(task);
      counts.set(id, { ...counts.get(id), [sign]: tasks });
      return tasks;
    },
    end: (id: string): void => void counts.delete(id),
  };
}
