import type { Task } from '../../../src/task/record.ts';

export interface EndedTask extends Pick<Task, 'id' | 'account' | 'model'> {
  readonly at: number;
  readonly job: string;
  readonly money: Pick<Task, 'hold' | 'charge' | 'cost' | 'costUnknown'>;
}

export function endedTask({ at, job, money, ...named }: EndedTask): Task {
  const candidate = { channel: 'ark', credential: 'a' };
  const attempt = {
    n: 1,
    ...candidate,
    marker: `m-${job}`,
    owner: 'bench',
    startedAt: at,
    endedAt: at + 100,
  };
  return {
    ...named,
    ...money,
    key: 'key',
    kind: 'video',
    plan: { candidates: [candidate] },
    createdAt: at,
    deadlineAt: at + 3_600_000,
    output: '720p/5',
    hasCallback: false,
    rev: 4,
    state: { at: 'ended' },
    stateSince: at + 60_000,
    status: 'succeeded',
    attempts: [{ ...attempt, state: 'accepted', operation: { id: job } }],
    outcome: {
      kind: 'succeeded',
      items: [{ url: 'https://media.example/1.mp4' }],
      facts: { durationSeconds: 5, resolution: '720p' },
      cost: { amount: '0.35', unit: 'USD' },
    },
    updatedAt: at + 60_000,
    completedAt: at + 60_000,
    traceId: '',
  };
}
