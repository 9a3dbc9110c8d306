import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram, exitStatuses } from '../../src/cli/program.js';
import { addOperatorCommands } from '../../src/cli/commands.ts';
import { imageFactsSchema, videoFactsSchema } from '../../src/models/model-facts.ts';
import { providers } from '../../src/providers/index.ts';

async function run(...line: string[]): Promise<string> {
  const printed: string[] = [];
  const none = (): never => {
    throw new Error('it needs nothing');
  };
  const program: Command = createProgram();
  const context = {
    print: (text: string) => void printed.push(text),
    warn: () => undefined,
    isTerminal: false,
    isColoured: false,
    now: Date.now,
    environment: none,
    loadConfig: none,
    loadProviders: () => Promise.resolve(providers),
    rotateSecrets: none,
    acceptClock: none,
    diagnose: none,
    fail: none,
  };
  await addOperatorCommands(program, context, line);
  await program.parseAsync(['vendors', 'show', ...line.slice(2)], { from: 'user' });
  return printed.join('\n');
}

describe('vendors show', () => {
  const show = async (...line: string[]) => run('vendors', 'show', ...line);

  it('lists every vendor', async () => {
    const rows: { vendor: string }[] = JSON.parse(await show('-o', 'json'));
    expect(rows.map(({ vendor }) => vendor)).toEqual(Object.keys(providers));
    expect(rows).toContainEqual({
      vendor: 'minimax',
      videos: 'yes',
      images: 'at once',
      cancel: 'queued',
      list: 20,
      callback: 'yes',
      link_seconds: 3600,
    });
  });

  it('prints the table of one vendor', async () => {
    expect(await show('minimax')).toMatch(/\^T2V- +0 +0 +0 +0 +720p +16:9 +6 +never\n/);
    expect(await show('runway')).toMatch(/\nothers( +-)+\nMODEL +IMAGES +/);
    expect(await show('openai', '-o', 'wide')).toMatch(
      /\ngpt-image +- +16 +true +1024x1024, .* auto, high, medium, low +background, /,
    );
    expect(await show('fal')).toContain('as a task');
  });

  it.each(Object.entries(providers).filter(([, { video }]) => typeof video?.facts === 'object'))(
    'prints %s as JSON, which gateway.yaml accepts',
    async (vendor) => {
      const { models } = JSON.parse(await show(vendor, '-o', 'json'));
      expect(models.length).toBeGreaterThan(0);
      for (const { model, facts } of models) {
        const read = videoFactsSchema.safeParse(facts);
        expect([model, read.error?.issues ?? []]).toEqual([model, []]);
        expect(read.data).toEqual(facts);
      }
    },
  );

  it.each(
    Object.entries(providers).filter(
      ([, { image, imageTask }]) => typeof (image ?? imageTask)?.facts === 'object',
    ),
  )('of the images of %s, too', async (vendor) => {
    const { image_models: models } = JSON.parse(await show(vendor, '-o', 'json'));
    expect(models.length).toBeGreaterThan(0);
    for (const { model, facts } of models) {
      const read = imageFactsSchema.safeParse(facts);
      expect([model, read.error?.issues ?? []]).toEqual([model, []]);
      expect(read.data).toEqual(facts);
    }
  });

  it('shows what one model accepts', async () => {
    expect(JSON.parse(await show('runway', '--model', 'gen4.5', '-o', 'json'))).toMatchObject({
      vendor: 'runway',
      model: 'gen4.5',
      facts: { media: { frames: 1 }, seconds: { min: 2, max: 10 } },
    });
    expect(await show('runway', '--model', 'gen4.5')).toMatch(/resolutions +720p\n/);
    const image = await show('runway', '--model', 'muse_image', '-o', 'json');
    expect(JSON.parse(image).facts).toMatchObject({ images: { max: 10 }, references: { mask: false } });
  });

  it.each([
    [['nobody'], 'not_found', /There is no vendor nobody\. The vendors are ark, /],
    [['--model', 'x'], 'usage', /Specify the vendor/],
    [['fal', '--model', 'x'], 'not_found', /no table of models/],
  ] as const)('%j is refused', async (line, ending, words) => {
    await expect(show(...line)).rejects.toMatchObject({
      status: exitStatuses[ending].status,
      message: expect.stringMatching(words),
    });
  });
});
