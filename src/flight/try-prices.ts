import { defined } from '../base/defined.ts';
import { isUpstreamFailure } from '../task/attempt.ts';
import { chargeTask } from '../money/charge.ts';
import { closedAt, heldBasis, readHoldReckoning, readSettleReckoning } from '../money/ledger-basis.ts';
import type { Micros } from '../money/money.ts';
import { measureWords, reportedQuantity, type Measure } from '../money/measures.ts';
import { measuresOf, multiply, priceAt, type Price, type PriceBasis } from '../money/price.ts';
import { readQuantity } from '../money/reckoning.ts';
import { atMost, isPriced } from '../money/settle.ts';
import { settledReport } from '../money/settled-facts.ts';
import type { SettleFacts } from '../money/settle-facts.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { Task } from '../task/record.ts';
import { chargeLinesAgain } from '../money/charge-again.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import type { SettledImagesAsked } from '../ledger/settled-images.ts';
import { factsSchema, toFacts } from './recorded-call.ts';

/** Prices by model, and by channel for channels that have their own prices. */
export interface OtherPrices {
  readonly models: Readonly<Record<string, Price>>;
  readonly channels: Readonly<Record<string, Readonly<Record<string, Price>>>>;
}

export interface TryPrices {
  readonly prices: OtherPrices;
  /** Unix seconds. Only tasks created at or after this time are included. */
  readonly since: number;
  /** Unix milliseconds. */
  readonly now: number;
  readonly account?: string;
  readonly model?: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly tasks: number }) => void;
}

export interface TryPricesDeps {
  /** Newest first. `after` is the last task of the previous page. */
  readonly list: (
    filter: {
      readonly status: 'succeeded';
      readonly createdAfter: number;
      readonly account?: string;
      readonly model?: string;
    },
    page: { readonly limit: number; readonly after?: Task },
  ) => Promise<{ readonly tasks: readonly Task[]; readonly hasMore: boolean }>;
  readonly settledImages: (asked: SettledImagesAsked) => AsyncIterable<string>;
  readonly entriesOfTask: (task: string) => Promise<readonly LedgerEntry[]>;
}

export interface Sum {
  tasks: number;
  before: Micros;
  after: Micros;
  cost: Micros;
  costUnknown: number;
  unpriced: number;
}

export interface Tried {
  readonly total: Sum;
  readonly byModel: ReadonlyMap<string, Sum>;
  /** The key `undefined` collects all accounts beyond `accountsMax`. */
  readonly byAccount: ReadonlyMap<string | undefined, Sum>;
  readonly unpriced: readonly { readonly task: string; readonly why: string }[];
}

const pageSize = 100;
const accountsMax = 10_000;
const unpricedMax = 20;

/**
 * Computes what successful tasks would have cost at other prices, from the recorded facts of the hold and the
 * upstream's response. Keeps one page in memory at a time and writes nothing.
 */
export async function tryPrices(asked: TryPrices, deps: TryPricesDeps): Promise<Tried> {
  const { since, now, account, model, signal, onProgress } = asked;
  const sums = createSums();
  async function tryAll(page: readonly Promise<TriedTask | undefined>[]): Promise<void> {
    for (const one of await Promise.all(page)) if (one !== undefined) sums.add(one);
    onProgress({ tasks: sums.tried.total.tasks + sums.tried.total.unpriced });
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
  const filter = { status: 'succeeded', createdAfter: since, ...defined({ account, model }) } as const;
  let after: Task | undefined;
  do {
    const page = await deps.list(filter, { limit: pageSize, ...defined({ after }) });
    await tryAll(page.tasks.map((task) => tryTask(task, asked.prices, deps)));
    after = page.hasMore ? page.tasks.at(-1) : undefined;
  } while (after !== undefined);
  let names: string[] = [];
  const tryNames = () => tryAll(names.map((name) => tryImages(name, asked, deps)));
  for await (const name of deps.settledImages({
    from: since * 1000,
    until: now,
    ...defined({ account, model }),
  })) {
    names.push(name);
    if (names.length < pageSize) continue;
    await tryNames();
    names = [];
  }
  if (names.length > 0) await tryNames();
  return sums.tried;
}

interface TriedTask extends Pick<Task, 'id' | 'account' | 'model' | 'cost' | 'costUnknown'> {
  readonly before: Micros;
  readonly result: { readonly after: Micros } | { readonly why: string };
}

async function tryTask(task: Task, prices: OtherPrices, deps: TryPricesDeps): Promise<TriedTask> {
  const entries = await deps.entriesOfTask(task.id);
  const { outcome, charge = 0n } = task;
  const facts = outcome?.kind === 'succeeded' ? outcome.facts : undefined;
  const wasReplaced = task.attempts.some(isUpstreamFailure);
  return tryEntries({ ...task, charge, facts, wasReplaced }, entries, prices);
}

async function tryImages(
  id: string,
  { prices, since }: TryPrices,
  deps: TryPricesDeps,
): Promise<TriedTask | undefined> {
  const entries = await deps.entriesOfTask(id);
  const hold = entries.find(({ kind }) => kind === 'hold');
  const settle = entries.find(({ kind }) => kind === 'settle');
  if (hold === undefined || settle === undefined || hold.at < since * 1000) return undefined;
  const { account, model = '' } = hold;
  const { cost, unknown: costUnknown, channel } = settle.upstream ?? {};
  const reported = factsSchema.safeParse(settledReport(settle.basis)).data;
  const images: Charged = {
    id,
    account,
    model,
    kind: 'image',
    charge: closedAt(settle),
    facts: reported === undefined ? undefined : toFacts(reported),
    wasReplaced: false,
    ...defined({ cost, costUnknown, channel }),
  };
  return tryEntries(images, entries, prices);
}

interface Charged extends Pick<TriedTask, 'id' | 'account' | 'model' | 'cost' | 'costUnknown'> {
  readonly kind: TaskKind;
  readonly channel?: string;
  readonly charge: Micros;
  readonly facts: SettleFacts | undefined;
  /** True if another job replaced a failed one, so that the hold limits the charge. */
  readonly wasReplaced: boolean;
}

function tryEntries(charged: Charged, entries: readonly LedgerEntry[], prices: OtherPrices): TriedTask {
  const { id, account, model, kind, channel = '', facts } = charged;
  const refunded = entries.find((entry) => entry.kind === 'refund')?.amount ?? 0n;
  const isRefunded = refunded > 0n && refunded === charged.charge;
  const earned = (charge: Micros): Micros => (isRefunded || charge < refunded ? 0n : charge - refunded);
  const { cost, costUnknown } = charged;
  const tried = { id, account, model, before: earned(charged.charge), ...defined({ cost, costUnknown }) };
  const why = (text: string): TriedTask => ({ ...tried, result: { why: text } });
  const hold = entries.find((entry) => entry.kind === 'hold');
  const basis = heldBasis(hold?.basis);
  if (hold === undefined || basis === undefined) return why('the facts of its hold are not recorded');
  if (facts === undefined) return why('the facts of its result are not recorded');
  const other = otherBasis(model, basis, prices);
  if (other === undefined) return why(`${model} has no price`);
  const held = holdAgain(other, hold);
  const tokens = tokensOf(entries);
  const input = { basis: other, channel, facts, held, tokensOf: () => tokens };
  const { settlement } = chargeTask(kind, input);
  if (!isPriced(settlement)) {
    const named = measuresOf(priceAt(other, channel)).map(measureWords);
    return why(`no price line covers the recorded facts, in ${named.join(', ')}`);
  }
  const uncounted = measuresOf(priceAt(other, channel)).find((measure) => isUncounted(measure, other, facts));
  if (uncounted !== undefined) return why(`its ${measureWords(uncounted)} are not recorded`);
  const { amount } = charged.wasReplaced ? atMost(settlement, held) : settlement;
  return { ...tried, result: { after: earned(amount) } };
}

/** Input is counted only if the prices at that time charged for it. Other counts are zero unless they were reported. */
const inputBehind: { readonly [M in Measure]?: 'image_input' | 'video_input' } = {
  input_image: 'image_input',
  reference_image: 'image_input',
  input_second: 'video_input',
};

function isUncounted(
  measure: Measure,
  { facts: asked, bounds = {} }: PriceBasis,
  facts: SettleFacts,
): boolean {
  const input = inputBehind[measure];
  const isGiven = input !== undefined && asked[input] === true;
  return isGiven && bounds[measure] === undefined && reportedQuantity(measure, facts) === undefined;
}

/** If the other prices use other quantities, the original hold is kept. */
function holdAgain(other: PriceBasis, { basis, amount }: LedgerEntry): Micros {
  const reckoning = readHoldReckoning(basis);
  if (reckoning === undefined) return amount;
  const price = priceAt(other, reckoning.facts.channel ?? '');
  const multiplier = reckoning.steps.find(({ kind }) => kind === 'multiplier');
  const worst = chargeLinesAgain(price, reckoning)?.amount;
  if (worst === undefined) return amount;
  return multiplier?.kind === 'multiplier' ? multiply(worst, multiplier.multiplier) : worst;
}

function otherBasis(model: string, basis: PriceBasis, prices: OtherPrices): PriceBasis | undefined {
  const price = Object.hasOwn(prices.models, model) ? prices.models[model] : undefined;
  if (price === undefined) return undefined;
  const channels = Object.entries(prices.channels).flatMap(([channel, models]) => {
    const own = Object.hasOwn(models, model) ? models[model] : undefined;
    return own === undefined ? [] : [[channel, own] as const];
  });
  return { ...basis, price, channels: Object.fromEntries(channels) };
}

/** Returns undefined unless the charge was based on the adapter's formula. */
function tokensOf(entries: readonly LedgerEntry[]): bigint | undefined {
  const settled = entries.find(({ kind }) => kind === 'settle');
  const { lines = [] } = readSettleReckoning(settled?.basis) ?? {};
  const derived = lines.find(({ source }) => source === 'formula');
  return readQuantity(derived?.quantity ?? '')?.numerator;
}

function createSums() {
  const total = noSum();
  const byModel = new Map<string, Sum>();
  const byAccount = new Map<string | undefined, Sum>();
  const unpriced: { task: string; why: string }[] = [];
  return {
    tried: { total, byModel, byAccount, unpriced } satisfies Tried,
    add(task: TriedTask): void {
      const { before, result } = task;
      const isKept = byAccount.has(task.account) || byAccount.size < accountsMax;
      const sums = [
        total,
        sumOf(byModel, task.model),
        sumOf<string | undefined>(byAccount, isKept ? task.account : undefined),
      ];
      if ('why' in result && unpriced.length < unpricedMax) unpriced.push({ task: task.id, why: result.why });
      for (const sum of sums) {
        if ('why' in result) sum.unpriced += 1;
        else {
          sum.tasks += 1;
          sum.before += before;
          sum.after += result.after;
          sum.cost += task.cost ?? 0n;
          sum.costUnknown += task.costUnknown ?? 0;
        }
      }
    },
  };
}

function sumOf<Key>(sums: Map<Key, Sum>, key: Key): Sum {
  const sum = sums.get(key) ?? noSum();
  sums.set(key, sum);
  return sum;
}

function noSum(): Sum {
  return { tasks: 0, before: 0n, after: 0n, cost: 0n, costUnknown: 0, unpriced: 0 };
}
