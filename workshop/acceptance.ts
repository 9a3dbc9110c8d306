import { Command } from 'commander';
import { generatePython, generateTypescript } from './acceptance/generated-clients.ts';
import { checkPythonClients, type Deployment } from './acceptance/python-clients.ts';
import { openStand } from './stand/stand.ts';
import { startOwnGateway } from './stand/own-gateway.ts';

/**
 * `npm run acceptance [-- --base-url URL --key KEY --model NAME --video-model NAME]`: checks a gateway with the
 * official Python clients, LiteLLM, and clients that third-party tools generate from the OpenAPI document. Without a
 * URL, it starts a gateway of its own. `npm test` covers the official Node clients.
 */

const command = new Command()
  .name('acceptance')
  .description(
    'Checks a gateway with openai, LiteLLM and Ark’s SDK for Python, and with clients that are generated from its OpenAPI document. ' +
      'Makes and pays for about twelve images and five videos. Nothing else should use the account during the run, because the checks read its balance.',
  )
  .option('--base-url <url>', 'the URL of a deployment (default: starts a gateway)')
  .option('--key <key>', 'an API key of the deployment')
  .option('--model <name>', 'an image model that takes several reference images', 'image')
  .option('--video-model <name>', 'a video model', 'video')
  .parse();

interface Options {
  readonly baseUrl?: string;
  readonly key?: string;
  readonly model: string;
  readonly videoModel: string;
}

const { baseUrl, key, model, videoModel } = command.opts<Options>();
if ((baseUrl === undefined) !== (key === undefined))
  command.error('--base-url and --key must be used together');
process.exitCode =
  baseUrl === undefined || key === undefined
    ? await checkOwnGateway()
    : await checkAll({ url: baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''), key, model, videoModel });

async function checkOwnGateway(): Promise<number> {
  const stand = await openStand();
  try {
    return await checkAll({ ...(await startOwnGateway(stand)), model, videoModel });
  } finally {
    await stand.close();
  }
}

async function checkAll(deployment: Deployment): Promise<number> {
  const report = (line: string): void => void process.stdout.write(`${line}\n`);
  const failed = await checkPythonClients(deployment, report);
  await generateTypescript(deployment);
  await generatePython(deployment);
  return failed === 0 ? 0 : 1;
}
