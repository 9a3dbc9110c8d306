import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openConfigFile } from '../../src/config/config-file.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { localEnvironment } from '../../src/config/local-mode.ts';
import { banner } from '../../src/local/banner.ts';
import { findExamples, type Examples } from '../../src/local/examples.ts';
import { adapters, providers } from '../../src/providers/index.ts';

const variables = localEnvironment(
  {},
  { secretsKey: randomBytes(32).toString('base64'), adminToken: 'x', account: 'local' },
);
const localFile = variables['GATEWAY_CONFIG'] ?? '';
const { config: localConfig } = openConfigFile(localFile, { ...adapters, environment: variables }).own;

function bannerWith(examples: Examples, gatewayFile?: string, temporalUi?: string): string {
  return banner({
    apiUrl: 'http://127.0.0.1:8080',
    temporalUi,
    temporalAddress: '127.0.0.1:7233',
    simulatorUrl: undefined,
    gatewayFile,
    mongodbUri: 'mongodb://user:secret@127.0.0.1:27017/',
    settings: { account: 'local', adminToken: 'admin-token', apiKey: 'sk-key' },
    examples,
    balance: { currency: 'USD', available: '100.000000', held: '0.000000' },
    readySeconds: 1,
    dataDir: '/data',
  });
}

describe('the banner', () => {
  it('links to the tasks that need an operator, by the query in docs/operating.md', () => {
    const text = bannerWith(findExamples(localConfig, providers), undefined, 'http://127.0.0.1:8233');
    const link = /^ {2}Waiting tasks (\S+)$/m.exec(text)?.[1] ?? '';
    const url = new URL(link);
    expect([url.origin, url.pathname]).toEqual(['http://127.0.0.1:8233', '/namespaces/default/workflows']);
    const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    expect(page).toContain(`\`${url.searchParams.get('query')}\``);
    expect(url.searchParams.get('query')).toContain('NeedsAttention');
    expect(bannerWith(findExamples(localConfig, providers))).not.toContain('Waiting tasks');
  });

  it('shows a video, an image and an image task of the default configuration', () => {
    const config = localConfig;
    const examples = findExamples(config, providers);
    const ids = config.models.map(({ id }) => id);
    for (const example of [examples.video, examples.image, examples.imageTask]) {
      expect(ids).toContain(example?.['model']);
    }
    expect(examples.image?.['model']).not.toBe(examples.imageTask?.['model']);
    const text = bannerWith(examples);
    expect(text.split('\n').filter((line) => /^ {2}(curl|id=)/.test(line))).toHaveLength(5);
    expect(text).toContain('The upstream is simulated and costs nothing.');
  });

  it('names the models of another configuration, whatever they are called', () => {
    const file = parse(readFileSync(localFile, 'utf8'));
    const text = JSON.stringify(file)
      .replaceAll('seedance-2.0', 'my-video')
      .replaceAll('gpt-image-2.5-flare"', 'my-image"')
      .replaceAll('wan-image-2.2', 'my-image-task');
    const config = parseGatewayConfig(text, 'gateway.yaml', { ...adapters, environment: variables });
    const shown = bannerWith(findExamples(config, providers), 'gateway.yaml');
    for (const id of ['my-video', 'my-image-task']) expect(shown).toContain(`"model":"${id}"`);
    expect(shown).not.toContain('seedance-2.0');
    expect(shown).toContain('The upstreams come from gateway.yaml');
  });

  it('omits what no channel in service can do', () => {
    const config = localConfig;
    const off = { ...config, channels: config.channels.map((channel) => ({ ...channel, enabled: false })) };
    const examples = findExamples(off, providers);
    expect(examples).toEqual({ video: undefined, image: undefined, imageTask: undefined });
    expect(bannerWith(examples)).not.toContain('curl');
  });

  it('names every page that a browser can open', () => {
    const text = bannerWith(findExamples(localConfig, providers));
    for (const page of ['docs', 'account', 'console'])
      expect(text).toContain(`http://127.0.0.1:8080/${page} `);
  });

  it('shows no database password', () => {
    expect(bannerWith({ video: undefined, image: undefined, imageTask: undefined })).not.toContain('secret@');
  });
});
