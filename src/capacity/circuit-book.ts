import { periods } from '../base/periods.ts';
import { createSnapshot } from '../store/snapshot.ts';
import {
  accountsOf,
  circuitRules,
  closedAfter,
  closedTo,
  dueAtOnce,
  failedAgain,
  isConcerned,
  isFarAhead,
  isOtherAccount,
  isSuspect,
  openedBy,
  scopeOf,
  spreads,
  withEvidence,
} from '../health/circuit-rules.ts';
import type { Circuit, CircuitRecord, Failure, HealthSign } from '../health/circuit-rules.ts';
import { causeOf } from '../health/health-words.ts';
import type {
  CircuitDecision,
  CircuitRequest,
  CircuitTarget,
  CircuitsDeps,
  TakenProbes,
} from './circuits.ts';

/** The minimum wait while another process probes. By then, the result is known or the next probe may start. */
const probeElsewhereMs = 2_000;

type TaskFailure = Omit<Failure, 'tasks' | 'accounts' | 'models'>;

export function createCircuitBook(deps: CircuitsDeps) {
  const { now } = deps;
  const streaks = createStreaks();
  const well = new Map<string, number>();
  const { known, openCircuits, makeDue, change } = readCircuits(deps);

  async function succeeded(target: CircuitTarget): Promise<void> {
    for (const id of idsOf(target)) streaks.end(id);
    well.set(idsOf(target)[1], now());
    for (const circuit of openCircuits(target)) {
      const { id, ...record } = circuit;
      // A request that was in flight when an operator opened the circuit must not close it.
      if (record.by !== undefined && record.until > now()) continue;
      await change(id, closedAfter(record, now()));
    }
  }

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
    // Other tasks have succeeded since this one failed here, so the task itself is at fault.
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
    async enter(request: CircuitRequest, leaseMs: number, taken: TakenProbes): Promise<CircuitDecision> {
      await makeDue(request);
      return enterAll(openCircuits(request), { request, leaseMs, taken }, deps);
    },
  };
}

function afterTrial(
  { id, ...record }: Circuit,
  { request, failure }: { readonly request: CircuitRequest; readonly failure: TaskFailure },
  now: number,
): { readonly after?: CircuitRecord; readonly isExplained: boolean } {
  const { task, account, model } = request;
  // A different kind of failure does not show that this account's problem affects other accounts too.
  if (isOtherAccount(record, request) && failure.sign !== record.sign) return { isExplained: false };
  const [credentialId] = idsOf(request);
  const isBlamed =
    id !== credentialId || scopeOf(failure.sign) === 'credential' || record.models !== undefined;
  if (record.until > now) {
    // Requests that were already in flight when the circuit opened are not new evidence.
    const isNews = isBlamed && !isConcerned(record, request);
    if (!isNews) return { isExplained: true };
    return { after: withEvidence(record, { ...failure, accounts: [account] }, model), isExplained: true };
  }
  const isOld = !isBlamed || isSuspect(record, task);
  const trial = { ...failure, tasks: [task], accounts: [account] };
  return { after: isOld ? failedAgain(record, now) : openedBy(trial, record, now), isExplained: isBlamed };
}

/**
 * A credential's own circuit opens only if at least two of its models have failed without any success since. Returns
 * undefined otherwise.
 */
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

interface Entering {
  readonly request: CircuitRequest;
  readonly leaseMs: number;
  readonly taken: TakenProbes;
}

async function enterAll(
  open: readonly Circuit[],
  { request, leaseMs, taken }: Entering,
  { store, now }: CircuitsDeps,
): Promise<CircuitDecision> {
  const { task } = request;
  const closedLongest = (a: Circuit, b: Circuit) => closedTo(b, request) - closedTo(a, request);
  // Start with the circuit that stays open the longest. Otherwise, the request could take one circuit's probe and then
  // be rejected by another, blocking other requests for nothing.
  for (const circuit of open.toSorted(closedLongest)) {
    const suspect = isSuspect(circuit, task);
    // One account's failures must not block other accounts, not even during a probe.
    if (isOtherAccount(circuit, request) && !suspect) continue;
    const { id } = circuit;
    const until = closedTo(circuit, request);
    const probe = { task, isSuspect: suspect, isConcerned: isConcerned(circuit, request), leaseMs };
    if (until <= now() && (await store.takeProbe(id, probe))) {
      taken.push(() => store.giveBackProbe(id, task));
      continue;
    }
    const retryAfterMs = Math.max(until - now(), probeElsewhereMs);
    return { open: true, retryAfterMs, detail: causeOf(circuit), isTried: until <= now() };
  }
  return { open: false };
}

function readCircuits({ store, now, onChange, onError }: CircuitsDeps) {
  const known = createSnapshot<Circuit>({
    list: () => store.list(),
    period: periods.circuits,
    onError,
  });
  const stored = (target: CircuitTarget): Circuit[] =>
    idsOf(target).flatMap((id) => {
      const circuit = known.find(id);
      return circuit?.state === 'open' ? [circuit] : [];
    });
  return {
    known,
    openCircuits: (target: CircuitTarget): Circuit[] =>
      stored(target).map((circuit) => (isFarAhead(circuit, now()) ? dueAtOnce(circuit) : circuit)),
    makeDue: async (target: CircuitTarget): Promise<void> => {
      for (const circuit of stored(target)) {
        if (!isFarAhead(circuit, now())) continue;
        await store.makeDue(circuit);
        known.put(dueAtOnce(circuit));
      }
    },
    change: async (id: string, record: CircuitRecord): Promise<void> => {
      const before = known.find(id)?.state ?? 'closed';
      known.put({ ...record, id });
      await store.write(id, record);
      known.put({ ...record, id });
      if (record.state !== before) onChange(id, record);
    },
  };
}

/** A credential has its own circuit, and one for each of its models. */
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

function createStreaks() {
  const counts = new Map<string, Partial<Record<HealthSign, Streak>>>();
  return {
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
