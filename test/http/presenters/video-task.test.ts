import { describe, expect, it } from 'vitest';
import { attentionMessages, attentionReasons } from '../../../src/task/attention.ts';
import { waitMessages, waitReasons } from '../../../src/task/wait.ts';
import { noMediaUrl } from '../../../src/models/stored-media.ts';
import { presentTask, taskSchemas } from '../../../src/http/presenters/video-task.ts';
import type { Task } from '../../../src/task/record.ts';
import { firstRecord } from '../../support/task-records.ts';

describe('presentTask', () => {
  const task: Task = firstRecord('task_1', {
    kind: 'image',
    state: { at: 'ended' },
    status: 'succeeded',
    createdAt: 1_999,
    updatedAt: 2_000,
    completedAt: 2_001,
    deadlineAt: 3_000,
  });

  it('an image task', () => {
    const outcome = {
      kind: 'succeeded',
      items: [{ base64: 'AA==' }, { url: 'https://x' }],
      facts: {},
    } as const;
    expect(presentTask({ ...task, outcome }, noMediaUrl)).toEqual({
      id: 'task_1',
      task_id: 'task_1',
      object: 'image.generation.task',
      status: 'succeeded',
      message: 'The task succeeded.',
      trace_id: '',
      model: 'm',
      created_at: 1,
      updated_at: 2,
      completed_at: 2,
      progress: 100,
      data: [{ b64_json: 'AA==' }, { url: 'https://x' }],
      usage: { completion_tokens: 0, total_tokens: 0 },
      charge: '0.000000',
    });
  });

  it('a single count of tokens is shown as both', () => {
    const outcome = { kind: 'succeeded', items: [], facts: { usage: { totalTokens: 7 } } } as const;
    expect(presentTask({ ...task, kind: 'video', outcome }, noMediaUrl)).toMatchObject({
      usage: { completion_tokens: 7, total_tokens: 7 },
    });
  });

  it('a video that succeeded is complete, whatever its upstream has reported', () => {
    const outcome = { kind: 'succeeded', items: [{ url: 'https://x' }], facts: {} } as const;
    const video = { ...task, kind: 'video', outcome, charge: 5n, progress: 76, seconds: 8 } as const;
    expect(presentTask(video, noMediaUrl)).toMatchObject({
      progress: 100,
      data: [{ url: 'https://x' }],
      video_url: 'https://x',
      duration: 8,
      usage: { completion_tokens: 0, total_tokens: 0 },
      charge: '0.000005',
    });
    const reported = { ...outcome, facts: { durationSeconds: 5 } };
    expect(presentTask({ ...video, outcome: reported }, noMediaUrl)).toMatchObject({ duration: 5 });
  });

  it.each(['succeeded', 'failed', 'running'] as const)('every field of the document: %s', (status) => {
    for (const kind of ['video', 'image'] as const) {
      const presented = presentTask({ ...task, kind, status }, noMediaUrl);
      expect(taskSchemas[kind].parse(presented)).toEqual(presented);
    }
  });

  it('shows the estimate before the end, and the charge after it', () => {
    const money = { estimate: 762_300n, charge: 700_000n };
    expect(presentTask({ ...task, ...money, status: 'running' }, noMediaUrl)).toMatchObject({
      estimate: '0.762300',
    });
    const ended = presentTask({ ...task, ...money, status: 'succeeded' }, noMediaUrl);
    expect(ended).toMatchObject({ charge: '0.700000' });
    expect(ended).not.toHaveProperty('estimate');
    const failed = presentTask({ ...task, ...money, status: 'failed' }, noMediaUrl);
    expect(failed).not.toHaveProperty('estimate');
    expect(failed).not.toHaveProperty('charge');
  });

  it.each(attentionReasons)(
    'a task that waits for an operator shows that (%s), whatever it waited for before',
    (attention) => {
      const wait = { cause: 'slot', since: 0 } as const;
      const waiting = { ...task, status: 'pending', wait, attention } as const;
      expect(presentTask(waiting, noMediaUrl).message).toBe(attentionMessages[attention]);
    },
  );

  it.each([...waitReasons, 'worker'] as const)(
    'a task that waits shows for what (%s), since when and until when, until it has ended',
    (cause) => {
      const wait = { cause, since: 1_000, until: 61_000, ahead: 3, channel: 'secret', code: 'secret' };
      expect(presentTask({ ...task, status: 'pending', wait }, noMediaUrl).message).toBe(
        `${waitMessages[cause]} 3 tasks were ahead of it. Since 1970-01-01T00:00:01Z. The next attempt begins after 1970-01-01T00:01:01Z.`,
      );
      expect(presentTask({ ...task, status: 'succeeded', wait }, noMediaUrl).message).toBe(
        'The task succeeded.',
      );
    },
  );

  it('a task that no worker has taken shows that, and since when', () => {
    const state = { at: 'creating', tryId: '1', round: 1, left: [], full: [] } as const;
    const untouched = { ...task, status: 'pending', state, stateSince: 60_000 } as const;
    expect(presentTask(untouched, noMediaUrl).message).toBe(
      `${waitMessages.worker} Since 1970-01-01T00:01:00Z.`,
    );
  });

  it('a failure always has an error', () => {
    expect(presentTask({ ...task, status: 'failed' }, noMediaUrl)).toMatchObject({
      error: { code: 'internal_error', message: 'The task failed.' },
    });
  });
});
