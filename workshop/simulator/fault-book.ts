import { LRUCache } from 'lru-cache';
import { faultsInText, FaultSet, noFaults, parseFault, splitModel, type Fault, type Stage } from './fault.ts';

export interface FaultRule {
  readonly match: {
    readonly dialect?: string | undefined;
    readonly prompt?: string | undefined;
    readonly model?: string | undefined;
    readonly path?: string | undefined;
    readonly method?: string | undefined;
  };
  readonly fault: string;
  readonly times?: number | undefined;
}

export interface Exchange {
  readonly stage: Stage;
  readonly dialect: string;
  readonly method: string;
  readonly path: string;
  readonly header: string | undefined;
  readonly prompt: string;
  readonly model: string;
}

const rulesMax = 1000;
const countersMax = 20_000;
const counterKeyCharacters = 400;

export class FaultBook {
  readonly #rules: { rule: FaultRule; fault: Fault; left: number }[] = [];
  readonly #applied = new LRUCache<string, number>({ max: countersMax });

  add(rule: FaultRule): void {
    if (this.#rules.length >= rulesMax) throw new Error(`At most ${rulesMax} fault rules.`);
    this.#rules.push({ rule, fault: parseFault(rule.fault), left: rule.times ?? Number.POSITIVE_INFINITY });
  }

  list(): readonly (FaultRule & { left: number | null })[] {
    return this.#rules.map(({ rule, left }) => ({ ...rule, left: Number.isFinite(left) ? left : null }));
  }

  clear(): void {
    this.#rules.length = 0;
    this.#applied.clear();
  }

  onCreate(exchange: Exchange, texts: readonly string[]): { model: string; now: FaultSet; task: FaultSet } {
    const split = splitModel(exchange.model);
    const named = [...split.faults, ...inHeader(exchange.header), ...texts.flatMap(faultsInText)];
    const counted = exchange.prompt.slice(0, counterKeyCharacters);
    const now = named.filter((fault) => fault.stage === 'create' && this.#take(fault, counted));
    const task = named.filter((fault) => fault.stage !== 'create');
    for (const fault of this.#byRule({ ...exchange, model: split.model }, ['create', 'task', 'callback'])) {
      (fault.stage === 'create' ? now : task).push(fault);
    }
    return { model: split.model, now: new FaultSet(now), task: new FaultSet(task) };
  }

  onLater(
    exchange: Exchange,
    tasks: readonly { id: string; faults?: readonly string[] | undefined }[],
  ): FaultSet {
    const applied = [
      ...inHeader(exchange.header).filter(({ stage }) => stage === 'create' || stage === exchange.stage),
      ...this.#byRule(exchange, [exchange.stage]),
    ];
    for (const { id, faults } of tasks) {
      if (faults === undefined) continue;
      for (const fault of FaultSet.of(faults).all) {
        const concerned =
          fault.stage === exchange.stage || (fault.stage === 'poll' && exchange.stage === 'list');
        if (concerned && this.#take(fault, id)) applied.push(fault);
      }
    }
    return applied.length === 0 ? noFaults : new FaultSet(applied);
  }

  #byRule(exchange: Exchange, stages: readonly Stage[]): Fault[] {
    const applied: Fault[] = [];
    for (const entry of this.#rules) {
      if (entry.left <= 0 || !stages.includes(entry.fault.stage) || !matches(entry.rule.match, exchange))
        continue;
      entry.left -= 1;
      applied.push(entry.fault);
    }
    return applied;
  }

  #take(fault: Fault, subject: string): boolean {
    if (fault.times === undefined) return true;
    const key = `${fault.source}|${subject}`;
    const applied = this.#applied.get(key) ?? 0;
    if (applied >= fault.times) return false;
    this.#applied.set(key, applied + 1);
    return true;
  }
}

function inHeader(header: string | undefined): Fault[] {
  const parts = (header ?? '').split(',').filter((part) => part.trim() !== '');
  return parts.map(parseFault);
}

function matches({ dialect, method, ...parts }: FaultRule['match'], exchange: Exchange): boolean {
  const { model = '', path = '', prompt = '' } = parts;
  const isNamed = (name: string | undefined, own: string) => name === undefined || name === own;
  if (!isNamed(dialect, exchange.dialect) || !isNamed(method, exchange.method)) return false;
  return exchange.model.includes(model) && exchange.path.includes(path) && exchange.prompt.includes(prompt);
}
