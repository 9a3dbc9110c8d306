import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../src/config/gateway-file.ts';
import { statusMessages } from '../src/task/task.ts';
import { createdTaskSchema } from '../src/http/presenters/created-task.ts';
import { providers } from '../src/providers/index.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const page = read('README.md');
const block = (language: string) => page.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? '';

describe('README.md', () => {
  it.each(['README.md', 'docs/api.md', 'docs/layout.md', 'docs/callbacks.md'])(
    'has no dead links: %s',
    (name) => {
      const folder = new URL(`../${name}`, import.meta.url);
      const links = [...read(name).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
      const local = links.filter((link) => !link.startsWith('https:'));
      expect(local.filter((link) => !existsSync(new URL(link, folder)))).toEqual([]);
    },
  );

  it('connects a real upstream in five lines, which are a whole configuration', () => {
    const yaml = block('yaml');
    expect(yaml.split('\n')).toHaveLength(5);
    const config = parseGatewayConfig(yaml, 'gateway.yaml', {
      environment: { ARK_API_KEY: 'key' },
      providerNames: Object.keys(providers),
    });
    expect(config.channels.map(({ id }) => id)).toEqual(['ark']);
  });

  it('shows the response that a create has', () => {
    const shown: unknown = JSON.parse(block('json'));
    expect(createdTaskSchema.strict().parse(shown)).toEqual(shown);
    expect(shown).toMatchObject({ message: statusMessages.submitted });
  });
});
