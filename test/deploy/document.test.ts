import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { searchAttributeNames } from '../../src/base/queues.ts';
import { documentedNames, readCompose, readRepositoryFile, variablesOf } from './compose-file.ts';

const page = readRepositoryFile('docs/deployment.md');
const { services } = readCompose();
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block);

describe('docs/deployment.md', () => {
  it('names every service', () => {
    expect(
      Object.keys(services).filter((name) => !page.includes(`\`${name}\``) && !page.includes(`| ${name} |`)),
    ).toEqual([]);
  });

  it('overrides and starts services that exist', () => {
    const overridden = blocks('yaml')
      .map((block) => parse(block, { logLevel: 'silent' }) as { services: Record<string, unknown> })
      .flatMap((block) => Object.keys(block.services));
    const scaled = [...page.matchAll(/--scale ([a-z-]+)=/g)].map(([, name = '']) => name);
    const entered = [...page.matchAll(/docker compose exec (?:-T )?([a-z-]+)/g)].map(([, name = '']) => name);
    const named = [...overridden, ...scaled, ...entered];
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !(name in services))).toEqual([]);
  });

  it('fills in every required variable', () => {
    const required = variablesOf(readRepositoryFile('docker-compose.yml')).filter(
      ({ kind }) => kind === 'required',
    );
    const steps = blocks('sh')[0] ?? '';
    expect(required.map(({ name }) => name).filter((name) => !steps.includes(name))).toEqual([]);
  });

  it('mentions only existing variables', () => {
    const known = documentedNames(readRepositoryFile('.env.example'));
    const composed = Object.values(services).flatMap(({ environment }) => Object.keys(environment));
    const named = [...page.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g)].map(([, name = '']) => name);
    const ofOthers = ['SERVICES'];
    expect(named.filter((name) => ![...known, ...composed, ...ofOthers].includes(name))).toEqual([]);
  });

  it('lists the search attributes', () => {
    expect(searchAttributeNames.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
