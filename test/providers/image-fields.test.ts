import { describe, expect, it } from 'vitest';
import { commonImageFields } from '../../src/http/images/image-body.ts';
import { parameterNames } from '../../src/domain/model-facts.ts';
import { providers, vendorImageFields } from '../../src/providers/index.ts';
import type { ProviderContext } from '../../src/providers/provider.ts';
import { imageRequest, submitContext } from './support.ts';
import { imageVendors, jobVendors } from './vendors.ts';

/** Every field that some adapter could know, each with a value that is recognised wherever it is sent. */
const asked = Object.fromEntries(
  [...vendorImageFields, ...commonImageFields, 'qualty'].map((name) => [name, `value of ${name}`]),
);

/** Names of the fields whose values an adapter puts into its request for this model. */
async function sentFor(provider: string, model: string): Promise<readonly string[]> {
  const sent: string[] = [];
  const request: ProviderContext['request'] = async ({ json, form }) => {
    sent.push(JSON.stringify([json ?? {}, ...(form?.values() ?? [])]));
    throw new Error('sent');
  };
  const context = submitContext({ request, baseUrl: 'http://127.0.0.1:9', model });
  const reference = { form: 'data', mediaType: 'image/png', base64: 'UE5H' } as const;
  const { image, imageTask } = providers[provider] ?? {};
  const calls = [[], [reference]].flatMap((images) => {
    const wanted = imageRequest({ prompt: 'a boat', images, extra: asked });
    return [image?.generate(wanted, context), imageTask?.submit(wanted, context)];
  });
  await Promise.allSettled(calls.filter((call) => call !== undefined));
  expect(sent).not.toEqual([]);
  return [...sent.join().matchAll(/value of (\w+)/g)].map(([, name = '']) => name);
}

/** Each row of the suite that has images, and models whose fields no model of those rows has. Mappings name their own. */
const models = [
  ...[...imageVendors, ...jobVendors.filter(({ name }) => name.includes('image'))]
    .map(({ name, model }) => [name.split(' ')[0] ?? '', model] as const)
    .filter(([name]) => providers[name]?.mapped !== true),
  ['ark', 'doubao-seedream-3-0-t2i-250415'],
  ['bfl', 'flux-2-flex'],
  ['bfl', 'flux-pro-1.1-ultra'],
  ['runway', 'seedream5_pro'],
  ['runway', 'grok_imagine_image_2'],
] as const;

describe.each(models)('an image of %s (%s)', (provider, model) => {
  it('is requested with no field that its adapter does not name', async () => {
    const { image, imageTask } = providers[provider] ?? {};
    const tables = [image?.facts, imageTask?.facts].filter((table) => table !== undefined);
    const named = new Set([...tables.flatMap(parameterNames), ...commonImageFields]);
    const sent = await sentFor(provider, model);
    expect(sent.filter((name) => !named.has(name))).toEqual([]);
    expect(sent).not.toContain('qualty');
  });
});

it('every field that an adapter names is sent for one of its models', async () => {
  const sent = new Set(
    (await Promise.all(models.map(([provider, model]) => sentFor(provider, model)))).flat(),
  );
  // Named so that its refusal, not a warning, says what to send in its place.
  const refused = ['sequential_image_generation'];
  expect([...vendorImageFields].filter((name) => !sent.has(name) && !refused.includes(name))).toEqual([]);
});
