import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { z } from 'zod';

/** What the gateway of a soak serves, and what its callers ask for. */
export interface Fleet {
  /** gateway.yaml. `withSecond`: the credentials that come and go. */
  readonly yaml: (withSecond: boolean) => string;
  readonly offers: readonly Offer[];
}

export interface Offer {
  readonly body: { readonly model: string } & Readonly<Record<string, unknown>>;
  /** Micro-units for a task that succeeds; absent: what one costs before anything is disturbed. */
  readonly charge?: bigint;
}

/** Two channels with narrow limits. */
export const twoChannels: Fleet = {
  yaml: gatewayYaml,
  offers: [
    {
      body: { model: 'seedance', duration: 5, resolution: '720p', ratio: '16:9' },
      // 1280 × 720 × 121 / 1024 tokens by the documented formula, at 7.00 a million.
      charge: 762_300n,
    },
  ],
};

function gatewayYaml(withSecond: boolean): string {
  const second = withSecond ? ', { id: b, api_key: simulated }' : '';
  return `currency: USD
channels:
${channel('one', `{ id: a, api_key: simulated }${second}`)}${channel('two', '{ id: c, api_key: simulated }')}models:
  - id: seedance
    kind: video
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 4, max: 15, default: 5 }
    expected_seconds: 2
    price: { lines: [{ measure: million_tokens, price: "7.00" }] }
`;
}

function channel(id: string, credentials: string): string {
  return `  - id: ${id}
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [${credentials}]
    limits: { submits_per_second: 5, polls_per_second: 20, concurrent_tasks: 12 }
    timeouts: { submit_ms: 5000, poll_ms: 3000 }
    models: { seedance: { upstream: dreamina-seedance-2-0-260128 } }
`;
}

const localFile = z.looseObject({
  channels: z.array(z.looseObject({ id: z.string(), models: z.record(z.string(), z.unknown()) })),
  models: z.array(z.looseObject({ id: z.string(), kind: z.string() })),
});

/** Every video model of local mode at each of its channels, under a name of its own: no channel stands in for another. */
export function everyDialect(): Fleet {
  const path = new URL('../../src/local/gateway.local.yaml', import.meta.url);
  const { channels, models, ...rest } = localFile.parse(parse(readFileSync(path, 'utf8')));
  const videos = models.filter(({ kind }) => kind === 'video');
  const served = channels.flatMap((each) => {
    const own = videos.filter(({ id }) => id in each.models);
    return own.length === 0 ? [] : [{ channel: each, own }];
  });
  const nameOf = (channelId: string, model: string): string => `${channelId}-${model}`;
  const named = served.flatMap(({ channel: { id }, own }) =>
    own.map((model) => ({ ...model, id: nameOf(id, model.id), expected_seconds: 2 })),
  );
  const yaml = (withSecond: boolean): string =>
    stringify({
      ...rest,
      channels: served.map(({ channel: each, own }) => ({
        ...each,
        credentials: ['a', ...(withSecond ? ['b'] : [])].map((id) => ({ id, api_key: 'simulated' })),
        limits: { submits_per_second: 5, polls_per_second: 20, concurrent_tasks: 12 },
        timeouts: { submit_ms: 5000, poll_ms: 3000 },
        models: Object.fromEntries(own.map(({ id }) => [nameOf(each.id, id), each.models[id]])),
      })),
      models: named,
    });
  return { yaml, offers: named.map(({ id }) => ({ body: { model: id, duration: 5 } })) };
}
