import { verifyLedger } from '../ledger/verify.ts';
import type { Holder, VerifyOptions, VerifyResult } from '../ledger/verify.ts';
import type { ImageLeaseStore } from '../store/image-leases.ts';

export interface LedgerVerification {
  readonly db: VerifyOptions['db'];
  readonly workflows: { readonly isRunning: (task: string) => Promise<boolean> };
  readonly leases: Pick<ImageLeaseStore, 'existing'>;
  readonly onProgress: (line: string) => void;
}

/** How many open holds Temporal is asked about at a time. */
const questionsAtOnce = 20;
const progressEntries = 50_000;

/** Runs the verification with what knows which tasks are still handled: workflows, and leases of images. */
export function runLedgerVerification({
  db,
  workflows,
  leases,
  onProgress,
}: LedgerVerification): Promise<VerifyResult> {
  let reported = 0;
  return verifyLedger({
    db,
    holders: async (tasks) => {
      const leased = await leases.existing(tasks);
      const live = new Map<string, Holder>([...leased].map((task) => [task, 'lease']));
      const left = tasks.filter((task) => !live.has(task));
      const ask = async (): Promise<void> => {
        for (let task = left.pop(); task !== undefined; task = left.pop()) {
          if (await workflows.isRunning(task)) live.set(task, 'workflow');
        }
      };
      await Promise.all(Array.from({ length: questionsAtOnce }, ask));
      return live;
    },
    onProgress: ({ accounts, entries }) => {
      if (entries - reported < progressEntries) return;
      reported = entries;
      onProgress(`${accounts} accounts, ${entries} entries…`);
    },
  });
}
