import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProbedProcess } from '../../test/support/read-probe.ts';
import type { ChildServer } from '../../src/local/servers/process.ts';
import { startGateway, startImageUpstream, type StandGateway } from '../stand/gateway.ts';
import type { Stand } from '../stand/stand.ts';

export interface HostileGateway extends Omit<StandGateway, 'api'> {
  api(): ProbedProcess & Pick<ChildServer, 'exited'>;
}

const heapMegabytes = 640;
const renderSeconds = 0.2;
/** Low enough that an attacker can try to occupy every connection. */
const connectionsMax = 512;

const yaml = `
currency: USD
results: { storage: directory }
channels:
  - { id: videos, provider: ark, base_url: "\${SIMULATOR_URL}/ark/api/v3", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], limits: { submits_per_second: 1000, polls_per_second: 1000 }, models: { seedance: { upstream: dreamina-seedance-2-0-260128 } } }
  - { id: images, provider: openai, base_url: "\${IMAGES_URL}/v1", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], models: { gpt-image: { upstream: gpt-image-1.5 } } }
  - { id: ark, provider: ark, base_url: "\${IMAGES_URL}/v1", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], models: { seedream: { upstream: doubao-seedream-4-0-250828 } } }
models:
  - { id: seedance, kind: video, durations: { min: 4, max: 12, default: 5 }, inputs: { images: { max: 9 } }, expected_seconds: 1, price: { lines: [{ measure: call, price: "0.01" }] } }
  - { id: gpt-image, kind: image, inputs: { images: { max: 16 } }, price: { lines: [{ measure: image, price: "0.01" }] } }
  - { id: seedream, kind: image, inputs: { images: { max: 14 } }, price: { lines: [{ measure: image, price: "0.01" }] } }
`;

const probeProgram = fileURLToPath(new URL('../../test/support/event-loop-probe.ts', import.meta.url));
const apiFlags = [`--max-old-space-size=${heapMegabytes}`, '--expose-gc', '--import', probeProgram];

export async function startHostileGateway(stand: Stand): Promise<HostileGateway> {
  const file = join(stand.directory, 'probe.json');
  const gateway = await startGateway(stand, {
    yaml,
    renderSeconds,
    environment: {
      IMAGES_URL: await startImageUpstream(stand, 'images'),
      CONNECTIONS_MAX: String(connectionsMax),
      LOG_LEVEL: 'warn',
      PROBE_FILE: file,
      TMPDIR: stand.directory,
    },
    nodeFlags: (name) => (name === 'api' ? apiFlags : []),
  });
  return {
    ...gateway,
    api() {
      const child = gateway.api();
      return { pid: child.pid, exited: child.exited, hasExited: () => child.hasExited(), file };
    },
  };
}
