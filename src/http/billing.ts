import type { OwnAttempts, OwnCosts, Period } from '../bills/own-attempts.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ModelCosts } from '../ledger/upstream-costs.ts';
import { formatMicros } from '../money/money.ts';
import type { Catalogue } from '../routing/catalogue.ts';
import type { BilledPage, BilledSpan } from '../store/reports/bills.ts';
import { mayHaveJob, type Attempt } from '../task/attempt.ts';
import type { BilledTask } from '../bills/expected-bill.ts';
import type { RouteDeps } from './deps.ts';
import { presentBilledAttempt, type Billing } from './presenters/billed-attempt.ts';

function billingOf(catalogue: Pick<Catalogue, 'channel' | 'current'>): Billing {
  return {
    currency: catalogue.current().currency,
    upstreamModel: (channel, model) => catalogue.channel(channel)?.models[model]?.upstream,
  };
}

export type BillingDeps = Pick<RouteDeps, 'tasks' | 'catalogue' | 'readUpstreamCosts'>;

const pageTasks = 1_000;

export function createBilling({ tasks, catalogue, readUpstreamCosts }: BillingDeps) {
  const present = (
    found: readonly BilledTask[],
    channel: string,
    isWanted: (attempt: Attempt) => boolean,
  ) => {
    const billing = billingOf(catalogue);
    return found.flatMap((task) =>
      task.attempts
        .filter((one) => one.channel === channel && isWanted(one))
        .map((attempt) => presentBilledAttempt(task, attempt, billing)),
    );
  };
  const pageOf = async (
    span: BilledSpan,
    read: (span: BilledSpan) => Promise<BilledPage>,
    isWanted: (attempt: Attempt) => boolean,
  ) => {
    const found = await read(span);
    return { data: present(found.tasks, span.channel, isWanted), next: found.next };
  };
  return {
    jobs: (span: BilledSpan) =>
      pageOf(
        span,
        (asked) => tasks.listBilled(asked),
        ({ operation }) => operation !== undefined,
      ),

    unclaimed: (span: BilledSpan) => pageOf(span, (asked) => tasks.listUnclaimed(asked), mayHaveJob),

    async find(channel: string, jobs: readonly string[]) {
      const asked = new Set(jobs);
      const found = await tasks.findBilled(channel, jobs);
      const ordered = found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      return present(ordered, channel, ({ operation }) => operation !== undefined && asked.has(operation.id));
    },

    async costs(channel: string, { from, to }: Period): Promise<OwnCosts> {
      const found = await readUpstreamCosts({ channel, from: from * 1000, before: to * 1000 });
      const { currency, upstreamModel } = billingOf(catalogue);
      const rowOf = ({ model, tasks: count, cost, unknown }: ModelCosts) => ({
        model,
        upstream_model: upstreamModel(channel, model) ?? null,
        tasks: count,
        cost: formatMicros(cost),
        cost_unknown: unknown,
      });
      return { currency, data: found.map(rowOf) };
    },
  };
}

export function ownAttempts(deps: BillingDeps, signal: AbortSignal): OwnAttempts {
  const billing = createBilling(deps);
  const requireCaller = () => {
    if (signal.aborted) throw new GatewayError('request_timeout', 'The caller has disconnected.');
  };
  async function* all(which: 'jobs' | 'unclaimed', channel: string, { from, to }: Period) {
    let after: string | undefined;
    do {
      requireCaller();
      const span = { channel, from: Math.max(0, from) * 1000, before: to * 1000, limit: pageTasks, after };
      const { data, next } = await billing[which](span);
      yield* data;
      after = next;
    } while (after !== undefined);
  }
  return {
    jobs: (channel, created) => all('jobs', channel, created),
    unclaimed: (channel, created) => all('unclaimed', channel, created),
    async find(channel, jobs) {
      requireCaller();
      return billing.find(channel, jobs);
    },
    async costs(channel, ended) {
      requireCaller();
      return billing.costs(channel, ended);
    },
  };
}
