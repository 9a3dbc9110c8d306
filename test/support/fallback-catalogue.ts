import { providers } from '../../src/providers/index.ts';
import { createCatalogue, type Catalogue } from '../../src/routing/catalogue.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { testYaml } from './test-yaml.ts';

export function fallbackCatalogue(fallback: string): Catalogue {
  const [, channel = ''] = /^channels:\n((?: +.*\n)+)/m.exec(testYaml) ?? [];
  const first = channel.replace('id: ark', 'id: ark\n    priority: 1');
  const yaml = testYaml
    .replace(channel, first + channel.replace('id: ark', 'id: spare'))
    .replace('    expected_seconds: 1\n', `    expected_seconds: 1\n    ${fallback}\n`);
  const config = parseGatewayConfig(yaml, 'test', {
    environment: { SIMULATOR_URL: 'http://127.0.0.1:1' },
    providerNames: Object.keys(providers),
  });
  return createCatalogue({ current: () => config, providers, random: () => 0.5 });
}
