import { defined } from '../base/defined.ts';
import { createAnchorCheck, type AnchoredHead, type SeenHead } from './anchored-heads.ts';
import type { EntryDocument } from './entry.ts';
import { compareOutside, type OutsideHeads } from './outside-heads.ts';
import { closedTask, createAccountCheck, refundedTask } from './verify-account.ts';
import type { ClosedTask, RefundedTask, Report, Violation } from './verify-account.ts';
import { createChargeCheck } from './verify-charge.ts';
import { createVerifyContext } from './verify-context.ts';
import type { Holder, VerifyContext, VerifyOptions } from './verify-context.ts';
import { checkRefunds, checkWhatIsOpen } from './verify-entries.ts';
import { createChunks, eachOfSome } from './verify-reading.ts';
import { checkClosedTasks, checkRecords } from './verify-tasks.ts';

export type { Holder, VerifyOptions, VerifyProgress } from './verify-context.ts';

export interface VerifyResult {
  readonly openHolds: Readonly<Record<Holder, number>>;
  readonly accounts: number;
  readonly entries: number;
  readonly violations: readonly Violation[];
  readonly violationCount: number;
  readonly outside?: OutsideHeads;
}

const violationsMax = 1_000;
/** While one account waits for MongoDB, the entries of another are hashed. */
const accountsAtOnce = 4;
const entriesBetweenReports = 500;

/**
 * Reads the whole ledger and every task record. Can run while money moves, because differences between two collections
 * are read again before they are reported.
 */
export async function verifyLedger(options: VerifyOptions): Promise<VerifyResult> {
  const violations: Violation[] = [];
  let violationCount = 0;
  const report: Report = (violation) => {
    violationCount += 1;
    if (violations.length < violationsMax) violations.push(violation);
  };
  const context = createVerifyContext(options, report);
  const anchored = createChunks((chunk: AnchoredHead[]) => checkAnchoredAccounts(context, chunk));
  for await (const head of context.anchors.newest()) await anchored.add(head);
  await anchored.end();
  const counts = { accounts: 0, entries: 0 };
  const onEntry = (): void => {
    counts.entries += 1;
    if (counts.entries % entriesBetweenReports === 0) options.onProgress?.({ ...counts });
  };
  const sound = createChunks(async (heads: SeenHead[]) => {
    if (options.anchorsHeads === true) await context.anchors.anchor(heads);
  });
  const accounts = eachOfSome(context.accounts(), accountsAtOnce, async (account) => {
    counts.accounts += 1;
    const head = await verifyAccount(context, account, onEntry);
    if (head !== undefined) await sound.add(head);
  });
  await Promise.all([accounts, checkRecords(context)]);
  await sound.end();
  const outside = await compareExported(context, options);
  options.signal?.throwIfAborted();
  if (counts.entries > 0 && !(await context.hasKeyIndex())) {
    report({ invariant: 'one_hold_and_one_close', message: 'the unique index on key is missing' });
  }
  options.onProgress?.({ ...counts });
  return {
    openHolds: context.openHolds,
    ...counts,
    violations,
    violationCount,
    ...defined({ outside }),
  };
}

async function compareExported(
  { anchors, now, report }: VerifyContext,
  { openPlace, signal, pace }: VerifyOptions,
): Promise<OutsideHeads | undefined> {
  const place = await openPlace?.();
  if (place === undefined) return undefined;
  try {
    const onFault = (message: string) => report({ invariant: 'ends_at_anchored_head', message });
    return await compareOutside({ anchors, place, now, onFault, signal, pace });
  } finally {
    place.close();
  }
}

async function verifyAccount(
  context: VerifyContext,
  account: string,
  onEntry: () => void,
): Promise<SeenHead | undefined> {
  let isSound = true;
  const report: Report = (violation) => {
    isSound = false;
    context.report(violation);
  };
  const check = createAccountCheck(account, { hash: context.hash, report });
  const closed = createChunks((chunk: ClosedTask[]) => checkClosedTasks(context, chunk));
  const refunded = createChunks((chunk: RefundedTask[]) => checkRefunds(context, chunk));
  const checkCharge = createChargeCheck();
  // Read the anchored heads first. A head that is anchored later would lie beyond the entries read.
  const anchored = await context.anchors.of(account);
  const anchors = createAnchorCheck(anchored, {
    isSigned: context.anchors.isSigned,
    onFault: (message) => report({ invariant: 'ends_at_anchored_head', account, message }),
  });
  for await (const stored of context.entriesOf(account)) {
    onEntry();
    const entry = check.next(stored);
    if (entry.seq === 1n && anchored.length === 0 && isAnchoredSince(entry, context)) {
      const message = 'has no anchored head, although a verification anchored one';
      report({ invariant: 'ends_at_anchored_head', account, message });
    }
    const fault = checkCharge(entry);
    if (fault !== undefined) reportEntry(report, entry, fault);
    anchors.next(check.head());
    const close = closedTask(entry);
    if (close !== undefined) await closed.add(close);
    const refund = refundedTask(entry);
    if (refund !== undefined) await refunded.add(refund);
  }
  anchors.end();
  await closed.end();
  await refunded.end();
  await checkWhatIsOpen(context, account, check);
  const { seq, hash } = check.head();
  return isSound ? { account, seq, hash, at: context.now() } : undefined;
}

/** Two writers' clocks may differ by this much. */
const clocksApartMs = 5 * 60_000;

function isAnchoredSince({ at }: EntryDocument, { lastSoundAt }: VerifyContext): boolean {
  return lastSoundAt !== undefined && at < lastSoundAt - clocksApartMs;
}

function reportEntry(report: Report, { _id: id, account, task }: EntryDocument, fault: string): void {
  report({ invariant: 'charge_is_priced', account, ...defined({ task }), message: `${id}: ${fault}` });
}

/** No other check notices an account whose entries are all gone. */
async function checkAnchoredAccounts(context: VerifyContext, heads: readonly AnchoredHead[]): Promise<void> {
  const begun = await context.accountsWithEntries(heads.map(({ account }) => account));
  for (const { account, seq } of heads) {
    if (begun.has(account)) continue;
    const message = `${account}/${seq} was its head, but the account has no entries`;
    context.report({ invariant: 'ends_at_anchored_head', account, message });
  }
}
