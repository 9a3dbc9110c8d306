import { Gauge, type Registry } from 'prom-client';
import { attentionReasons } from '../task/attention.ts';
import type { Census } from '../reports/census.ts';
import { formatMicros } from '../money/money.ts';

export interface CensusGauges {
  showCensus(census: Census | undefined): void;
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

interface Family {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly samples: (census: Census) => readonly Sample[];
}

/** Only one process shows these gauges at a time, so adding them up over all processes gives the correct values. */
const families: readonly Family[] = [
  {
    name: 'mediary_census_time_seconds',
    help: 'When the whole system was last counted, in Unix seconds. Reported only by the process that counted it.',
    labels: [],
    samples: ({ at }) => [[{}, at / 1000]],
  },
  {
    name: 'mediary_tasks',
    help: 'Unfinished tasks by state and channel. The channel is where the job is, or otherwise where the task will be submitted next.',
    labels: ['state', 'channel'],
    samples: ({ tasks }) => summed(tasks, ({ state, channel, count }) => [{ state, channel }, count]),
  },
  {
    name: 'mediary_tasks_oldest_seconds',
    help: 'How long the oldest task in each state has been in that state.',
    labels: ['state'],
    samples: ({ at, tasks }) =>
      summed(tasks, ({ state, since }) => [{ state }, (at - since) / 1000], Math.max),
  },
  {
    name: 'mediary_submissions_waiting',
    help: 'Tasks that are waiting to be submitted and do not need an operator, by channel and reason.',
    labels: ['channel', 'reason'],
    samples: ({ tasks }) =>
      summed(
        tasks.filter(({ wait }) => wait !== ''),
        ({ channel, wait, count }) => [{ channel, reason: wait }, count],
      ),
  },
  {
    name: 'mediary_tasks_attention',
    help: 'Tasks that are waiting for an operator, by reason.',
    labels: ['reason'],
    samples: ({ attention }) =>
      attentionReasons.map((reason) => [
        { reason },
        sumOf(attention.filter((each) => each.reason === reason)),
      ]),
  },
  {
    name: 'mediary_money_held',
    help: 'The amount held for unfinished tasks, summed over all accounts.',
    labels: ['currency'],
    samples: ({ currency, money }) => [[{ currency }, Number(formatMicros(money.held))]],
  },
  {
    name: 'mediary_money_available',
    help: 'The available balance, summed over all accounts.',
    labels: ['currency'],
    samples: ({ currency, money }) => [[{ currency }, Number(formatMicros(money.available))]],
  },
  {
    name: 'mediary_accounts_overdrawn',
    help: 'Accounts with a negative available balance.',
    labels: [],
    samples: ({ money }) => [[{}, money.overdrawn]],
  },
  {
    name: 'mediary_slots_in_use',
    help: 'Tasks that occupy one of the concurrent_tasks slots of a channel.',
    labels: ['channel'],
    samples: ({ slots }) => slots.map(({ channel, inUse }) => [{ channel }, inUse]),
  },
  {
    name: 'mediary_slots_limit',
    help: 'The concurrent_tasks limit of a channel, summed over all its credentials.',
    labels: ['channel'],
    samples: ({ slots }) => slots.map(({ channel, limit }) => [{ channel }, limit]),
  },
  {
    name: 'mediary_channel_health',
    help: 'Always 1. The label state is serving, flapping, partly_ill, probing, ill or paused.',
    labels: ['channel', 'state'],
    samples: ({ health }) => health.map(({ channel, state }) => [{ channel, state }, 1]),
  },
  {
    name: 'mediary_circuit_openings',
    help: 'How often the circuits of a channel opened in the last hour: those of its credentials, and those of single models.',
    labels: ['channel'],
    samples: ({ health }) => health.map(({ channel, opened }) => [{ channel }, opened.hour]),
  },
  {
    name: 'mediary_callbacks',
    help: 'Callbacks of ended tasks: due, failing (an attempt has failed), or abandoned.',
    labels: ['state'],
    samples: ({ callbacks }) => callbacks.map(({ state, count }) => [{ state }, count]),
  },
  {
    name: 'mediary_callbacks_oldest_seconds',
    help: 'How long the oldest callback that is due or failing has been waiting for delivery.',
    labels: ['state'],
    samples: ({ at, callbacks }) =>
      callbacks.flatMap(({ state, since }) =>
        since === undefined ? [] : [[{ state }, (at - since) / 1000] as const],
      ),
  },
  {
    name: 'mediary_result_copies',
    help: 'Copies of results by state: retry (another attempt is due), or gave_up.',
    labels: ['state'],
    samples: ({ copies }) => copies.map(({ state, count }) => [{ state }, count]),
  },
  {
    name: 'mediary_ledger_verified_time_seconds',
    help: 'When the last verification of the ledger ended, in Unix seconds.',
    labels: [],
    samples: ({ verification }) => (verification === undefined ? [] : [[{}, verification.endedAt / 1000]]),
  },
  {
    name: 'mediary_ledger_violations',
    help: 'Violations that the last verification of the ledger found. gateway ledger verify shows them.',
    labels: [],
    samples: ({ verification }) => (verification === undefined ? [] : [[{}, verification.violations]]),
  },
];

export function createCensusGauges(registry: Registry): CensusGauges {
  const gauges = families.map(({ name, help, labels, samples }) => ({
    labels,
    samples,
    gauge: new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
  }));
  const show = (census: Census | undefined): void => {
    for (const { gauge, labels, samples } of gauges) {
      gauge.reset();
      // A gauge without labels shows 0 unless it is removed.
      if (labels.length === 0) gauge.remove();
      for (const [found, value] of census === undefined ? [] : samples(census)) gauge.set(found, value);
    }
  };
  show(undefined);
  return { showCensus: show };
}

function sumOf(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

function summed<Row>(
  rows: readonly Row[],
  sampleOf: (row: Row) => Sample,
  merge: (a: number, b: number) => number = (a, b) => a + b,
): readonly Sample[] {
  const samples = new Map<string, Sample>();
  for (const row of rows) {
    const [labels, value] = sampleOf(row);
    const key = JSON.stringify(labels);
    const known = samples.get(key);
    samples.set(key, [labels, known === undefined ? value : merge(known[1], value)]);
  }
  return [...samples.values()];
}
