import type { ImageLeaseStore } from '../store/image-leases.ts';
import { verifyLedger, type Holder, type VerifyOptions, type VerifyResult } from './verify.ts';

export interface LedgerVerification extends Pick<
  VerifyOptions,
  'db' | 'key' | 'now' | 'lastSoundAt' | 'anchorsHeads' | 'openPlace' | 'onProgress' | 'signal' | 'pace'
> {
  readonly workflows: { readonly isRunning: (task: string) => Promise<boolean> };
  readonly leases: Pick<ImageLeaseStore, 'existing'>;
}

const questionsAtOnce = 20;

/**
 * Runs the verification. Treats an open hold as still in use if the task's workflow is running or an image lease
 * exists.
 */
export function runLedgerVerification({
  workflows,
  leases,
  ...options
}: LedgerVerification): Promise<VerifyResult> {
  return verifyLedger({
    ...options,
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
  });
}
