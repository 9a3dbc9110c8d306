import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readRepositoryFile, repositoryPath } from './compose-file.ts';

const stepsSchema = z.object({
  on: z.looseObject({}),
  jobs: z.record(
    z.string(),
    z.object({ 'timeout-minutes': z.number(), steps: z.array(z.object({ run: z.string().optional() })) }),
  ),
});
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readRepositoryFile('package.json')));

it.each(readdirSync(repositoryPath('.github/workflows')))('%s runs only existing commands', (file) => {
  const { on, jobs } = stepsSchema.parse(parse(readRepositoryFile(`.github/workflows/${file}`)));
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = [] }) => run));
  // Scheduled workflows are exempt, because they only check vendors.
  if (!('schedule' in on)) expect(commands).toContain('.ci/run');
  const named = commands.flatMap((command) => /^npm run (\S+)/.exec(command)?.[1] ?? []);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});
