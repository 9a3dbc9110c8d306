import { parse, stringify } from 'yaml';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { testYaml } from '../support/test-yaml.ts';

/**
 * Each model has the channels `first` and `second`, in this order. The upstream distinguishes them by its model name.
 * At `first`, every model costs 7.00 per million tokens. Holds cover 108,900 tokens at the higher price.
 * - `rescued`, `dearer`: `second` is the fallback, at 5.00 or 9.00.
 * - `moderated`: rejected content uses the fallback as well.
 * - `plain`: no fallback.
 * - `untold`: the first channel, a relay, does not report whether a failed job is billed.
 */
const firstModel = 'dreamina-seedance-2-0-260128';
const secondModel = 'dreamina-seedance-2-0-fast-260128';

const rescued = { channels: ['second'] };
const models = {
  rescued: { second: '5.00', fallback: rescued },
  dearer: { second: '9.00', fallback: rescued },
  moderated: {
    second: '5.00',
    fallback: { ...rescued, on: ['moderation_input', 'moderation_output'], allow_moderation: true },
  },
  plain: { second: '5.00' },
  untold: { second: '5.00', fallback: rescued },
};

const channel = (id: string, more: Readonly<Record<string, unknown>>) => ({
  id,
  provider: 'ark',
  base_url: '${SIMULATOR_URL}/ark/api/v3',
  private_networks: ['127.0.0.0/8'],
  private_link_networks: ['127.0.0.0/8'],
  credentials: [{ id: 'a', api_key: 'simulated' }],
  limits: { submits_per_second: 500, polls_per_second: 500, concurrent_tasks: 8 },
  timeouts: { submit_ms: 10_000, poll_ms: 12_000 },
  ...more,
});

function served(upstream: string, names: readonly string[]): Record<string, { upstream: string }> {
  return Object.fromEntries(names.map((name) => [name, { upstream }]));
}

function fallbackYaml(): string {
  const {
    models: [model],
  } = parse(testYaml);
  const names = Object.keys(models);
  const direct = names.filter((name) => name !== 'untold');
  return stringify({
    currency: 'USD',
    channels: [
      channel('first', { priority: 1, models: served(firstModel, direct) }),
      channel('relay', {
        priority: 1,
        provider: 'gateway',
        base_url: '${SIMULATOR_URL}/new-api/v1',
        private_networks: ['127.0.0.0/8'],
        private_link_networks: ['127.0.0.0/8'],
        models: served('doubao-seedance-2-0-260128', ['untold']),
      }),
      channel('second', { models: served(secondModel, names) }),
    ],
    models: Object.entries(models).map(([id, { second, ...fallback }]) => ({
      ...model,
      id,
      resolutions: ['720p', '480p'],
      price: {
        lines: [
          { measure: 'million_tokens', when: { channel: ['second'] }, price: second },
          { measure: 'million_tokens', price: '7.00' },
        ],
      },
      ...fallback,
    })),
  });
}

export const charges = { second: '0.544500', first: '0.762300', dearer: '0.980100' };

export interface FallbackWorld {
  readonly gateway: TestGateway;
  readonly jobs: (prompt: string) => { readonly first: number; readonly second: number };
  readonly attempts: (task: string) => Promise<readonly string[]>;
  readonly entries: (task: string) => Promise<readonly string[]>;
  readonly disturb: (where: 'first' | 'second', prompt: string, fault: string) => void;
}

export async function openFallbackWorld(options: TestGatewayOptions = {}): Promise<FallbackWorld> {
  const gateway = await startGateway({ ...options, yaml: fallbackYaml() });
  const modelOf = { first: firstModel, second: secondModel };
  return {
    gateway,
    jobs: (prompt) => {
      const made = gateway.simulator.tasks(prompt).map(({ model }) => model);
      const second = made.filter((model) => model === secondModel).length;
      return { first: made.length - second, second };
    },
    attempts: async (task) => {
      const { body } = await gateway.admin('GET', `/admin/v1/tasks/${task}`);
      return body.attempts.map(({ state, channel: at }: Record<string, string>) => `${state} ${at}`);
    },
    entries: async (task) => (await gateway.core.ledger.entriesOfTask(task)).map(({ kind }) => kind),
    disturb: (where, prompt, fault) =>
      gateway.simulator.addFault({ match: { model: modelOf[where], prompt }, fault }),
  };
}
