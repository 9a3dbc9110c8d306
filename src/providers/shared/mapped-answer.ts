import { defined } from '../../base/defined.ts';
import type { Cost } from '../../money/cost.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { FieldMapping } from '../../models/field-mapping.ts';
import { optionalText, reportedNumber } from './http-outcome.ts';
import { tokenUsage } from './job-status.ts';
import { costOfUnits } from './vendor-cost.ts';

const linksMax = 100;
const depthMax = 5;

export function mappedLinks(answer: unknown, { result }: Pick<FieldMapping, 'result'>): string[] {
  return valuesAt(answer, result)
    .flatMap((value) => addressesIn(value, depthMax))
    .slice(0, linksMax);
}

export function mappedFacts(answer: unknown, { facts }: Pick<FieldMapping, 'facts'>): SettleFacts {
  const text = (path: string | undefined) => textOf(firstAt(answer, path));
  const reported = (path: string | undefined) => reportedOf(firstAt(answer, path));
  const completionTokens = reported(facts.completion_tokens);
  const totalTokens = reported(facts.total_tokens);
  return defined({
    durationSeconds: reported(facts.duration),
    resolution: text(facts.resolution),
    ratio: text(facts.ratio),
    size: text(facts.size),
    quality: text(facts.quality),
    usage: tokenUsage(completionTokens, totalTokens),
  });
}

export function mappedCost(
  answer: unknown,
  { cost }: Pick<FieldMapping, 'cost'>,
  usual?: string,
): Cost | undefined {
  if (cost === undefined) return undefined;
  const reported = cost.units === undefined ? usual : firstAt(answer, cost.units);
  return costOfUnits(reported, cost.price, cost.unit);
}

/**
 * Reads a path such as `images[].url`. Lists along the path are flattened, with or without `[]`. A number selects one
 * item.
 */
export function valuesAt(value: unknown, path: string): unknown[] {
  return path.split('.').reduce<unknown[]>(
    (values, part) => {
      const key = part.replace(/\[\]$/, '');
      return values.flatMap((each) => {
        const isIndex = Array.isArray(each) && /^\d+$/.test(key);
        const holders: readonly unknown[] = Array.isArray(each) && !isIndex ? each : [each];
        return holders.flatMap((holder) => {
          const found: unknown =
            isObject(holder) && Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
          return found === undefined || found === null ? [] : [found];
        });
      });
    },
    [value],
  );
}

function firstAt(value: unknown, path: string | undefined): unknown {
  return path === undefined ? undefined : valuesAt(value, path).flat()[0];
}

function addressesIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return /^https?:\/\//.test(value) && URL.canParse(value) ? [value] : [];
  if (!isObject(value) || depth === 0) return [];
  return Object.values(value).flatMap((each: unknown) => addressesIn(each, depth - 1));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string | undefined {
  return optionalText.parse(typeof value === 'number' ? String(value) : value);
}

function reportedOf(value: unknown): number | undefined {
  const number = reportedNumber.parse(value);
  return number === 0 ? undefined : number;
}
