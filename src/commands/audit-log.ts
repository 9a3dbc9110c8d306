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
  'id' | 'at' | 'what' | 'outcome' | 'result' | 'endedAt' | 'items'
> {
  /** Of an act that may be repeated: its own name and time. Absent: it is one of its own. */
  readonly key?: { readonly id: string; readonly at: number };
  /** Shared by acts of one operator that belong together. They become items of one entry. */
  readonly bulk?: string;
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
  readonly audit: Pick<AuditStore, 'begin' | 'end' | 'beginItem' | 'endItem'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

type Ended = Pick<AuditEntry, 'outcome' | 'result'>;

interface Begun {
  readonly id: string;
  readonly item?: string;
}

const bulkFull = 'A bulk has at most 1,000 acts. Use another `bulk` for the rest.';

export function createAuditLog({ audit, log, now, randomBytes }: AuditLogDeps): AuditLog {
  /** Never throws: what was done is not undone. */
  async function end({ id, item }: Begun, ended: Ended): Promise<void> {
    const written = { ...ended, endedAt: now() };
    try {
      await (item === undefined ? audit.end(id, written) : audit.endItem(id, item, written));
    } catch (err) {
      log.warn({ detail: id, err }, 'could not write what came of an operator’s act');
    }
  }

  async function begin({ key, input, bulk, ...facts }: OperatorAct): Promise<Begun> {
    const { id: name, at } = key ?? { id: randomBase62(12, randomBytes), at: now() };
    const id = sortKey(at, name);
    const what = wordsOf(input);
    const { task, target: _target, ...shared } = facts;
    if (bulk === undefined || task === undefined) {
      await audit.begin({ ...facts, id, at, what, outcome: 'begun' });
      return { id };
    }
    const entry = await audit.beginItem({ ...shared, id, at, what, bulk }, { key: name, task, at });
    if (entry === undefined) throw new GatewayError('invalid_parameter', bulkFull, { param: 'bulk' });
    return { id: entry, item: name };
  }

  return {
    async keep(act, run, refusal) {
      const begun = await begin(act);
      const { by: actor, action, reason, task, target } = act;
      log.info({ actor, action, reason, detail: target, ...defined({ task }) }, 'an operator acts');
      try {
        const answer = await run();
        await racePoint('audit.acted', target);
        const refused = refusal?.(answer);
        await end(
          begun,
          refused === undefined ? { outcome: 'done' } : { outcome: 'refused', result: refused },
        );
        return answer;
      } catch (error) {
        await end(begun, endOf(error));
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
