import { setTimeout as sleep } from 'node:timers/promises';
import type * as OpenaiLibrary from 'openai';
import type * as OpenrouterLibrary from '@openrouter/sdk';
import { must, prompt, refusalOf } from './check.ts';
import type { Check, Client, Target } from './check.ts';
import { newestOpenaiVersion } from './newest-openai.ts';

/** The official clients of other services' video interfaces, as far as npm has them. */
export async function videoClients(newest?: typeof OpenaiLibrary): Promise<Client[]> {
  const [openai, openrouter] = await Promise.all([
    import('openai').catch(() => undefined),
    import('@openrouter/sdk').catch(() => undefined),
  ]);
  return [
    clientFor('openai videos (Node)', openai, openaiChecks),
    ...(newest === undefined
      ? []
      : [clientFor(`openai ${newestOpenaiVersion} videos (Node)`, newest, openaiChecks)]),
    clientFor('@openrouter/sdk videos', openrouter, openrouterChecks),
  ];
}

function clientFor<Library>(
  name: string,
  library: Library | undefined,
  checksWith: (library: Library) => Check[],
): Client {
  return library === undefined
    ? { name, skipped: 'its package is not installed' }
    : { name, checks: checksWith(library) };
}

const pollMs = 500;
const renderMs = 900_000;

/** Asks until the render has ended. */
async function ended<Video>(ask: () => Promise<Video>, isOver: (video: Video) => boolean): Promise<Video> {
  const endsAt = Date.now() + renderMs;
  for (;;) {
    const video = await ask();
    if (isOver(video)) return video;
    must(Date.now() < endsAt, `it has not ended within ${renderMs / 1000} s`);
    await sleep(pollMs);
  }
}

function openaiChecks({ default: OpenAI }: typeof OpenaiLibrary): Check[] {
  const videosOf = ({ key, baseUrl }: Target) => new OpenAI({ apiKey: key, baseURL: baseUrl }).videos;
  return [
    {
      name: 'create, poll, list and fetch a video',
      cost: 'some',
      async run(target) {
        const videos = videosOf(target);
        const { id } = await videos.create({ model: target.videoModel ?? '', prompt });
        const { status, error } = await ended(
          () => videos.retrieve(id),
          (video) => video.status === 'completed' || video.status === 'failed',
        );
        must(status === 'completed', `it is ${status}: ${error?.message ?? ''}`);
        const content = await videos.downloadContent(id);
        must((await content.arrayBuffer()).byteLength > 0, 'an empty file');
        const [newest] = (await videos.list({ limit: 1 })).data;
        must(newest?.id === id, 'the list does not begin with it');
        const { thrown } = await refusalOf(() => videos.downloadContent(id, { variant: 'thumbnail' }));
        must(thrown instanceof OpenAI.NotFoundError, `not a NotFoundError: ${String(thrown)}`);
      },
    },
    {
      name: 'an unknown video model is a BadRequestError that names it',
      cost: 'nothing',
      async run(target) {
        const create = () => videosOf(target).create({ model: 'no-such-model', prompt });
        const { thrown, param } = await refusalOf(create);
        must(thrown instanceof OpenAI.BadRequestError, `not a BadRequestError: ${String(thrown)}`);
        must(param === 'model', `param ${String(param)}`);
      },
    },
  ];
}

function openrouterChecks({ OpenRouter }: typeof OpenrouterLibrary): Check[] {
  const videosOf = ({ key, baseUrl }: Target) =>
    new OpenRouter({ apiKey: key, serverURL: baseUrl.replace(/\/v1$/, '/api/v1') }).videoGeneration;
  const over = new Set<string>(['completed', 'failed', 'cancelled', 'expired']);
  return [
    {
      name: 'create, poll and fetch a video',
      cost: 'some',
      async run(target) {
        const videos = videosOf(target);
        const videoGenerationRequest = { model: target.videoModel ?? '', prompt };
        const { id: jobId } = await videos.generate({ videoGenerationRequest });
        const { status, error } = await ended(
          () => videos.getGeneration({ jobId }),
          (video) => over.has(video.status),
        );
        must(status === 'completed', `it is ${status}: ${error ?? ''}`);
        const content = await videos.getVideoContent({ jobId });
        must((await new Response(content).arrayBuffer()).byteLength > 0, 'an empty file');
      },
    },
    {
      name: 'the video model is in its list',
      cost: 'nothing',
      async run(target) {
        const { data } = await videosOf(target).listVideosModels();
        must(
          data.some(({ id }) => id === target.videoModel),
          'it is not',
        );
      },
    },
    {
      name: 'a wrong key is an UnauthorizedResponseError',
      cost: 'nothing',
      async run(target) {
        const stranger = videosOf({ ...target, key: 'sk-wrong' });
        const { name } = await refusalOf(() => stranger.getGeneration({ jobId: 'task_0' }));
        must(name === 'UnauthorizedResponseError', `a ${String(name)}`);
      },
    },
  ];
}
