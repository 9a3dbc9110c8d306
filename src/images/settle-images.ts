import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../base/defined.ts';
import type { ChargeBook } from '../capacity/charge-book.ts';
import { chargeShape } from '../money/charge-shape.ts';
import { chargeImages } from '../money/charge.ts';
import { needsReview } from '../money/price.ts';
import type { Settlement } from '../money/settle.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { SettledFacts } from '../money/settled-facts.ts';
import type { UpstreamCost } from '../task/cost.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Logger } from '../observability/log.ts';
import type { RoutePlan } from '../routing/catalogue.ts';
import type { Delivery } from './call-channel.ts';
import type { WatchedImage } from './leases/image-leases.ts';

export interface SettleDeps {
  readonly ledger: Pick<Ledger, 'settle'>;
  readonly log: Logger;
  /** What was charged, in micro-units, and what it cost. */
  readonly countMargin: (charge: bigint, upstream: UpstreamCost) => void;
  readonly charges: Pick<ChargeBook, 'note'>;
}

/** An image whose hold is open. */
export interface Settling {
  readonly command: {
    readonly image: string;
    readonly account: string;
    readonly plan: Pick<RoutePlan, 'basis' | 'hold' | 'model'>;
  };
  readonly deps: SettleDeps;
  readonly hold: LedgerEntry;
}

export interface Delivered {
  readonly kind: 'delivered';
  readonly delivery: Delivery;
  readonly candidate: RouteCandidate;
  readonly upstream: UpstreamCost;
}

export interface ImageBill {
  readonly settlement: Settlement & SettledFacts;
  readonly upstream: UpstreamCost;
}

export function billFor(
  { delivery, candidate, upstream }: Delivered,
  { plan: { basis, hold: held } }: Settling['command'],
): ImageBill {
  const input = { basis, channel: candidate.channel, facts: delivery.facts, held };
  // Who waits for images cannot wait for a person.
  const settlement = chargeImages(input, ({ amount }) => !needsReview(basis.price, { held, amount }));
  const said = { reported: input.facts, ...defined({ cost: delivery.cost }) };
  return { settlement: { ...settlement, ...said }, upstream };
}

/** After these the caller gets its images, and the charge follows. */
const settleDelaysMs = [100, 400, 1_500];
const settleEveryMs = 5_000;
const settleForMs = 15 * 60_000;

export interface Settled {
  /** `promised`: the charge is about to be written. */
  readonly fate: 'closed' | 'promised';
  /** Micro-units; nothing where the hold was released before. */
  readonly charge: bigint;
}

/**
 * Charges what arrived. While the ledger is away the caller is not kept waiting for long: paid images are delivered,
 * and the charge is retried in the background.
 */
export async function settleOrPromise(
  bill: ImageBill,
  watched: WatchedImage,
  settling: Settling,
): Promise<Settled> {
  const { command, deps } = settling;
  const trySettle = () => settleOnce(bill, settling);
  for (const delayMs of [...settleDelaysMs, 0]) {
    const charge = await trySettle();
    if (charge !== undefined) return { fate: 'closed', charge };
    await sleep(delayMs);
  }
  const { settlement, upstream } = bill;
  const owed = { charge: settlement.amount, basis: writeBasis(settlement), upstream };
  void (async () => {
    for (let waitedMs = 0; waitedMs < settleForMs; waitedMs += settleEveryMs) {
      await watched.owe(owed).catch(() => undefined);
      if ((await trySettle()) !== undefined) {
        watched.end();
        return;
      }
      await sleep(settleEveryMs, undefined, { ref: false });
    }
    deps.log.error({ task: command.image }, 'delivered images could not be charged');
    watched.abandon(command.account);
  })();
  return { fate: 'promised', charge: settlement.amount };
}

/** What the ledger has charged; undefined: it is away. */
async function settleOnce(
  { settlement, upstream }: ImageBill,
  { command, deps, hold }: Settling,
): Promise<bigint | undefined> {
  const { image: task, account, plan } = command;
  const { amount } = settlement;
  try {
    const result = await deps.ledger.settle({
      account,
      task,
      held: plan.hold,
      hold,
      amount,
      basis: writeBasis(settlement),
      upstream,
      ...(settlement.estimated
        ? { note: 'estimated: the upstream reported no usage that can be charged' }
        : {}),
    });
    if (result.closed === 'settled') {
      deps.countMargin(amount, upstream);
      if (!result.replayed) deps.charges.note(chargeShape(plan.model.id, plan.basis), amount);
    } else {
      deps.log.error({ task, account }, 'delivered images were released before they could be charged');
    }
    return result.closed === 'no_hold' ? 0n : result.charged;
  } catch (err) {
    deps.log.error({ task, err }, 'a charge could not be written; it will be retried');
    return undefined;
  }
}

/** The amount stands in the entry itself. */
function writeBasis({ amount: _amount, ...how }: ImageBill['settlement']): string {
  return JSON.stringify(how);
}
