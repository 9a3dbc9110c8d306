import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import { randomBase62 } from '../base/ids.ts';
import type { RandomBytes } from '../base/ids.ts';
import { racePoint } from '../base/race-point.ts';
import type { Logger } from '../observability/log.ts';
import type { AuditEntry, AuditStore } from '../store/audit.ts';
import { sortKey } from '../store/task-document.ts';

/** What an operator is about to do. */
export interface OperatorAct extends Omit<
  AuditEntry,
  'id' | 'at' | 'what' | 'outcome' | 'result' | 'endedAt'
> {
  /** Of an act that may be repeated: its own name and time. Absent: it is one of its own. */
  readonly key?: { readonly id: string; readonly at: number };
  /** What was asked for, without the reason. */
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Keeps each act of an operator. The entry is written before the act, which does not happen without it, and its outcome
 * after: a process that dies in between leaves an entry that says so, and no act without one.
 */
export interface AuditLog {
  /** Answers and throws what `run` does. `refusal`: why an answer is none. */
  keep<Answer>(
    act: OperatorAct,
    run: () => Promise<Answer>,
    refusal?: (answer: Answer) => string | undefined,
  ): Promise<Answer>;
}

export interface AuditLogDeps {
  readonly audit: Pick<AuditStore, 'begin' | 'end'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

type Ended = Pick<AuditEntry, 'outcome' | 'result'>;

export function createAuditLog({ audit, log, now, randomBytes }: AuditLogDeps): AuditLog {
  /** Never throws: what was done is not undone. */
  async function end(id: string, ended: Ended): Promise<void> {
    try {
      await audit.end(id, { ...ended, endedAt: now() });
    } catch (err) {
      log.warn({ detail: id, err }, 'could not write what came of an operator’s act');
    }
  }

  return {
    async keep(act, run, refusal) {
      const { key = { id: randomBase62(12, randomBytes), at: now() }, input, ...facts } = act;
      const id = sortKey(key.at, key.id);
      await audit.begin({ ...facts, id, at: key.at, what: wordsOf(input), outcome: 'begun' });
      const { by: actor, action, reason, task } = facts;
      log.info({ actor, action, reason, detail: facts.target, ...defined({ task }) }, 'an operator acts');
      try {
        const answer = await run();
        await racePoint('audit.acted', facts.target);
        const refused = refusal?.(answer);
        await end(id, refused === undefined ? { outcome: 'done' } : { outcome: 'refused', result: refused });
        return answer;
      } catch (error) {
        await end(id, endOf(error));
        throw error;
      }
    },
  };
}

function endOf(error: unknown): Ended {
  const isRefusal = error instanceof GatewayError && error.status < 500;
  if (isRefusal) return { outcome: 'refused', result: error.message };
  return { outcome: 'failed', result: error instanceof Error ? error.message : 'unknown' };
}

const whatCharactersMax = 2_000;

/** Links without what opens them. */
function wordsOf(input: OperatorAct['input']): string {
  const text = JSON.stringify(input, (_, value: unknown) => {
    return typeof value === 'string' && /^https?:/.test(value) ? value.replace(/[?#].*$/s, '') : value;
  });
  return text.slice(0, whatCharactersMax);
}
