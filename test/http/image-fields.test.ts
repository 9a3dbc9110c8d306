import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { knownImageFields } from '../../src/http/images/image-body.ts';

const providers = fileURLToPath(new URL('../../src/providers/', import.meta.url));
const fieldList = /(?:const \w*[fF]ields = |\bfields: )\[([^\]]*)\]/g;

/** What the image adapters list as fields that they pass on. */
function passedOn(): ReadonlySet<string> {
  const files = readdirSync(providers, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /image[\w-]*\.ts$|^openai\//.test(file) && !file.startsWith('shared'),
  );
  const lists = files.flatMap((file) => [...readFileSync(`${providers}${file}`, 'utf8').matchAll(fieldList)]);
  return new Set(
    lists.flatMap(([, list = '']) => [...list.matchAll(/'(\w+)'/g)].map(([, name = '']) => name)),
  );
}

it('no field that an image adapter passes on is called unknown', () => {
  const passed = passedOn();
  for (const name of ['user', 'prompt_extend', 'optimize_prompt_options']) expect(passed).toContain(name);
  expect([...passed].filter((name) => !knownImageFields.has(name))).toEqual([]);
});

it('a misspelt one is', () => {
  for (const name of ['qualty', 'sizes', 'prompts']) expect(knownImageFields).not.toContain(name);
});
