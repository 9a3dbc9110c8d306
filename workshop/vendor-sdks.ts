import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { createReceiptKeys } from '../src/access/receipt-keys.ts';
import { createUpstreamClient } from '../src/http-client/upstream-client.ts';
import { startSimulator, type Simulator } from './simulator/simulator.ts';
import { ark } from '../src/providers/ark/index.ts';
import { dashscope } from '../src/providers/dashscope/index.ts';
import { providers } from '../src/providers/index.ts';
import type { OperationStatus, Provider } from '../src/providers/provider.ts';
import { installFromPypi } from './pypi-venv.ts';

/**
 * `npm run vendor-sdks`: vendors' Python SDKs, for vendors without a Node SDK, drive the simulator through create,
 * poll, list, cancel and errors. The adapters must read the same facts about the same jobs. PyJWT checks a receipt.
 * Prints one line per mismatch and then exits with 1. Vendors' Node SDKs are tested in
 * test/workshop/simulator/vendors-sdks.test.ts.
 *
 * Needs Python 3 with venv and pip, and PyPI the first time. `--newest` uses the newest versions of these SDKs, and
 * compares the fact tables with the types of the newest SDKs on npm and PyPI. CI does not run that on each change,
 * because it always needs both registries.
 */

/** Installs only Ark's runtime, because the full package includes every product of that cloud. */
const vendorPackages = ['volcengine-ark-runtime==5.0.54', 'dashscope==2.0.2', 'luma-agents==0.5.0'];
const pinned = [...vendorPackages, 'PyJWT[crypto]==2.15.1'];
const { newest: isNewest } = parseArgs({ options: { newest: { type: 'boolean', default: false } } }).values;
const renderSeconds = 2;
const apiKey = 'test-key';
const receiptProgram = fileURLToPath(new URL('vendor-sdks/receipt.py', import.meta.url));
const program = fileURLToPath(new URL('vendor-sdks/walks.py', import.meta.url));

const adapters: Readonly<Record<string, { readonly provider: Provider | undefined; readonly path: string }>> =
  {
    ark: { provider: ark, path: '/ark/api/v3' },
    dashscope: { provider: dashscope, path: '/dashscope/api/v1' },
    luma: { provider: providers['luma'], path: '/luma/v1' },
  };

const jobSchema = z.strictObject({
  provider: z.string(),
  model: z.string(),
  id: z.string(),
  word: z.string(),
  code: z.string().nullable(),
  link: z.string().nullable(),
  tokens: z.number().nullable(),
  seconds: z.number().nullable(),
});
type Job = z.infer<typeof jobSchema>;
const lineSchema = z.union([z.strictObject({ mismatch: z.string() }), z.strictObject({ job: jobSchema })]);

const unpinned = pinned.map((one) => one.replace(/==.*/, ''));
const newest = isNewest ? (await import('./vendor-sdks/newest.ts')).installNewest(unpinned) : undefined;
const programs =
  newest?.programs ?? installFromPypi(`vendor-sdks-${pinned.join('-').replaceAll('==', '-')}`, pinned);
const simulator = await startSimulator({ host: '127.0.0.1', port: 0, apiKeys: [apiKey], renderSeconds });
const client = createUpstreamClient({ networks: ['127.0.0.0/8'] });
try {
  const { mismatches, jobs } = await walk(simulator);
  for (const job of jobs) mismatches.push(...(await compare(job, simulator)));
  const read = new Set(jobs.map(({ provider }) => provider));
  mismatches.push(...checkReceipt());
  for (const name of Object.keys(adapters)) if (!read.has(name)) mismatches.push(`${name}: no job was read`);
  const { compared = pinned, differences = [] } = newest?.compare() ?? {};
  const found = [...mismatches, ...differences];
  // The scheduled workflow uses `--newest` and reads the list from stdout.
  for (const difference of found) (isNewest ? process.stdout : process.stderr).write(`- ${difference}\n`);
  const summary = `${compared.join(', ')}: ${jobs.length} jobs, ${found.length} mismatches\n`;
  (isNewest ? process.stderr : process.stdout).write(summary);
  process.exitCode = found.length === 0 ? 0 : 1;
} finally {
  await client.close();
  await simulator.close();
  newest?.remove();
}

async function walk({ url }: Simulator): Promise<{ mismatches: string[]; jobs: Job[] }> {
  const child = spawn(join(programs, 'python'), [program, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const mismatches: string[] = [];
  const jobs: Job[] = [];
  for await (const line of createInterface(child.stdout)) {
    const said = lineSchema.parse(JSON.parse(line));
    if ('job' in said) jobs.push(said.job);
    else mismatches.push(said.mismatch);
  }
  const status = await ended;
  if (status !== 0) mismatches.push(`walks.py ended with ${status}`);
  return { mismatches, jobs };
}

/** Checks that PyJWT accepts a receipt and rejects one that was altered. Returns the problems found. */
function checkReceipt(): string[] {
  const keys = createReceiptKeys(randomBytes(32));
  const payload = { task: 'task_1', charge: '0.762300', steps: [{ b: 1.5, a: 'é' }, null] };
  const jws = keys.sign(payload, 2);
  const check = (given: object): string[] => {
    const input = JSON.stringify({ jws, jwks: { keys: keys.published(2) }, payload, ...given });
    const said = execFileSync(join(programs, 'python'), [receiptProgram], { input, encoding: 'utf8' });
    return said.split('\n').filter((line) => line !== '');
  };
  const changed = check({ jws: keys.sign({ ...payload, charge: '0' }, 2) });
  const foreign = check({ jws: jws.replace(/.{8}$/, 'AAAAAAAA') });
  const isBlind = changed.length === 0 || foreign.length === 0;
  return [...check({}), ...(isBlind ? ['receipt.py accepts an altered receipt as valid'] : [])];
}

async function compare(job: Job, { url }: Simulator): Promise<string[]> {
  const { provider, path } = adapters[job.provider] ?? {};
  const status = await provider?.video?.status(
    { id: job.id },
    {
      request: client,
      credential: { id: 'key', apiKey },
      baseUrl: `${url}${path}`,
      model: job.model,
      signal: AbortSignal.timeout(10_000),
    },
  );
  const read = status === undefined ? {} : asRead(status);
  const said: Read = { link: unsigned(job.link), code: job.code, tokens: job.tokens, seconds: job.seconds };
  return Object.entries(said).flatMap(([field, value]) => {
    const found = read[field];
    const isSame = found === value || (value === null && (field === 'tokens' || field === 'seconds'));
    return isSame ? [] : [`${job.provider}: ${field}: the SDK reads ${value}, the adapter ${found}`];
  });
}

type Read = Readonly<Record<string, string | number | null>>;

function asRead(status: OperationStatus): Read {
  const { items = [], facts = {} } = status.state === 'succeeded' ? status : {};
  return {
    link: unsigned(items[0]?.url ?? null),
    code: status.state === 'failed' ? status.code : null,
    tokens: facts.usage?.completionTokens ?? null,
    seconds: facts.durationSeconds ?? null,
  };
}

/** Removes the query, because some vendors sign a link anew for each response. */
function unsigned(link: string | null): string | null {
  return link?.split('?')[0] ?? null;
}
