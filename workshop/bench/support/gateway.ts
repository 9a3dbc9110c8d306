import { join } from 'node:path';
import { MongoClient, type Db } from 'mongodb';
import { simulatorKey, startGateway, type StandGateway } from '../../stand/gateway.ts';
import type { Stand } from '../../stand/stand.ts';
import { expectStatus, openConnections } from './http-connections.ts';
import { resultsDir } from './report.ts';

export interface BenchGateway extends StandGateway {
  readonly keys: readonly string[];
  readonly db: Db;
  videoBody(kind: RenderKind): string;
  close(): Promise<void>;
}

/** `short` renders in 1 s. `long` never finishes, so only admission and submission take place. */
export type RenderKind = 'short' | 'long';

export interface BenchSettings {
  readonly profile: boolean;
  readonly accounts?: number;
  readonly channels?: string;
  readonly models?: string;
  readonly prefix?: string;
}

const shortRenderSeconds = 1;
const longRenderSeconds = 36_000;

export async function startBenchGateway(
  stand: Stand,
  { profile, accounts = 4, channels = '', models = '', prefix = '' }: BenchSettings,
): Promise<BenchGateway> {
  const gateway = await startGateway(stand, {
    yaml: `currency: USD
channels:
${arkChannel}${channels}models:
${videoModel('short', shortRenderSeconds)}${videoModel('long', longRenderSeconds)}${models}`,
    renderSeconds: shortRenderSeconds,
    prefix,
    nodeFlags: (name) => (profile ? profileFlags(prefix + name) : []),
    environment: { KEY_REQUESTS_PER_MINUTE: '0', KEY_CONCURRENT_REQUESTS: '0' },
  });
  const keys = await Promise.all(
    Array.from({ length: accounts }, (_, n) => gateway.newKeys(`account-${n}`, 1)),
  );
  const uri = gateway.environment['MONGODB_URI'] ?? '';
  const mongo = await MongoClient.connect(uri, { useBigInt64: true });
  return {
    ...gateway,
    keys: keys.flat(),
    db: mongo.db(),
    videoBody: (kind) => JSON.stringify(videoRequests[kind]),
    close: () => mongo.close(),
  };
}

function profileFlags(name: string): readonly string[] {
  const directory = join(resultsDir, 'profiles', name);
  return ['--cpu-prof', `--cpu-prof-dir=${directory}`, '--cpu-prof-interval=500'];
}

const videoRequest = { duration: 5, resolution: '720p', ratio: '16:9' };
const videoRequests: Record<RenderKind, object> = {
  short: { ...videoRequest, model: 'short', prompt: `a boat [sim:render=${shortRenderSeconds}]` },
  long: { ...videoRequest, model: 'long', prompt: `a boat [sim:render=${longRenderSeconds}]` },
};

const arkModel = '{ upstream: dreamina-seedance-2-0-260128 }';
const arkChannel = `  - id: ark
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: ${simulatorKey} }]
    callbacks: false
    limits: { submits_per_second: 1000, polls_per_second: 1000 }
    timeouts: { submit_ms: 5000, poll_ms: 5000 }
    models: { short: ${arkModel}, long: ${arkModel} }
`;

const tokenPrice = '{ lines: [{ measure: million_tokens, price: "7.00" }] }';

export function videoModel(id: string, expectedSeconds: number, price = tokenPrice): string {
  return `  - id: ${id}
    kind: video
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 4, max: 15, default: 5 }
    expected_seconds: ${expectedSeconds}
    price: ${price}
`;
}

function jsonHeaders(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}

export function openCreates(
  { url, keys, urls = [url] }: Pick<BenchGateway, 'url' | 'keys'> & { readonly urls?: readonly string[] },
  connections: number,
) {
  const processes = urls.map((address) => openConnections(address, connections));
  const headers = keys.map(jsonHeaders);
  return {
    async create(caller: number, body: string): Promise<string> {
      const http = processes[caller % processes.length];
      if (http === undefined) throw new Error('there is no API process');
      const answer = await http.call(caller, {
        method: 'POST',
        path: '/v1/videos/generations',
        headers: headers[Math.floor(caller / processes.length) % headers.length] ?? {},
        body,
      });
      const { id } = JSON.parse(expectStatus(answer, 200).body.toString('utf8')) as { id: string };
      return id;
    },
    close: async () => void (await Promise.all(processes.map((http) => http.close()))),
  };
}
