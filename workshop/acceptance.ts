import { join } from 'node:path';
import { Command } from 'commander';
import { aiSdk } from './acceptance/ai-sdk.ts';
import { startLossyProxy } from './acceptance/lossy-proxy.ts';
import { newestOpenai } from './acceptance/newest-openai.ts';
import { newestOpenaiNode, openaiNode } from './acceptance/openai-node.ts';
import { pythonClients } from './acceptance/python-clients.ts';
import { runChecks } from './acceptance/run.ts';
import { submittingClients } from './acceptance/submitted-videos.ts';
import { videoClients } from './acceptance/videos.ts';
import { installFromPypi } from './pypi-venv.ts';

/** `npm run acceptance -- --base-url https://… --key sk-…`: real clients against a real deployment. */

const command = new Command()
  .name('acceptance')
  .description(
    'Checks a deployment with the official clients: openai for Node and Python, @ai-sdk/openai-compatible and LiteLLM, and with --video-model @openrouter/sdk, replicate, @fal-ai/client, @ai-sdk/bytedance and Ark’s SDK for Python. ' +
      'Makes about five images for each client, and up to three videos, and pays for them. Nothing else should use the account meanwhile: the checks look at its balance.',
  )
  .requiredOption('--base-url <url>', 'the address of the deployment, with or without /v1')
  .requiredOption('--key <key>', 'an API key of it')
  .option('--model <name>', 'an image model that takes several reference images', 'gpt-image-2.5-flare')
  .option(
    '--video-model <name>',
    'a video model that takes a first frame: makes videos with each client that has them',
  )
  .option(
    '--field <name=value>',
    'a field of every request; may be repeated',
    (text: string, fields: string[]) => [...fields, text],
    ['quality=low', 'size=1024x1024'],
  )
  .option(
    '--python <program>',
    'a Python that has openai, litellm and volcengine-ark-runtime; absent: they are installed from PyPI',
  )
  .parse();

interface Options {
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
  readonly videoModel?: string;
  readonly field: readonly string[];
  readonly python?: string;
}

const options = command.opts<Options>();
const baseUrl = options.baseUrl.replace(/\/+$/, '').replace(/(?:\/v1)?$/, '/v1');
const proxy = await startLossyProxy(baseUrl);
const { videoModel } = options;
const packages = ['openai==3.57.0', 'litellm==1.110.2', 'volcengine-ark-runtime==5.0.54'];
const python = options.python ?? join(installFromPypi('acceptance', packages), 'python3');
const newest = await newestOpenai();
const clients = [
  await openaiNode(),
  newestOpenaiNode(newest),
  await aiSdk(),
  ...(videoModel === undefined ? [] : [...(await videoClients(newest)), ...(await submittingClients())]),
  ...(await pythonClients(python, { withVideos: videoModel !== undefined })),
];
const tally = await runChecks(
  clients,
  {
    baseUrl,
    key: options.key,
    model: options.model,
    ...(videoModel === undefined ? {} : { videoModel }),
    fields: Object.fromEntries(options.field.map(splitField)),
    lossyUrl: () => proxy.lossyUrl(),
    silentUrl: proxy.silentUrl,
  },
  (line) => process.stdout.write(`${line}\n`),
);
await proxy.close();
process.stdout.write(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped\n`);
process.exitCode = tally.failed === 0 && tally.passed > 0 ? 0 : 1;

function splitField(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at <= 0) command.error(`--field must be name=value, not ${text}`);
  return [text.slice(0, at), text.slice(at + 1)];
}
