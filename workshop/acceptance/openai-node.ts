import type * as Library from 'openai';
import { must, prompt, refusalOf } from './check.ts';
import type { Check, Client, Target } from './check.ts';
import { newestOpenaiNeeds, newestOpenaiVersion } from './newest-openai.ts';
import { picture } from './picture.ts';

/** The official client for Node, with its own retries and time limits. */
export async function openaiNode(): Promise<Client> {
  const library = await import('openai').catch(() => undefined);
  return clientWith('openai (Node)', library, 'the package openai is not installed');
}

/** Undefined: this Node is too old for it. */
export function newestOpenaiNode(library: typeof Library | undefined): Client {
  const reason = `it asks for Node ${newestOpenaiNeeds}, and this is ${process.versions.node}`;
  return clientWith(`openai ${newestOpenaiVersion} (Node)`, library, reason);
}

function clientWith(name: string, library: typeof Library | undefined, skipped: string): Client {
  return library === undefined ? { name, skipped } : { name, checks: checksWith(library) };
}

function checksWith(library: typeof Library): Check[] {
  return [...images(library), ...refusals(library)];
}

interface ClientOptions {
  readonly apiKey?: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly maxRetries?: number;
}

function clientOf({ default: OpenAI }: typeof Library, target: Target, options: ClientOptions = {}) {
  return new OpenAI({ apiKey: target.key, baseURL: target.baseUrl, ...options });
}

const base = ({ model, fields }: Target) => ({ ...fields, model, prompt });

interface Images {
  readonly data?: readonly { readonly b64_json?: string; readonly url?: string }[];
}

function expectImages({ data = [] }: Images): void {
  must(data.length === 1, `${data.length} images instead of 1`);
  must(
    data.every(({ b64_json, url }) => (b64_json ?? url ?? '') !== ''),
    'an image without data or url',
  );
}

function images(library: typeof Library): Check[] {
  const generate = async (target: Target) =>
    expectImages(await clientOf(library, target).images.generate(base(target)));
  const edit = async (target: Target, ...pictures: Buffer<ArrayBuffer>[]) => {
    const files = await Promise.all(
      pictures.map((bytes, index) => library.toFile(bytes, `${index}.png`, { type: 'image/png' })),
    );
    const [only] = files;
    const image = files.length === 1 && only !== undefined ? only : files;
    expectImages(await clientOf(library, target).images.edit({ ...base(target), image }));
  };
  const red = picture(200, 0, 0);
  const blue = picture(0, 0, 200);
  const lossy = (target: Target): Target => ({ ...target, baseUrl: target.lossyUrl() });

  return [
    { name: 'generate', cost: 'one', run: generate },
    {
      name: 'generate, answer lost, repeated by the client',
      cost: 'one',
      run: (target) => generate(lossy(target)),
    },
    { name: 'edit with one file', cost: 'some', run: (target) => edit(target, red) },
    { name: 'edit with several files', cost: 'some', run: (target) => edit(target, red, blue) },
    {
      name: 'edit, answer lost, repeated by the client',
      cost: 'some',
      run: (target) => edit(lossy(target), red),
    },
  ];
}

function refusals(library: typeof Library): Check[] {
  const { BadRequestError, AuthenticationError, APIConnectionTimeoutError } = library.default;
  const generate = (target: Target, more: object = {}, options: ClientOptions = {}) =>
    refusalOf(() => clientOf(library, target, options).images.generate({ ...base(target), ...more }));

  return [
    {
      name: 'a bad parameter is a BadRequestError that names it',
      cost: 'nothing',
      run: async (target) => {
        const { thrown, param, code } = await generate(target, { n: 0 });
        must(thrown instanceof BadRequestError, `not a BadRequestError: ${String(thrown)}`);
        must(param === 'n' && code === 'invalid_parameter', `param ${String(param)}, code ${String(code)}`);
      },
    },
    {
      name: 'a wrong key is an AuthenticationError',
      cost: 'nothing',
      run: async (target) => {
        const { thrown } = await generate(target, {}, { apiKey: 'sk-wrong' });
        must(thrown instanceof AuthenticationError, `not an AuthenticationError: ${String(thrown)}`);
      },
    },
    {
      name: 'a time limit that passes is an APIConnectionTimeoutError',
      cost: 'nothing',
      run: async (target) => {
        const silent = { ...target, baseUrl: target.silentUrl };
        const { thrown } = await generate(silent, {}, { timeout: 100, maxRetries: 0 });
        must(thrown instanceof APIConnectionTimeoutError, `not a timeout: ${String(thrown)}`);
      },
    },
    {
      name: 'an unknown model is refused',
      cost: 'nothing',
      run: async (target) => {
        const { code } = await generate(target, { model: 'no-such-model' });
        must(code === 'model_not_found', `code ${String(code)}`);
      },
    },
  ];
}
