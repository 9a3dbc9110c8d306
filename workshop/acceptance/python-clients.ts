import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CheckFailed } from './check.ts';
import type { Check, Client, Target } from './check.ts';

const run = promisify(execFile);
const checkTimeoutMs = 900_000;
const program = fileURLToPath(new URL('python-clients.py', import.meta.url));

/** The official client for Python, and LiteLLM with the deployment as its upstream; with videos, Ark's too. */
export async function pythonClients(
  python: string,
  { withVideos }: { readonly withVideos: boolean },
): Promise<Client[]> {
  const all = withVideos ? [...imageChecks, ...videoChecks] : imageChecks;
  return Promise.all([
    pythonClient(python, { name: 'openai (Python)', module: 'openai', checks: all }),
    pythonClient(python, { name: 'LiteLLM', module: 'litellm', checks: all }),
    ...(withVideos
      ? [pythonClient(python, { name: 'Ark (Python)', module: arkModule, checks: videoChecks })]
      : []),
  ]);
}

const arkModule = 'volcenginesdkarkruntime';

type Named = readonly [id: string, name: string, cost: Check['cost']];

const videoChecks: readonly Named[] = [['video', 'create, poll and fetch a video', 'some']];

const imageChecks: readonly Named[] = [
  ['generate', 'generate', 'one'],
  ['lost', 'generate, answer lost, repeated by the client', 'one'],
  ['edit-one', 'edit with one file', 'some'],
  ['edit-several', 'edit with several files', 'some'],
  ['bad-parameter', 'a bad parameter is a BadRequestError', 'nothing'],
  ['wrong-key', 'a wrong key is an AuthenticationError', 'nothing'],
  ['timeout', 'a time limit that passes is the timeout error of the client', 'nothing'],
];

async function pythonClient(
  python: string,
  { name, module, checks }: { name: string; module: string; checks: readonly Named[] },
): Promise<Client> {
  try {
    await run(python, ['-c', `import ${module}`], { timeout: checkTimeoutMs });
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { name, skipped: isAbsent ? `there is no ${python}` : `${python} has no package ${module}` };
  }
  return {
    name,
    checks: checks.map(([id, title, cost]) => ({
      name: title,
      cost,
      run: (target) => runCheck(python, { module, id, target }),
    })),
  };
}

function addressFor(check: string, target: Target): string {
  if (check === 'lost') return target.lossyUrl();
  return check === 'timeout' ? target.silentUrl : target.baseUrl;
}

async function runCheck(
  python: string,
  { module, id, target }: { module: string; id: string; target: Target },
): Promise<void> {
  const { key, model, videoModel, fields } = target;
  const baseUrl = addressFor(id, target);
  try {
    // Over standard input: a key on a command line could be read by every process of the machine.
    const running = run(python, [program, module, id], { timeout: checkTimeoutMs });
    running.child.stdin?.end(
      JSON.stringify({ base_url: baseUrl, key, model, video_model: videoModel, fields }),
    );
    await running;
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new CheckFailed(words.split('\n').slice(-3).join(' '));
  }
}
