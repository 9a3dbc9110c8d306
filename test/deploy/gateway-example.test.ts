import { describe, expect, it } from 'vitest';
import { requiredMeasures } from '../../src/money/price.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { providers } from '../../src/providers/index.ts';
import { servedModels } from '../../src/routing/served-models.ts';
import { readRepositoryFile, variablesOf } from './compose-file.ts';

const text = readRepositoryFile('gateway.example.yaml');
const names = new Set(variablesOf(text).map(({ name }) => name));
const { channels, models } = parsed('gateway.example.yaml');

function parsed(path: string) {
  const file = readRepositoryFile(path);
  const environment = Object.fromEntries(
    variablesOf(file).map(({ name }) => [
      name,
      name.endsWith('_URL') ? 'http://127.0.0.1' : `dummy of ${name}`,
    ]),
  );
  return parseGatewayConfig(file, path, { environment, providerNames: Object.keys(providers) });
}

describe('gateway.example.yaml', () => {
  it('is a valid configuration', () => {
    expect(channels.length).toBeGreaterThan(0);
    expect(models.length).toBeGreaterThan(0);
  });

  it('contains no key, only names of variables, which the example of the keys lists', () => {
    const keys = channels.flatMap(({ credentials }) => credentials.map(({ api_key }) => api_key));
    expect(keys.filter((key) => !key.startsWith('dummy of '))).toEqual([]);
    const listed = readRepositoryFile('deploy/upstream-keys.env.example').matchAll(/^([A-Z0-9_]+)=$/gm);
    expect(new Set([...listed].map(([, name]) => name))).toEqual(names);
  });

  it('shows every provider', () => {
    const shown = new Set([...text.matchAll(/^[\s#]*provider: (\w+)/gm)].map(([, name = '']) => name));
    expect([...shown].toSorted()).toEqual(Object.keys(providers));
  });

  it.each(['gateway.example.yaml', 'src/local/gateway.local.yaml'])(
    'no vendor shuts down a model that %s offers',
    (path) => {
      const served = servedModels(parsed(path), (name) => providers[name]);
      expect(served.length).toBeGreaterThan(10);
      expect(served.filter(({ origin }) => origin?.retirement !== undefined)).toEqual([]);
    },
  );

  it('offers no model that no channel serves', () => {
    const served = new Set(channels.flatMap((channel) => Object.keys(channel.models)));
    expect(models.map(({ id }) => id).filter((id) => !served.has(id))).toEqual([]);
  });

  it('has a price for everything that its models accept', () => {
    // The last line of each required measure must have no condition. Otherwise, a request without tier, resolution or
    // sound would have no price.
    const conditional = models.filter(({ price }) =>
      requiredMeasures(price).some(
        (measure) => price.lines.findLast((line) => line.measure === measure)?.when !== undefined,
      ),
    );
    expect(conditional.map(({ id }) => id)).toEqual([]);
    const free = models.filter(({ price }) => price.lines.some((line) => Number(line.price) === 0));
    expect(free.map(({ id }) => id)).toEqual([]);
  });

  it('prices only resolutions that the model lists', () => {
    const unlisted = models.flatMap(({ id, resolutions, price }) =>
      price.lines
        .flatMap(({ when = {} }) => Object.entries(when))
        .flatMap(([fact, values]) => (fact === 'resolution' && Array.isArray(values) ? values : []))
        .filter((value: unknown) => typeof value !== 'string' || !resolutions.includes(value))
        .map((value: unknown) => [id, value]),
    );
    expect(unlisted).toEqual([]);
  });
});
