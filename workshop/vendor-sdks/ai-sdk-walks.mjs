import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * The newest AI SDK providers create a video or image on the simulator, poll it and download the result. They run on
 * the Node version that they require: `node ai-sdk-walks.mjs FOLDER SIMULATOR`. Prints one line per mismatch.
 */

const [, , folder = '', simulator = ''] = process.argv;
const resolve = createRequire(`${folder}/`).resolve;
/** @param {string} name */
const load = (name) => import(pathToFileURL(resolve(name)).href);

const prompt = 'a boat';
const poll = { pollIntervalMs: 100, pollTimeoutMs: 60_000 };
/** @param {string} path */
const at = (path) => ({ apiKey: 'test-key', baseURL: simulator + path });

/** @type {Record<string, (library: any) => object>} */
const videos = {
  '@ai-sdk/alibaba': ({ createAlibaba }) => ({
    model: createAlibaba({ ...at(''), videoBaseURL: `${simulator}/dashscope` }).video('wan2.6-t2v'),
    providerOptions: { alibaba: poll },
  }),
  '@ai-sdk/black-forest-labs': ({ createBlackForestLabs }) => ({
    model: createBlackForestLabs({ ...at('/bfl/v1'), pollIntervalMillis: 100 }).video('flux-3-video'),
  }),
  '@ai-sdk/bytedance': ({ createByteDance }) => ({
    model: createByteDance(at('/ark/api/v3')).video('dreamina-seedance-2-0-260128'),
    providerOptions: { bytedance: poll },
  }),
  '@ai-sdk/google': ({ createGoogle, createGoogleGenerativeAI }) => ({
    model: (createGoogle ?? createGoogleGenerativeAI)(at('/google/v1beta')).video('veo-3.1-generate-preview'),
    providerOptions: { google: poll },
  }),
  '@ai-sdk/xai': ({ createXai }) => ({
    model: createXai(at('/xai/v1')).video('grok-imagine-video'),
    providerOptions: { xai: poll },
  }),
};

/** @type {Record<string, (library: any) => unknown>} */
const images = {
  '@ai-sdk/black-forest-labs': ({ createBlackForestLabs }) =>
    createBlackForestLabs({ ...at('/bfl/v1'), pollIntervalMillis: 100 }).image('flux-2-pro'),
  '@ai-sdk/bytedance': ({ createByteDance }) =>
    createByteDance(at('/ark/api/v3')).image('seedream-5-0-260128'),
  '@ai-sdk/google': ({ createGoogle, createGoogleGenerativeAI }) =>
    (createGoogle ?? createGoogleGenerativeAI)(at('/google/v1beta')).image('gemini-3-pro-image'),
  '@ai-sdk/openai': ({ createOpenAI }) => createOpenAI(at('/openai/v1')).image('gpt-image-2'),
  '@ai-sdk/xai': ({ createXai }) => createXai(at('/xai/v1')).image('grok-imagine-image'),
};

/**
 * The AI SDK refuses addresses on this machine, where the simulator runs.
 *
 * @param {{ readonly url: URL }} asked
 */
async function download({ url }) {
  // Google's links need the key. The others ignore it.
  const answer = await fetch(url, { headers: { 'x-goog-api-key': 'test-key' } });
  if (!answer.ok) throw new Error(`the link of the result answers ${answer.status}`);
  const mediaType = answer.headers.get('content-type') ?? undefined;
  return { data: new Uint8Array(await answer.arrayBuffer()), mediaType };
}

/**
 * Returns the problem, or undefined.
 *
 * @param {() => Promise<{ readonly mediaType: string; readonly uint8Array: Uint8Array }>} walk
 */
async function mistake(walk) {
  try {
    const { mediaType, uint8Array } = await walk();
    return uint8Array.length > 0 ? undefined : `an empty ${mediaType}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const { experimental_generateVideo: generateVideo, generateImage } = await load('ai');
/** @type {(name: string, optionsOf: (library: any) => object) => Promise<any>} */
const videoBy = async (name, optionsOf) => {
  const options = { ...optionsOf(await load(name)), prompt, download, maxRetries: 0 };
  return (await generateVideo(options)).video;
};
/** @type {(name: string, modelOf: (library: any) => unknown) => Promise<any>} */
const imageBy = async (name, modelOf) =>
  (await generateImage({ model: modelOf(await load(name)), prompt, maxRetries: 0 })).image;

const walks = [
  ...Object.entries(videos).map(([name, of]) => ({
    name: `${name}, a video`,
    walk: () => videoBy(name, of),
  })),
  ...Object.entries(images).map(([name, of]) => ({
    name: `${name}, an image`,
    walk: () => imageBy(name, of),
  })),
];
for (const { name, walk } of walks) {
  const wrong = await mistake(walk);
  if (wrong === undefined) process.stderr.write(`${name}: created, polled and downloaded\n`);
  else process.stdout.write(`${name}: ${wrong.split('\n')[0]}\n`);
}
