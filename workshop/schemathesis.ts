import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { z } from 'zod';
import { openStand } from './stand/stand.ts';
import { installFromPypi } from './pypi-venv.ts';
import { spareChannel, startOwnGateway, type Target } from './stand/own-gateway.ts';

/**
 * `npm run schemathesis -- [--cases n] [--seed n]`: sends generated requests, valid and invalid, to a gateway that it
 * starts. No response may be a 5xx or missing from the OpenAPI document. Schemathesis comes from PyPI, so this needs
 * Python 3 with venv and pip. It is installed next to local mode's servers.
 */

const version = '4.32.5';
const casesDefault = 3_000;
const coverageCases = 70;

const { values } = parseArgs({
  options: { cases: { type: 'string', default: String(casesDefault) }, seed: { type: 'string' } },
});

async function runAll(): Promise<number> {
  const program = join(
    installFromPypi(`schemathesis-${version}`, [`schemathesis==${version}`]),
    'schemathesis',
  );
  const stand = await openStand();
  try {
    return await generate(program, await startOwnGateway(stand));
  } finally {
    await stand.close();
  }
}

function configuration({ key, adminToken }: Target): string {
  return `
headers = { Authorization = "Bearer ${key}" }

[checks]
positive_data_acceptance.expected-statuses = ["2xx", 302, 304, 400, 401, 402, 403, 404, 409, 413, 415, 416, 429]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, 431]

[[operations]]
include-path-regex = "^/admin/"
headers = { Authorization = "Bearer ${adminToken}" }

[[operations]]
include-path = "/admin/v1/channels/{channel}"
headers = { Authorization = "Bearer ${adminToken}" }
parameters = { "path.channel" = "${spareChannel}" }

[[operations]]
include-path-regex = "^/fal/"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 402, 403, 404, 409, 413, 415, 422, 429]

[[operations]]
include-path = "/readyz"
checks.not_a_server_error.expected-statuses = ["2xx", "4xx", 503]
`;
}

/** There is only one worker, because Schemathesis calls `ast.parse`, which is not thread-safe in Python 3.11. */
const alwaysOptions =
  '--continue-on-failure --suppress-health-check all --request-timeout 60 --workers 1 --no-color';

async function countOperations({ url }: Target): Promise<number> {
  const document = await (await request(`${url}/openapi.json`)).body.json();
  const { paths } = z
    .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(document);
  return Object.values(paths).flatMap((path) => Object.keys(path)).length;
}

async function generate(program: string, target: Target): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'mediary-schemathesis-'));
  try {
    const config = join(directory, 'schemathesis.toml');
    writeFileSync(config, configuration(target));
    const examples = Math.max(
      1,
      Math.ceil(Number(values.cases) / (await countOperations(target)) - coverageCases),
    );
    const options = `--checks all --phases examples,coverage,fuzzing --max-examples ${examples} ${alwaysOptions}`;
    return await run(program, directory, [
      '--config-file',
      config,
      'run',
      `${target.url}/openapi.json`,
      '--url',
      target.url,
      ...options.split(' '),
      ...(values.seed === undefined ? [] : ['--seed', values.seed]),
    ]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function run(program: string, directory: string, args: readonly string[]): Promise<number> {
  const child = spawn(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  let generated = 0;
  createInterface(child.stdout).on('line', (line) => {
    process.stdout.write(`${line}\n`);
    generated = Number(/^ *(\d+) generated/.exec(line)?.[1] ?? generated);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      const isComplete = generated >= Number(values.cases);
      if (!isComplete) process.stderr.write(`${generated} cases were tried, not ${values.cases}.\n`);
      resolve(status === 0 && !isComplete ? 1 : (status ?? 1));
    });
  });
}

process.exitCode = await runAll();
