import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';

import { reasonIn, runCommand } from '../../../src/local/servers/run-command.ts';
import { cacheDir, type Stand } from '../../stand/stand.ts';

const portkeyPackage = '@portkey-ai/gateway@1.15.2';
/** Later releases need packages that some package indexes do not have. */
const litellmPackage = 'litellm[proxy]==1.101.6';
const installTimeoutMs = 900_000;
const litellmReadyMs = 180_000;
const peersDir = join(cacheDir, 'bench-peers');
const peerKey = 'sk-bench-peer';

export interface ImagePeer {
  readonly name: string;
  readonly version: string;
  readonly process: string;
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

export async function startPortkey(stand: Stand, upstream: string): Promise<ImagePeer> {
  const directory = join(peersDir, 'portkey');
  const program = join(directory, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  if (!existsSync(program)) {
    await mkdir(directory, { recursive: true });
    const flags = ['--prefix', directory, '--ignore-scripts', '--no-audit', '--no-fund'];
    await install('npm', ['install', ...flags, portkeyPackage]);
  }
  const port = await stand.freePort();
  const origin = `http://127.0.0.1:${port}`;
  await stand.startProgram({
    name: 'portkey',
    script: process.execPath,
    args: [program, `--port=${port}`, '--headless'],
    environment: { NODE_ENV: 'production' },
    probe: () => expectAnswer(`${origin}/`),
  });
  return {
    name: 'Portkey gateway',
    version: portkeyPackage,
    process: 'portkey',
    origin,
    headers: {
      authorization: 'Bearer mock',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
    },
  };
}

export async function startLitellm(stand: Stand, upstream: string, model: string): Promise<ImagePeer> {
  const directory = join(peersDir, 'litellm');
  const bin = join(directory, 'bin');
  if (!existsSync(join(bin, 'litellm'))) {
    await mkdir(peersDir, { recursive: true });
    await install('python3', ['-m', 'venv', directory]);
    await install(join(bin, 'pip'), ['install', '--quiet', litellmPackage]);
  }
  const port = await stand.freePort();
  const origin = `http://127.0.0.1:${port}`;
  const config = join(stand.directory, 'litellm.yaml');
  await writeFile(
    config,
    `model_list:
  - model_name: ${model}
    litellm_params: { model: openai/dall-e-3, api_base: "${upstream}/v1", api_key: mock }
litellm_settings: { telemetry: false }
general_settings: { master_key: ${peerKey} }
`,
  );
  await stand.startProgram({
    name: 'litellm',
    script: join(bin, 'litellm'),
    args: ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
    environment: {
      HOME: stand.directory,
      // Keeps LiteLLM from fetching prices from the network at startup.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_LOG: 'ERROR',
    },
    probe: () => expectAnswer(`${origin}/health/liveliness`),
    readyWithinMs: litellmReadyMs,
  });
  return {
    name: 'LiteLLM proxy',
    version: litellmPackage,
    process: 'litellm',
    origin,
    headers: { authorization: `Bearer ${peerKey}` },
  };
}

async function expectAnswer(url: string): Promise<void> {
  const { statusCode, body } = await request(url, { headersTimeout: 2_000 });
  await body.dump();
  if (statusCode !== 200) throw new Error(`GET ${url}: ${statusCode}`);
}

async function install(command: string, args: readonly string[]): Promise<void> {
  console.error(`installing: ${args.at(-1) ?? ''}`);
  const result = await runCommand([command, ...args], { environment: process.env }, installTimeoutMs);
  if (!result.ok) throw new Error(`${command} ${args.at(-1)}: ${reasonIn(result.output)}`);
}
