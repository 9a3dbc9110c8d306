import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { installFromPypi } from '../pypi-venv.ts';
import { askFor } from '../stand/http.ts';
import { startLossyProxy, type LossyProxy } from './lossy-proxy.ts';

export interface Deployment {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly videoModel: string;
}

const run = promisify(execFile);
const checkTimeoutMs = 900_000;
const program = fileURLToPath(new URL('python-clients.py', import.meta.url));
const packages = ['openai==3.57.0', 'litellm==1.110.2', 'volcengine-ark-runtime==5.0.54'];
const fields = { quality: 'low', size: '1024x1024' };
/** Upstreams bill by tokens, so responses to the same request may differ in cost by up to this factor. */
const sameCostFactor = 1.5;

/**
 * The expected cost of a check. `one` is the price of a single image, which is about the cost of the client's first
 * check.
 */
type Cost = 'one' | 'some' | 'nothing';

const videoChecks = [['video', 'some']] as const;
const allChecks = [
  ['generate', 'one'],
  ['lost', 'one'],
  ['edit-one', 'some'],
  ['edit-several', 'some'],
  ['bad-parameter', 'nothing'],
  ['wrong-key', 'nothing'],
  ['timeout', 'nothing'],
  ...videoChecks,
] as const;
const checksOf = { openai: allChecks, litellm: allChecks, volcenginesdkarkruntime: videoChecks } as const;

interface Check {
  readonly module: string;
  readonly id: string;
  readonly cost: Cost;
}

export async function checkPythonClients(
  deployment: Deployment,
  report: (line: string) => void,
): Promise<number> {
  const python = join(installFromPypi('acceptance', packages), 'python3');
  const proxy = await startLossyProxy(`${deployment.url}/v1`);
  let failed = 0;
  for (const [module, checks] of Object.entries(checksOf)) {
    let oneImage: number | undefined;
    for (const [id, cost] of checks) {
      const check = { module, id, cost };
      const before = await balanceOf(deployment);
      const problem = await runCheck(python, check, {
        ...deployment,
        baseUrl: addressFor(id, deployment, proxy),
      });
      const paid = before - (await balanceOf(deployment));
      if (cost === 'one') oneImage ??= paid;
      const wrong = problem ?? wrongCost(check, paid, oneImage);
      if (wrong !== undefined) failed += 1;
      report(
        `${wrong === undefined ? 'ok  ' : 'FAIL'}  ${module}: ${id} (${paid.toFixed(6)}) ${wrong ?? ''}`.trimEnd(),
      );
    }
  }
  await proxy.close();
  return failed;
}

function addressFor(check: string, { url }: Deployment, proxy: LossyProxy): string {
  if (check === 'lost') return proxy.lossyUrl();
  return check === 'timeout' ? proxy.silentUrl : `${url}/v1`;
}

async function runCheck(
  python: string,
  { module, id }: Check,
  { baseUrl, key, model, videoModel }: Deployment & { readonly baseUrl: string },
): Promise<string | undefined> {
  try {
    // Pass the key on standard input, because every process on the machine can read command lines.
    const running = run(python, [program, module, id], { timeout: checkTimeoutMs });
    running.child.stdin?.end(
      JSON.stringify({ base_url: baseUrl, key, model, video_model: videoModel, fields }),
    );
    await running;
    return undefined;
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    return words.split('\n').slice(-3).join(' ');
  }
}

function wrongCost({ cost }: Check, paid: number, oneImage = paid): string | undefined {
  if (cost === 'nothing' && paid !== 0) return 'costs something';
  return cost === 'one' && paid > oneImage * sameCostFactor ? 'is paid twice' : undefined;
}

async function balanceOf({ url, key }: Deployment): Promise<number> {
  const { available } = await askFor(z.looseObject({ available: z.string() }), `${url}/v1/balance`, {
    token: key,
  });
  return Number(available);
}
