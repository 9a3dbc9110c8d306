import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonical-json.ts';
import type { ConfigChange } from '../base/config-change.ts';
import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import { randomBase62, type RandomBytes } from '../base/ids.ts';
import { racePoint } from '../base/race-point.ts';
import type { Logger } from '../observability/log.ts';
import type { AuditEntry, AuditStore } from '../store/audit.ts';
import { sortKey } from '../store/task-document.ts';

interface ActKey {
  readonly id: string;
  readonly at: number;
  /** If the gateway chose the id, the id alone identifies the action. */
  readonly isOurs?: boolean;
}

export interface OperatorAct extends Omit<
  AuditEntry,
  'id' | 'at' | 'what' | 'outcome' | 'result' | 'changes' | 'endedAt' | 'items'
> {
  /**
   * Identifies an action that may be repeated. `at` is the time of the first request. If undefined, every call is a
   * separate action.
   */
  readonly key?: ActKey;
  readonly bulk?: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * The entry is written before the action, and its outcome afterwards. If the entry cannot be written, the action is not
 * performed. If the process dies in between, the entry has no outcome.
 */
export interface AuditLog {
  /** Returns or throws whatever `run` does. `refusal` returns the reason if the answer is a rejection. */
  keep<Answer>(
    act: OperatorAct,
    run: (note: NoteChanges) => Promise<Answer>,
    refusal?: (answer: Answer) => string | undefined,
  ): Promise<Answer>;
}

export type NoteChanges = (changes: readonly ConfigChange[]) => void;

export interface AuditLogDeps {
  readonly audit: Pick<AuditStore, 'begin' | 'end' | 'beginItem' | 'endItem'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

type Ended = Pick<AuditEntry, 'outcome' | 'result' | 'changes'>;

const changesMax = 50;

interface Begun {
  readonly id: string;
  readonly item?: string;
}

const bulkFull = 'One `bulk` can group at most 1,000 actions. Use another `bulk` for the rest.';

export function createAuditLog({ audit, log, now, randomBytes }: AuditLogDeps): AuditLog {
  /** Never throws, because the action has already been performed. */
  async function end({ id, item }: Begun, { changes, ...ended }: Ended): Promise<void> {
    const written = { ...ended, endedAt: now() };
    try {
      await (item === undefined
        ? audit.end(id, { ...written, ...defined({ changes }) })
        : audit.endItem(id, item, written));
    } catch (err) {
      log.warn({ detail: id, err }, 'the outcome of an operator’s action could not be recorded');
    }
  }

  async function begin({ key, input, bulk, ...facts }: OperatorAct): Promise<Begun> {
    const what = wordsOf(input);
    const { id: name, at } =
      key === undefined
        ? { id: randomBase62(12, randomBytes), at: now() }
        : { id: nameOf({ ...facts, what }, key), at: key.at };
    const id = sortKey(at, name);
    const { task, target: _target, ...shared } = facts;
    if (bulk === undefined || task === undefined) {
      const entry = key === undefined ? id : name;
      await audit.begin({ ...facts, id, at, what, outcome: 'begun' }, entry);
      return { id: entry };
    }
    const entry = await audit.beginItem({ ...shared, id, at, what, bulk }, { key: name, task, at });
    if (entry === undefined) throw new GatewayError('invalid_parameter', bulkFull, { param: 'bulk' });
    return { id: entry, item: name };
  }

  return {
    async keep(act, run, refusal) {
      const begun = await begin(act);
      const changes: ConfigChange[] = [];
      const note: NoteChanges = (noted) => changes.push(...noted.slice(0, changesMax - changes.length));
      const { by: actor, action, reason, task, target } = act;
      log.info({ actor, action, reason, detail: target, ...defined({ task }) }, 'an operator acts');
      try {
        const answer = await run(note);
        await racePoint('audit.acted', target);
        const refused = refusal?.(answer);
        await end(
          begun,
          refused === undefined
            ? { outcome: 'done', ...(changes.length === 0 ? {} : { changes }) }
            : { outcome: 'refused', result: refused },
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

/**
 * Users of Temporal's tools choose their own ids and may reuse one. For such an id, the name therefore covers all facts
 * of the action.
 */
function nameOf(
  { target, by, action, reason, what }: Pick<AuditEntry, 'target' | 'by' | 'action' | 'reason' | 'what'>,
  { id, isOurs = false }: ActKey,
): string {
  const parts = isOurs ? [target, id, action] : [target, id, by, action, reason, what];
  return createHash('sha256').update(canonicalJson(parts)).digest('base64url');
}

const whatCharactersMax = 2_000;

/** Removes the queries and fragments of URLs, because they may grant access. */
function wordsOf(input: OperatorAct['input']): string {
  const text = JSON.stringify(input, (_, value: unknown) => {
    return typeof value === 'string' && /^https?:/.test(value) ? value.replace(/[?#].*$/s, '') : value;
  });
  return text.slice(0, whatCharactersMax);
}
