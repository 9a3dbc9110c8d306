import { startGateway } from './gateway.ts';
import type { Stand } from './stand.ts';

export interface Target {
  readonly url: string;
  readonly key: string;
  readonly adminToken: string;
}

/** A channel that generated requests may switch off without making any model unavailable. */
export const spareChannel = 'spare';

const renderSeconds = 0.2;
const yaml = `
currency: USD
results: { storage: directory }
channels:
  - { id: videos, provider: ark, base_url: "\${SIMULATOR_URL}/ark/api/v3", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], limits: { submits_per_second: 1000, polls_per_second: 1000 }, models: { video: { upstream: dreamina-seedance-2-0-260128 } } }
  - { id: images, provider: openai, base_url: "\${SIMULATOR_URL}/openai/v1", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], models: { image: { upstream: gpt-image-1.5 } } }
  - { id: ${spareChannel}, provider: openai, base_url: "\${SIMULATOR_URL}/openai/v1", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], models: { spare-image: { upstream: gpt-image-1.5 } } }
models:
  - { id: video, kind: video, resolutions: [720p], durations: { min: 4, max: 12, default: 5 }, inputs: { images: { max: 9 } }, expected_seconds: 1, price: { lines: [{ measure: call, price: "0.01" }] } }
  - { id: image, kind: image, inputs: { images: { max: 4 } }, price: { lines: [{ measure: image, price: "0.01" }] } }
  - { id: spare-image, kind: image, price: { lines: [{ measure: image, price: "0.01" }] } }
`;

export async function startOwnGateway(stand: Stand): Promise<Target> {
  const gateway = await startGateway(stand, {
    yaml,
    renderSeconds,
    environment: {
      // No limit per IP address, because all callers share one key and one address here.
      ADDRESS_REQUESTS_PER_SECOND: '0',
      KEY_REQUESTS_PER_MINUTE: '0',
      KEY_CONCURRENT_REQUESTS: '0',
      LOG_LEVEL: 'warn',
    },
  });
  const { url, adminToken } = gateway;
  const [key = ''] = await gateway.newKeys('generated', 1);
  return { url, key, adminToken };
}
