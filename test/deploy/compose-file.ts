import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

export function readRepositoryFile(path: string): string {
  return readFileSync(repositoryPath(path), 'utf8');
}

const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.looseObject({ context: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  env_file: z.array(z.string()).default([]),
  volumes: z
    .array(z.union([z.string(), z.looseObject({ type: z.string(), source: z.string().optional() })]))
    .default([]),
  networks: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
  restart: z.string(),
  profiles: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
  logging: z.object({ driver: z.string(), options: z.record(z.string(), z.string()) }),
  deploy: z
    .looseObject({ resources: z.object({ limits: z.looseObject({ memory: z.string() }) }) })
    .optional(),
});

const fileSchema = z.looseObject({
  services: z.record(z.string(), serviceSchema),
  networks: z.record(z.string(), z.looseObject({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.unknown()),
});

export type ComposeService = z.infer<typeof serviceSchema>;
export type ComposeFile = z.infer<typeof fileSchema>;

export const composeText = readRepositoryFile('docker-compose.yml');

export function parseCompose(): unknown {
  return parse(composeText, { merge: true });
}

export function readCompose(): ComposeFile {
  return fileSchema.parse(parseCompose());
}

export interface Variable {
  readonly name: string;
  readonly kind: 'required' | 'defaulted' | 'bare';
  readonly fallback: string;
}

/** Ignores comments and `$$`, which is an escaped dollar sign. */
export function variablesOf(text: string): Variable[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  const found = lines
    .join('\n')
    .replaceAll('$$', '')
    .matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:[-?])([^}]*))?\}/g);
  return [...found].map(([, name = '', operator, rest = '']) => ({
    name,
    kind: operator === undefined ? 'bare' : operator === ':?' ? 'required' : 'defaulted',
    fallback: operator === ':-' ? rest : '',
  }));
}

/** A required variable that has no value is left as it is. */
export function withValues(value: string, given: ReadonlyMap<string, string>): string {
  return value.replace(
    /\$\{([A-Za-z0-9_]+)(?:(:[-?])([^}]*))?\}/g,
    (whole: string, name: string, operator: string | undefined, rest = '') =>
      given.get(name) ?? (operator === ':?' ? whole : rest),
  );
}

export function withDefaults(value: string): string {
  return withValues(value, new Map());
}

export function secondsOf(duration: string): number {
  const parts = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration);
  if (parts === null || duration === '') throw new Error(`not a duration: ${duration}`);
  return Number(parts[1] ?? 0) * 60 + Number(parts[2] ?? 0);
}

export function documentedNames(envText: string): Set<string> {
  const assigned = [...envText.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name);
  return new Set(assigned);
}
