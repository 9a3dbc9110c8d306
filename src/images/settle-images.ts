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
import { logUncharged, type PromisedBill, type PromisedBills } from './promised-bills.ts';

export interface SettleDeps {
  readonly ledger: Pick<Ledger, 'settle'>;
  readonly log: Logger;
  readonly countMargin: (charge: bigint, upstream: UpstreamCost) => void;
  readonly charges: Pick<ChargeBook, 'note'>;
  readonly bills: Pick<PromisedBills, 'promise'>;
}

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
  // The caller is waiting for the images, so there is no time for an operator's review. An amount that would need one
  // is not trusted.
  const settlement = chargeImages(input, ({ amount }) => !needsReview(basis.price, { held, amount }));
  const said = { reported: input.facts, ...defined({ cost: delivery.cost }) };
  return { settlement: { ...settlement, ...said }, upstream };
}

/**
 * Delays between attempts to settle. After the last attempt, the caller gets the images and the charge is written
 * later.
 */
const settleDelaysMs = [100, 400, 1_500];

export interface Settled {
  readonly fate: 'closed' | 'promised';
  /** In micro-units. Zero if the hold had already been released. */
  readonly charge: bigint;
}

/**
 * If the ledger is unavailable, the caller gets the images after a short wait, and the process keeps trying to write
 * the charge in the background.
 */
export async function settleOrPromise(
  bill: ImageBill,
  watched: WatchedImage,
  settling: Settling,
): Promise<Settled> {
  const trySettle = () => settleOnce(bill, settling);
  for (const delayMs of [...settleDelaysMs, 0]) {
    const charge = await trySettle();
    if (charge !== undefined) return { fate: 'closed', charge };
    await sleep(delayMs);
  }
  const { settlement, upstream } = bill;
  const owed = { charge: settlement.amount, basis: writeBasis(settlement), upstream };
  settling.deps.bills.promise(promisedBill(bill, settling), async () => {
    const state = await watched.owe(owed).then(
      () => 'noted' as const,
      () => 'unwritten' as const,
    );
    if ((await trySettle()) === undefined) return state;
    watched.end();
    return 'written';
  });
  return { fate: 'promised', charge: settlement.amount };
}

function promisedBill({ settlement: { amount }, upstream }: ImageBill, { command }: Settling): PromisedBill {
  const { image: task, account, plan } = command;
  return { task, account, amount, model: plan.model.id, channel: upstream.channel };
}

async function settleOnce(bill: ImageBill, settling: Settling): Promise<bigint | undefined> {
  const { settlement, upstream } = bill;
  const { command, deps, hold } = settling;
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
      logUncharged(
        promisedBill(bill, settling),
        'the hold of these images was released before they could be charged',
        deps.log,
      );
    }
    return result.closed === 'no_hold' ? 0n : result.charged;
  } catch (err) {
    deps.log.error({ task, err }, 'a charge could not be written; retrying');
    return undefined;
  }
}

function writeBasis({ amount: _amount, ...how }: ImageBill['settlement']): string {
  return JSON.stringify(how);
}
