import { heartbeat } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';

export interface StepsInput {
  /** Two local activities: one before everything else, one after it. */
  readonly locals?: true;
  /** A timer that is cancelled at the end, as a deadline is. */
  readonly timer?: true;
  /** One activity on this task queue; absent: none. */
  readonly queue?: string;
  /** How long the activity takes. */
  readonly seconds?: number;
  /** The activity has a heartbeat timeout. */
  readonly heartbeatTimeout?: true;
  /** The activity sends one heartbeat. */
  readonly heartbeat?: true;
  /** Writes a search attribute before the end. */
  readonly upsert?: true;
}

export type StepsActivities = typeof stepsActivities;

export const stepsActivities = {
  async step(seconds: number, sendsHeartbeat: boolean): Promise<void> {
    if (sendsHeartbeat) heartbeat('here');
    if (seconds > 0) await delay(seconds * 1000);
  },
};
