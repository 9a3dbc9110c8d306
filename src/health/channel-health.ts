import { defined } from '../base/defined.ts';
import { historyMs, placeOf, relapseMs } from './circuit-rules.ts';
import type { BadSign, Circuit, CircuitEvidence, CircuitOpening } from './circuit-rules.ts';
import { channelWords, wordsOfPart, type HealthState, type Processes } from './health-words.ts';

export interface ChannelHealth {
  readonly channel: string;
  readonly state: HealthState;
  readonly text: string;
  readonly since?: number;
  readonly until?: number;
  readonly opened: Openings;
  readonly waiting?: WaitingTasks;
  readonly parts: readonly PartHealth[];
}

export interface Openings {
  readonly hour: number;
  readonly day: number;
}

/** Tasks that have not been submitted yet. `oldest` is when the longest wait began. */
export interface WaitingTasks {
  readonly tasks: number;
  readonly oldest?: number;
}

export interface BehindCount {
  readonly channel: string;
  readonly credential: string;
  readonly model: string;
  readonly count: number;
  readonly since: number;
}

export function waitingOf(rows: readonly { readonly count: number; readonly since: number }[]): WaitingTasks {
  const oldest = rows.length === 0 ? undefined : Math.min(...rows.map(({ since }) => since));
  return { tasks: sum(rows.map(({ count }) => count)), ...defined({ oldest }) };
}

export interface PartHealth {
  readonly scope: 'model' | 'credential' | 'host';
  readonly credential: string;
  readonly model?: string;
  readonly state: HealthState;
  readonly text: string;
  readonly since: number;
  readonly until?: number;
  readonly sign: BadSign;
  readonly code: string;
  readonly evidence: readonly CircuitEvidence[];
  /** Undefined if all models of the credential fail. */
  readonly models?: readonly string[];
  readonly failedTasks: readonly string[];
  readonly canClose: boolean;
  readonly by?: string;
  readonly reason?: string;
  readonly opened: Openings;
  readonly openings: readonly CircuitOpening[];
  readonly processes?: Processes;
  readonly waiting?: WaitingTasks;
}

export interface HealthChannel {
  readonly id: string;
  readonly enabled: boolean;
  readonly credentials: readonly { readonly id: string }[];
  readonly models: Readonly<Record<string, unknown>>;
}

export interface HealthNode {
  /** `<kind>/<process>` */
  readonly id: string;
  readonly kind: 'api' | 'worker';
  readonly state: 'running' | 'leaving' | 'gone';
  readonly channels?: readonly string[];
  /** Circuits that are open only in this process, because it cannot reach their upstreams. */
  readonly unreached?: readonly Circuit[];
}

export interface HealthFacts {
  readonly circuits: readonly Circuit[];
  readonly nodes: readonly HealthNode[];
  readonly switchOf: (channel: string) => ChannelSwitch | undefined;
  readonly unserved: (channel: string) => { readonly channel?: string; readonly since?: number } | undefined;
  readonly waitingAt: (channel: string) => WaitingTasks | undefined;
  readonly behind: readonly BehindCount[] | undefined;
  readonly now: number;
}

interface ChannelSwitch {
  readonly enabled: boolean;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
}

const hourMs = 60 * 60_000;
const flapsMin = 3;
/** The sentence names at most this many circuits. `parts` always lists all of them. */
const namedMax = 3;

/** The only function that determines a channel's health and describes it. */
export function healthOf(channel: HealthChannel, facts: HealthFacts): ChannelHealth {
  const parts = partsOf(channel, facts);
  const opened = {
    hour: sum(parts.map((part) => part.opened.hour)),
    day: sum(parts.map((part) => part.opened.day)),
  };
  const verdict = wholeOf(channel, facts) ?? verdictOf(channel, parts);
  const waiting = facts.waitingAt(channel.id);
  return { channel: channel.id, ...verdict, opened, ...defined({ waiting }), parts };
}

export function isNotable({ state, waiting = { tasks: 1 } }: ChannelHealth): boolean {
  return state !== 'serving' && (state !== 'paused' || waiting.tasks > 0);
}

export function partsAgainst(
  { parts }: ChannelHealth,
  { credential, model }: { readonly credential: string; readonly model: string },
): readonly PartHealth[] {
  return parts.filter((part) => isDown(part) && part.credential === credential && covers(part, model));
}

type Verdict = Pick<ChannelHealth, 'state' | 'text' | 'since' | 'until'>;

function wholeOf({ id, enabled }: HealthChannel, facts: HealthFacts): Verdict | undefined {
  if (!enabled) return { state: 'paused', text: channelWords.configuredOff };
  const used = facts.switchOf(id);
  if (used?.enabled === false) {
    return { state: 'paused', text: channelWords.switchedOff(used.by, used.reason), since: used.at };
  }
  const unserved = facts.unserved(id);
  if (unserved === undefined) return undefined;
  const text = unserved.channel === undefined ? channelWords.noWorker : channelWords.unserved;
  return { state: 'ill', text, ...defined({ since: unserved.since }) };
}

function verdictOf(channel: HealthChannel, parts: readonly PartHealth[]): Verdict {
  const down = parts.filter(isDown).toSorted(widestFirst);
  if (down.length > 0) return { state: stateOfAll(channel, down), ...summaryOf(down) };
  const flapping = parts.filter(({ state }) => state === 'flapping');
  if (flapping.length > 0) return { state: 'flapping', ...summaryOf(flapping) };
  const closed = parts.map(({ since }) => since);
  const since = closed.length === 0 ? undefined : Math.max(...closed);
  return { state: 'serving', text: channelWords.serving, ...defined({ since }) };
}

function isDown({ state }: PartHealth): boolean {
  return state !== 'serving' && state !== 'flapping';
}

function widestFirst(a: PartHealth, b: PartHealth): number {
  const width = (part: PartHealth) => (part.model === undefined ? 0 : 1);
  return width(a) - width(b) || a.since - b.since;
}

function summaryOf(parts: readonly PartHealth[]): Pick<Verdict, 'text' | 'since' | 'until'> {
  const more = parts.length - namedMax;
  const named = parts.slice(0, namedMax).map(({ text }) => text);
  const text = [...named, ...(more > 0 ? [`${more} more circuits are not closed.`] : [])].join(' ');
  const times = parts.flatMap(({ until }) => until ?? []);
  return {
    text,
    since: Math.min(...parts.map(({ since }) => since)),
    ...(times.length === 0 ? {} : { until: Math.min(...times) }),
  };
}

function stateOfAll({ credentials, models }: HealthChannel, down: readonly PartHealth[]): HealthState {
  const states = credentials.flatMap(({ id }) =>
    Object.keys(models).map((model) => stateOfUse(id, model, down)),
  );
  if (states.some((state) => state === 'serving' || state === 'partly_ill')) return 'partly_ill';
  return (['ill', 'probing'] as const).find((state) => states.includes(state)) ?? 'paused';
}

function stateOfUse(credential: string, model: string, down: readonly PartHealth[]): HealthState {
  const found = down.filter((part) => part.credential === credential && covers(part, model));
  const order = ['paused', 'ill', 'probing', 'partly_ill'] as const;
  return order.find((state) => found.some((part) => part.state === state)) ?? 'serving';
}

function covers({ model, models }: PartHealth, asked: string): boolean {
  return model === undefined ? (models?.includes(asked) ?? true) : model === asked;
}

function partsOf(channel: HealthChannel, facts: HealthFacts): readonly PartHealth[] {
  const { nodes, now, behind } = facts;
  const isOurs = (circuit: Circuit) => isConfigured(circuit, channel);
  const shared = facts.circuits.filter(isOurs).map((circuit) => partOf(circuit, now));
  const running = nodes.filter(({ state }) => state === 'running');
  const seen = processesOf(running).map((reports) => ({
    isServing: reports.some(({ kind, channels }) => kind === 'worker' && channels?.includes(channel.id)),
    unreached: reports.flatMap(({ unreached = [] }) => unreached).filter(isOurs),
  }));
  const ids = [...new Set(seen.flatMap(({ unreached }) => unreached.map(({ id }) => id)))];
  const parts = [...shared, ...ids.map((id) => unreachedPart(id, seen, now))];
  const ours = behind?.filter((row) => row.channel === channel.id);
  return parts.map((part) => ({ ...part, ...defined({ waiting: ours && waitingBehind(part, ours) }) }));
}

function waitingBehind(part: PartHealth, behind: readonly BehindCount[]): WaitingTasks {
  const isBehind = ({ credential, model }: BehindCount) =>
    isDown(part) && credential === part.credential && covers(part, model);
  return waitingOf(behind.filter(isBehind));
}

function isConfigured({ id }: Circuit, { id: channel, credentials, models }: HealthChannel): boolean {
  const { channel: of, credential, model } = placeOf(id);
  if (of !== channel || !credentials.some((one) => one.id === credential)) return false;
  return model === undefined || Object.hasOwn(models, model);
}

function partOf(circuit: Circuit, now: number, processes?: PartHealth['processes']): PartHealth {
  const { id, sign, code, models, evidence = [], failedTasks = [], openings = [], by, reason } = circuit;
  const { credential, model } = placeOf(id);
  const opened = { hour: countSince(openings, now - hourMs), day: countSince(openings, now - historyMs) };
  const known = stateOfCircuit(circuit, now);
  const state = processes !== undefined && processes.ill < processes.of ? 'partly_ill' : known;
  const named = {
    state,
    credential,
    sign,
    code,
    evidence,
    ...defined({ model, models, by, reason, processes }),
  };
  return {
    scope: sign === 'unreachable' ? 'host' : model === undefined ? 'credential' : 'model',
    ...named,
    text: wordsOfPart({ ...named, openedInHour: opened.hour }),
    since: sinceOf(circuit, state, now),
    ...(circuit.state === 'open' && circuit.until > now ? { until: circuit.until } : {}),
    failedTasks,
    canClose: circuit.state === 'open' && sign !== 'unreachable',
    opened,
    openings,
  };
}

function stateOfCircuit({ state, until, by, at, openings = [] }: Circuit, now: number): HealthState {
  if (state === 'closed') {
    const answered = openings.filter((opening) => opening.by === undefined);
    const flaps = countSince(answered, now - hourMs) >= flapsMin && now - at < relapseMs;
    return flaps ? 'flapping' : 'serving';
  }
  if (until <= now) return 'probing';
  return by === undefined ? 'ill' : 'paused';
}

/** For an open circuit, returns the time of its last opening, because a failed probe changes `at`. */
function sinceOf({ at, openings = [] }: Circuit, state: HealthState, now: number): number {
  if (state === 'serving' || state === 'paused') return at;
  if (state === 'flapping') return openings.find((opening) => opening.at > now - hourMs)?.at ?? at;
  return openings.at(-1)?.at ?? at;
}

/** Groups the reports by process, because a process that is both an API and a worker sends two. */
function processesOf(nodes: readonly HealthNode[]): readonly (readonly HealthNode[])[] {
  const processes = new Map<string, HealthNode[]>();
  for (const node of nodes) {
    const name = node.id.slice(node.kind.length + 1);
    processes.set(name, [...(processes.get(name) ?? []), node]);
  }
  return [...processes.values()];
}

interface Seen {
  readonly isServing: boolean;
  readonly unreached: readonly Circuit[];
}

function unreachedPart(id: string, seen: readonly Seen[], now: number): PartHealth {
  const circuits = seen.map(({ isServing, unreached }) => ({
    isServing,
    circuit: unreached.find((one) => one.id === id),
  }));
  const open = circuits.flatMap(({ circuit }) => (circuit?.state === 'open' ? [circuit] : []));
  const all = circuits.flatMap(({ circuit }) => circuit ?? []);
  const [oldest] = (open.length > 0 ? open : all).toSorted((a, b) => firstOpening(a) - firstOpening(b));
  if (oldest === undefined) throw new RangeError(`no process reports ${id}`);
  if (open.length === 0) return partOf(oldest, now);
  const of = circuits.filter(({ isServing, circuit }) => isServing || circuit?.state === 'open').length;
  return partOf({ ...oldest, until: Math.min(...open.map(({ until }) => until)) }, now, {
    ill: open.length,
    of,
  });
}

function firstOpening({ openings = [], at }: Circuit): number {
  return openings.at(-1)?.at ?? at;
}

function countSince(openings: readonly CircuitOpening[], since: number): number {
  return openings.filter(({ at }) => at > since).length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
