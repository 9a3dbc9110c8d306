import type * as FalLibrary from '@fal-ai/client';
import type * as ByteDanceLibrary from '@ai-sdk/bytedance';
import type * as CoreLibrary from 'ai';
import type ReplicateLibrary from 'replicate';
import { fetch } from 'undici';
import { z } from 'zod';
import { must, prompt, refusalOf } from './check.ts';
import type { Check, Client, Target } from './check.ts';
import { picture } from './picture.ts';

/** Clients that submit, and wait by themselves. */
export async function submittingClients(): Promise<Client[]> {
  const [replicate, fal, bytedance, core] = await Promise.all([
    import('replicate').catch(() => undefined),
    import('@fal-ai/client').catch(() => undefined),
    import('@ai-sdk/bytedance').catch(() => undefined),
    import('ai').catch(() => undefined),
  ]);
  const absent = 'its package is not installed';
  return [
    replicate === undefined
      ? { name: 'replicate', skipped: absent }
      : { name: 'replicate', checks: replicateChecks(replicate.default) },
    fal === undefined
      ? { name: '@fal-ai/client', skipped: absent }
      : { name: '@fal-ai/client', checks: falChecks(fal) },
    bytedance === undefined || core === undefined
      ? { name: '@ai-sdk/bytedance', skipped: absent }
      : { name: '@ai-sdk/bytedance', checks: aiSdkChecks(bytedance, core) },
  ];
}

const pollMs = 500;
/** The owner may be any word. */
const named = ({ videoModel = '' }: Target) => `any/${videoModel}` as const;

async function mustBeFile(url: unknown): Promise<void> {
  must(typeof url === 'string', `no address of a file: ${String(url)}`);
  const answer = await fetch(url);
  must(answer.ok && (await answer.arrayBuffer()).byteLength > 0, `the file is a ${answer.status}`);
}

function replicateChecks(Replicate: typeof ReplicateLibrary): Check[] {
  const clientOf = ({ key, baseUrl }: Target) => new Replicate({ auth: key, baseUrl, useFileOutput: false });
  return [
    {
      name: 'run',
      cost: 'some',
      run: async (target) => mustBeFile(await clientOf(target).run(named(target), { input: { prompt } })),
    },
    {
      name: 'run with a file, which it uploads',
      cost: 'some',
      async run(target) {
        const input = { prompt, image: new Blob([picture(200, 0, 0)], { type: 'image/png' }) };
        await mustBeFile(await clientOf(target).run(named(target), { input }));
      },
    },
    {
      name: 'run with data, and polls from the beginning',
      cost: 'some',
      async run(target) {
        const image = `data:image/png;base64,${picture(200, 0, 0).toString('base64')}`;
        const wait = { mode: 'poll', interval: pollMs } as const;
        await mustBeFile(await clientOf(target).run(named(target), { input: { prompt, image }, wait }));
      },
    },
    {
      name: 'a wrong key is a 401',
      cost: 'nothing',
      async run(target) {
        const { thrown } = await refusalOf(() =>
          clientOf({ ...target, key: 'sk-wrong' }).predictions.get('task_0'),
        );
        must(/status 401/.test(String(thrown)), String(thrown));
      },
    },
  ];
}

const resultSchema = z.object({ data: z.object({ video: z.object({ url: z.string() }) }) });

function falChecks({ createFalClient, ValidationError }: typeof FalLibrary): Check[] {
  const clientOf = ({ key, baseUrl }: Target) =>
    createFalClient({
      credentials: key,
      proxyUrl: { url: baseUrl.replace(/\/v1$/, '/fal'), when: 'always' },
    });
  return [
    {
      name: 'subscribe',
      cost: 'some',
      async run(target) {
        const made: unknown = await clientOf(target).subscribe(named(target), { input: { prompt } });
        await mustBeFile(resultSchema.parse(made).data.video.url);
      },
    },
    {
      name: 'a bad parameter is a ValidationError that names it',
      cost: 'nothing',
      async run(target) {
        const input = { prompt, seed: 'x' };
        const { thrown } = await refusalOf(() => clientOf(target).queue.submit(named(target), { input }));
        must(thrown instanceof ValidationError, `not a ValidationError: ${String(thrown)}`);
        must(thrown.getFieldErrors('seed').length === 1, JSON.stringify(thrown.fieldErrors));
      },
    },
  ];
}

/** Its own refuses addresses of this machine, where a deployment may be. */
async function downloadAnywhere({ url }: { readonly url: URL }) {
  const answer = await fetch(url);
  const mediaType = answer.headers.get('content-type') ?? undefined;
  return { data: new Uint8Array(await answer.arrayBuffer()), mediaType };
}

function aiSdkChecks(
  { createByteDance }: typeof ByteDanceLibrary,
  { experimental_generateVideo: generateVideo, APICallError }: typeof CoreLibrary,
): Check[] {
  const modelOf = ({ key, baseUrl, videoModel = '' }: Target) =>
    createByteDance({ apiKey: key, baseURL: baseUrl.replace(/\/v1$/, '/api/v3') }).video(videoModel);
  return [
    {
      name: 'generate a video',
      cost: 'some',
      async run(target) {
        const model = modelOf(target);
        const download = downloadAnywhere;
        const { video } = await generateVideo({ model, prompt, maxRetries: 0, download });
        must(video.uint8Array.byteLength > 0, 'an empty file');
      },
    },
    {
      name: 'an unknown model is an APICallError 400',
      cost: 'nothing',
      async run(target) {
        const model = modelOf({ ...target, videoModel: 'no-such-model' });
        const { thrown } = await refusalOf(() => generateVideo({ model, prompt, maxRetries: 0 }));
        must(APICallError.isInstance(thrown) && thrown.statusCode === 400, String(thrown));
      },
    },
  ];
}
