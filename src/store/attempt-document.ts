import { defined } from '../domain/defined.ts';
import type { Failure } from '../domain/failure.ts';
import type { Operation } from '../providers/provider.ts';
import type { Attempt, AttemptState } from './attempts.ts';

/** An attempt as stored. */
export interface AttemptDocument {
  /** `<task>:<n>` */
  readonly _id: string;
  readonly task: string;
  readonly n: number;
  readonly state: AttemptState;
  readonly channel: string;
  readonly credential: string;
  readonly marker: string;
  readonly owner?: string;
  readonly started_at: number;
  readonly ended_at?: number;
  readonly operation?: Operation;
  readonly upstream_id?: string;
  /** `<channel>/<upstream id>`. Unique: no upstream job belongs to two attempts. */
  readonly job?: string;
  readonly stray?: Operation;
  readonly adopted?: true;
  readonly code?: string;
  readonly message?: string;
  readonly failure?: Failure;
}

export function toAttempt(document: AttemptDocument): Attempt {
  const { task, n, state, channel, credential, marker, owner } = document;
  const { operation, stray, adopted, code, message, failure } = document;
  return {
    task,
    n,
    state,
    channel,
    credential,
    marker,
    startedAt: document.started_at,
    ...defined({
      owner,
      endedAt: document.ended_at,
      operation,
      upstreamId: document.upstream_id,
      stray,
      adopted,
      code,
      message,
      failure,
    }),
  };
}
