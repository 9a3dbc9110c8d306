/**
 * A fault has the grammar `[stage:]name[=argument][*times]` everywhere: in a prompt (`[sim:poll:500*3]`), in a model's
 * suffix (`model+poll:500*3`), in the header `x-simulate` (comma-separated) and on the control endpoint.
 */
export interface Fault {
  readonly stage: Stage;
  readonly name: string;
  readonly argument?: string;
  readonly times?: number;
  readonly source: string;
}

/** The exchange that a fault disrupts. Faults with the stage `task` or `callback` belong to the task itself. */
export type Stage = 'create' | 'poll' | 'list' | 'delete' | 'media' | 'task' | 'callback';

export const transportFaults = [
  'slow', '429', '429-date', 'quota', '401', '403', '404', '500', '502', '503', '504', 'timeout', 'reset',
  'redirect', 'moderation', 'accepted-then-silent', 'accepted-500', 'accepted-502', 'accepted-504', 'malformed',
  'empty', 'html', 'huge-body', 'slow-loris', 'gzip', 'sdk-shape', 'no-content',
] as const; // prettier-ignore

export const taskFaults = [
  'render', 'queue', 'ratio', 'duration', 'input-seconds', 'never-finishes', 'never-starts', 'backwards',
  'unknown-status', 'failed', 'moderation-in-task', 'missing-usage', 'usage-above', 'missing-url', 'url-403',
  'vanishes', 'item-error', 'item-moderation', 'bytes', 'docs-shape', 'legacy-url', 'ark-shape', 'content-redirect', 'proxy-link',
] as const; // prettier-ignore

export const callbackFaults = [
  'callback-early',
  'callback-twice',
  'callback-never',
  'callback-failing',
] as const;

const stages: readonly Stage[] = ['create', 'poll', 'list', 'delete', 'media'];
const transportNames = new Set<string>(transportFaults);
const taskNames = new Set<string>(taskFaults);
const callbackNames = new Set<string>(callbackFaults);

export class UnknownFault extends Error {}

const markerPattern = /\[sim:([^\]]+)\]/g;
const faultPattern = /^(?:([a-z]+):)?([a-z0-9-]+)(?:=([^*]*))?(?:\*(\d+))?$/;

/** @throws {UnknownFault} If the fault is unknown, because a misspelt one would otherwise pass as "no fault". */
export function parseFault(source: string): Fault {
  const match = faultPattern.exec(source.trim());
  const name = match?.[2] ?? '';
  const stage = stageOf(match?.[1], name);
  if (match === null || stage === undefined) throw new UnknownFault(`Unknown fault: ${source}`);
  const [, , , argument, times] = match;
  return {
    stage,
    name,
    source: source.trim(),
    ...(argument === undefined ? {} : { argument }),
    ...(times === undefined ? {} : { times: Number(times) }),
  };
}

function stageOf(prefix: string | undefined, name: string): Stage | undefined {
  if (prefix !== undefined)
    return transportNames.has(name) ? stages.find((stage) => stage === prefix) : undefined;
  if (transportNames.has(name)) return 'create';
  if (taskNames.has(name)) return 'task';
  return callbackNames.has(name) ? 'callback' : undefined;
}

export function faultsInText(text: string): Fault[] {
  if (!text.includes('[sim:')) return [];
  return Array.from(text.matchAll(markerPattern), (match) => parseFault(match[1] ?? ''));
}

export function splitModel(model: string): { model: string; faults: Fault[] } {
  const [name = '', ...suffixes] = model.split('+');
  return { model: name, faults: suffixes.map(parseFault) };
}

const usageAboveDefault = 1.5;

export class FaultSet {
  readonly all: readonly Fault[];

  constructor(all: readonly Fault[]) {
    this.all = all;
  }

  static of(sources: readonly string[] | undefined): FaultSet {
    return sources === undefined ? noFaults : new FaultSet(sources.map(parseFault));
  }

  find(name: string): Fault | undefined {
    return this.all.find((fault) => fault.name === name);
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  text(name: string): string | undefined {
    return this.find(name)?.argument;
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined || text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
  }

  usageFactor(): number {
    return this.has('usage-above') ? (this.number('usage-above') ?? usageAboveDefault) : 1;
  }

  /**
   * Returns the faults in the form in which they are stored with a task. Undefined rather than empty, because most
   * tasks have no faults.
   */
  sources(): readonly string[] | undefined {
    return this.all.length === 0 ? undefined : this.all.map((fault) => fault.source);
  }
}

export const noFaults = new FaultSet([]);
