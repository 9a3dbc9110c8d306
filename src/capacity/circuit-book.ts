import { createSnapshot } from '../store/snapshot.ts';
import {
  accountsOf,
  circuitRules,
  closedAfter,
  closedTo,
  failedAgain,
  isConcerned,
  isSuspect,
  openedBy,
  scopeOf,
  spreads,
  withEvidence,
} from '../health/circuit-rules.ts';
import type { Circuit, CircuitRecord, Failure, HealthSign } from '../health/circuit-rules.ts';
import { causeOf } from '../health/health-words.ts';
import type { CircuitDecision, CircuitRequest, CircuitTarget, CircuitsDeps } from './circuits.ts';

/** How often each process reads all circuits. */
export const circuitsReadEveryMs = 2_000;
/** Another process probes; its answer is known by then, or the next one may. */
const probeElsewhereMs = 2_000;

type TaskFailure = Omit<Failure, 'tasks' | 'accounts' | 'models'>;

/** The circuits that one store holds, and how answers open and close them. */
export function createCircuitBook(deps: CircuitsDeps) {
  const { now } = deps;
  const streaks = createStreaks();
  /** The time of each model's last success, by this process's clock. Bounded by the number of configured models. */
  const well = new Map<string, number>();
  const { known, openCircuits, change } = readCircuits(deps);

  async function succeeded(target: CircuitTarget): Promise<void> {
    for (const id of idsOf(target)) streaks.end(id);
    well.set(idsOf(target)[1], now());
    for (const circuit of openCircuits(target)) {
      const { id, ...record } = circuit;
      // What was in flight when an operator opened it does not close it.
      if (record.by !== undefined && record.until > now()) continue;
      await change(id, closedAfter(record, now()));
    }
  }

  /** True: an open circuit explains the failure. */
  async function failedTrial(request: CircuitRequest, failure: TaskFailure): Promise<boolean> {
    let isExplained = false;
    for (const circuit of openCircuits(request)) {
      const trial = afterTrial(circuit, { request, failure }, now());
      isExplained ||= trial.isExplained;
      if (trial.after !== undefined) await change(circuit.id, trial.after);
    }
    return isExplained;
  }

  async function failed(request: CircuitRequest, failure: TaskFailure): Promise<void> {
    if (await failedTrial(request, failure)) return;
    const [credentialId, modelId] = idsOf(request);
    const id = scopeOf(failure.sign) === 'model' ? modelId : credentialId;
    const before = known.find(id);
    // It failed while the circuit was open, and others then succeeded: the fault is the task's.
    if (isSuspect(before, request.task)) return;
    const { tasks, accounts } = streaks.count(id, failure.sign, request);
    if (tasks.size < circuitRules[failure.sign].tasks) return;
    await replace(id, openedBy({ ...failure, tasks: [...tasks], accounts: [...accounts] }, before, now()));
    const evidence = spreads(failure.sign) ? evidenceOfModels(credentialId, { known, well }) : undefined;
    const above = known.find(credentialId);
    if (evidence === undefined || above?.state === 'open') return;
    await replace(credentialId, openedBy({ ...failure, ...evidence }, above, now()));
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
      enterAll(openCircuits(request), { request, leaseMs }, deps),
  };
}

/** Returns the circuit after a failed trial, and whether the circuit explains the failure. */
function afterTrial(
  { id, ...record }: Circuit,
  { request, failure }: { readonly request: CircuitRequest; readonly failure: TaskFailure },
  now: number,
): { readonly after?: CircuitRecord; readonly isExplained: boolean } {
  const { task, account, model } = request;
  const [credentialId] = idsOf(request);
  const isBlamed =
    id !== credentialId || scopeOf(failure.sign) === 'credential' || record.models !== undefined;
  if (record.until > now) {
    // Requests that the circuit concerns were already in flight when it opened, so they are not new evidence.
    const isNews = isBlamed && !isConcerned(record, request);
    if (!isNews) return { isExplained: true };
    return { after: withEvidence(record, { ...failure, accounts: [account] }, model), isExplained: true };
  }
  const isOld = !isBlamed || isSuspect(record, task);
  const trial = { ...failure, tasks: [task], accounts: [account] };
  return { after: isOld ? failedAgain(record, now) : openedBy(trial, record, now), isExplained: isBlamed };
}

/** The evidence that opens a credential's circuit: two of its models fail, and no model has succeeded since. */
function evidenceOfModels(
  credentialId: string,
  {
    known,
    well,
  }: { readonly known: { all(): Iterable<Circuit> }; readonly well: ReadonlyMap<string, number> },
): Pick<Failure, 'tasks' | 'accounts' | 'models'> | undefined {
  const isOurs = (id: string) => id.startsWith(`${credentialId}/`);
  const ill = [...known.all()].filter(
    ({ id, state, by, sign }) => isOurs(id) && state === 'open' && by === undefined && spreads(sign),
  );
  const since = Math.min(...ill.map(({ at }) => at));
  const isWell = [...well].some(([id, at]) => isOurs(id) && at > since);
  if (ill.length < 2 || isWell) return undefined;
  return {
    tasks: [],
    accounts: ill.flatMap(({ evidence }) => accountsOf(evidence)),
    models: ill.map(({ id }) => id.slice(credentialId.length + 1)),
  };
}

async function enterAll(
  open: readonly Circuit[],
  { request, leaseMs }: { readonly request: CircuitRequest; readonly leaseMs: number },
  { store, now }: CircuitsDeps,
): Promise<CircuitDecision> {
  const { task } = request;
  const closedLongest = (a: Circuit, b: Circuit) => closedTo(b, request) - closedTo(a, request);
  // A probe that is taken and then refused elsewhere would keep others out.
  for (const circuit of open.toSorted(closedLongest)) {
    const { id } = circuit;
    const until = closedTo(circuit, request);
    const probe = {
      task,
      isSuspect: isSuspect(circuit, task),
      isConcerned: isConcerned(circuit, request),
      leaseMs,
    };
    if (until <= now() && (await store.takeProbe(id, probe))) continue;
    const retryAfterMs = Math.max(until - now(), probeElsewhereMs);
    return { open: true, retryAfterMs, detail: causeOf(circuit), isTried: until <= now() };
  }
  return { open: false };
}

/** What this process last read or wrote. */
function readCircuits({ store, onChange, onError }: CircuitsDeps) {
  const known = createSnapshot<Circuit>({
    list: () => store.list(),
    intervalMs: circuitsReadEveryMs,
    onError,
  });
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
      await store.write(id, record);
      // A read that began before it was written does not contain it.
      known.put({ ...record, id });
      if (record.state !== before) onChange(id, record);
    },
  };
}

/** The circuit of the credential, and that of one model behind it. */
export function idsOf({
  channel,
  credential,
  model,
}: Omit<CircuitTarget, 'account'>): readonly [string, string] {
  const id = `${channel}/${credential}`;
  return [id, `${id}/${model}`];
}

interface Streak {
  readonly tasks: ReadonlySet<string>;
  readonly accounts: ReadonlySet<string>;
}

/** The tasks that failed at a circuit's target since the last success, by kind of failure: each counts once. */
function createStreaks() {
  const counts = new Map<string, Partial<Record<HealthSign, Streak>>>();
  return {
    /** With this task. */
    count(id: string, sign: HealthSign, { task, account }: CircuitRequest): Streak {
      const before = counts.get(id)?.[sign];
      const streak = {
        tasks: new Set(before?.tasks).add(task),
        accounts: new Set(before?.accounts).add(account),
      };
      counts.set(id, { ...counts.get(id), [sign]: streak });
      return streak;
    },
    end: (id: string): void => void counts.delete(id),
  };
}
