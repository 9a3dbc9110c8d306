import { fetch } from 'undici';
import type { Check, Client, Target } from './check.ts';
import { CheckFailed } from './check.ts';

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/** What an answer may cost more than another to the same request: upstreams that bill by tokens vary. */
const sameCostFactor = 1.5;

/** Runs the checks one after the other, with the balance before and after each; `report` gets a line for each. */
export async function runChecks(
  clients: readonly Client[],
  target: Target,
  report: (line: string) => void,
): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  for (const client of clients) {
    if ('skipped' in client) {
      report(`skip  ${client.name}: ${client.skipped}`);
      tally.skipped += 1;
      continue;
    }
    let oneImage: number | undefined;
    for (const check of client.checks) {
      const { failure, cost } = await runCheck(check, target, oneImage);
      if (check.cost === 'one') oneImage ??= cost;
      tally[failure === undefined ? 'passed' : 'failed'] += 1;
      const price = cost === undefined || cost === 0 ? '' : ` (${cost.toFixed(6)})`;
      report(
        `${failure === undefined ? 'ok  ' : 'FAIL'}  ${client.name}: ${check.name}${price}${failure === undefined ? '' : `: ${failure}`}`,
      );
    }
  }
  return tally;
}

interface Outcome {
  readonly failure: string | undefined;
  /** Undefined: the deployment reports no balance. */
  readonly cost: number | undefined;
}

async function runCheck(check: Check, target: Target, oneImage: number | undefined): Promise<Outcome> {
  const before = await availableBalance(target);
  try {
    await check.run(target);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const words = error instanceof CheckFailed ? error.message : `${error.name}: ${error.message}`;
    return { failure: words, cost: undefined };
  }
  const after = await availableBalance(target);
  if (before === undefined || after === undefined) return { failure: undefined, cost: undefined };
  const cost = before - after;
  return { failure: wrongCost(check, cost, oneImage), cost };
}

function wrongCost({ cost: allowed }: Check, cost: number, oneImage: number | undefined): string | undefined {
  if (allowed === 'nothing' && cost !== 0) return `it cost ${cost.toFixed(6)} instead of nothing`;
  if (allowed === 'one' && oneImage !== undefined && cost > oneImage * sameCostFactor)
    return `it cost ${cost.toFixed(6)}, but one image costs ${oneImage.toFixed(6)}: it was paid twice`;
  return undefined;
}

async function availableBalance({ baseUrl, key }: Target): Promise<number | undefined> {
  const answer = await fetch(`${baseUrl}/balance`, { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) return undefined;
  const body: unknown = await answer.json();
  const isBalance = typeof body === 'object' && body !== null && 'available' in body;
  return isBalance ? Number(body.available) : undefined;
}
