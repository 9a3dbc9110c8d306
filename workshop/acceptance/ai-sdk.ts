import { randomUUID } from 'node:crypto';
import type * as ProviderLibrary from '@ai-sdk/openai-compatible';
import type * as CoreLibrary from 'ai';
import { must, prompt, refusalOf } from './check.ts';
import type { Check, Client, Target } from './check.ts';
import { picture } from './picture.ts';

/**
 * `@ai-sdk/openai-compatible` through `generateImage` of `ai`. It repeats a failed or lost request and does not say
 * so: a caller who does not want to pay twice sends an Idempotency-Key, as these checks do.
 */
export async function aiSdk(): Promise<Client> {
  const name = '@ai-sdk/openai-compatible';
  const [provider, core] = await Promise.all([
    import('@ai-sdk/openai-compatible').catch(() => undefined),
    import('ai').catch(() => undefined),
  ]);
  if (provider === undefined || core === undefined)
    return { name, skipped: 'the packages ai and @ai-sdk/openai-compatible are not installed' };
  return { name, checks: checksWith(provider, core) };
}

function checksWith(
  { createOpenAICompatible }: typeof ProviderLibrary,
  { generateImage, APICallError }: typeof CoreLibrary,
): Check[] {
  const modelOf = ({ baseUrl, key, model }: Target) =>
    createOpenAICompatible({ name: 'mediary', baseURL: baseUrl, apiKey: key }).imageModel(model);
  const generate = async (target: Target, images: Buffer[] = []): Promise<void> => {
    const { images: made } = await generateImage({
      model: modelOf(target),
      prompt: images.length === 0 ? prompt : { text: prompt, images },
      providerOptions: { mediary: target.fields },
      headers: { 'idempotency-key': randomUUID() },
    });
    must(made.length === 1 && made.every(({ base64 }) => base64 !== ''), 'no image');
  };
  const red = picture(200, 0, 0);
  const blue = picture(0, 0, 200);

  return [
    { name: 'generate', cost: 'one', run: (target) => generate(target) },
    {
      name: 'generate, answer lost, repeated by the client',
      cost: 'one',
      run: (target) => generate({ ...target, baseUrl: target.lossyUrl() }),
    },
    { name: 'edit with one file', cost: 'some', run: (target) => generate(target, [red]) },
    { name: 'edit with several files', cost: 'some', run: (target) => generate(target, [red, blue]) },
    {
      name: 'a bad parameter is an APICallError 400 with our words, and is not repeated',
      cost: 'nothing',
      run: async (target) => {
        const { thrown } = await refusalOf(() =>
          generateImage({ model: modelOf(target), prompt, size: '1x99999' }),
        );
        must(APICallError.isInstance(thrown), `not an APICallError: ${String(thrown)}`);
        must(thrown.statusCode === 400 && !thrown.isRetryable, `status ${thrown.statusCode}`);
        must(/size/.test(thrown.message), thrown.message);
      },
    },
    {
      name: 'a wrong key is an APICallError 401',
      cost: 'nothing',
      run: async (target) => {
        const { thrown } = await refusalOf(() =>
          generateImage({ model: modelOf({ ...target, key: 'sk-wrong' }), prompt }),
        );
        must(APICallError.isInstance(thrown) && thrown.statusCode === 401, String(thrown));
      },
    },
  ];
}
