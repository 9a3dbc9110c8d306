import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { writers } from '../../src/base/request-code.js';
import { enteredOf, fieldsOf, requestOf, templatesOf } from '../../src/pages/account/request.js';

const pricing = { currency: 'USD', factor: '1', lines: [] };
const video = {
  id: 'clip',
  kind: 'video' as const,
  pricing,
  capabilities: {
    resolutions: ['720p', '1080p'],
    ratios: ['16:9'],
    durations: { min: 4, max: 12, step: 2, default: 4, auto: false },
    inputs: { images: { max: 2 } },
  },
  facts: [{ fields: { seed: true, generate_audio: true, watermark: false }, sound: 'choice' }],
};
const image = {
  id: 'picture',
  kind: 'image' as const,
  pricing,
  capabilities: { sizes: ['1024x1024'], qualities: [], n: { max: 4 }, inputs: { images: { max: 1 } } },
  facts: [],
};

describe('the form of a model', () => {
  it('has exactly the fields that the model accepts', () => {
    const names = (model: Parameters<typeof fieldsOf>[0]) => fieldsOf(model).map(({ name }) => name);
    expect(names(video)).toEqual(['resolution', 'ratio', 'duration', 'seed', 'generate_audio']);
    expect(names(image)).toEqual(['size', 'n']);
    expect(names({ ...video, facts: [] })).toEqual(['resolution', 'ratio', 'duration']);
    expect(names({ ...image, capabilities: { inputs: {} } })).toEqual([]);
  });

  it('becomes a request without the empty fields', () => {
    const values = { resolution: '', duration: '6', seed: '7', generate_audio: true, watermark: true };
    const entered = { prompt: 'a boat', values, media: { images: ['https://a.example/1.png'], videos: [] } };
    expect(requestOf(video, entered)).toEqual({
      path: '/v1/videos/generations',
      body: {
        model: 'clip',
        prompt: 'a boat',
        duration: 6,
        images: ['https://a.example/1.png'],
        metadata: { seed: 7, generate_audio: true },
      },
    });
  });

  it('leaves out fields that only another model accepts', () => {
    const media = {
      images: ['https://a.example/1.png', 'https://a.example/2.png'],
      videos: ['https://a.example/1.mp4'],
    };
    const entered = { prompt: 'a boat', values: { size: '4K', resolution: '720p' }, media };
    expect(requestOf(image, entered).body).toEqual({
      model: 'picture',
      prompt: 'a boat',
      async: true,
      image: ['https://a.example/1.png'],
    });
    expect(requestOf(video, entered).body).not.toHaveProperty('videos');
  });

  it('makes an edit if an image is given', () => {
    const entered = { prompt: 'a boat', values: { n: '2' }, media: {} };
    const body = { model: 'picture', prompt: 'a boat', n: 2, async: true };
    expect(requestOf(image, entered)).toEqual({ path: '/v1/images/generations', body });
    const edit = requestOf(image, { ...entered, media: { images: ['data:image/png;base64,AA=='] } });
    expect(edit).toEqual({
      path: '/v1/images/edits',
      body: { ...body, image: ['data:image/png;base64,AA=='] },
    });
  });
});

describe('a stored request', () => {
  const stored = {
    kind: 'video' as const,
    model: 'clip',
    prompt: 'a boat',
    resolution: '720p',
    duration: 6,
    generateAudio: true,
    seed: 7,
    references: [],
    videos: [],
    audios: [],
    extra: {},
  };

  it('fills in the form from which it came', () => {
    const { entered, missing } = enteredOf(stored);
    expect(missing).toBe(0);
    expect(requestOf(video, entered).body).toEqual({
      model: 'clip',
      prompt: 'a boat',
      resolution: '720p',
      duration: 6,
      metadata: { seed: 7, generate_audio: true },
    });
  });

  it('keeps the roles of frames, and counts the files that were in the request', () => {
    const [firstFrame, lastFrame] = ['https://a.example/1.png', 'data:image/png;base64,… (900 characters)'];
    const { entered, missing } = enteredOf({ ...stored, firstFrame, lastFrame });
    expect([entered.values['input_type'], entered.media['images'], missing]).toEqual([
      'first_last_frame',
      [firstFrame],
      1,
    ]);
  });
});

it.each([video, image])('the templates of $id are requests that it can take', (model) => {
  const templates = templatesOf(model);
  expect(templates.length).toBeGreaterThan(0);
  for (const { prompt, values } of templates) {
    const known = new Map(fieldsOf(model).map((field) => [field.name, field]));
    for (const [name, value] of Object.entries(values)) {
      const { options = [value], range } = known.get(name) ?? { options: [] };
      expect([model.id, name, options]).toEqual([model.id, name, expect.arrayContaining([value])]);
      if (range !== undefined) expect(Number(value)).toBeGreaterThanOrEqual(range.min);
    }
    expect(prompt).not.toBe('');
  }
});

describe('a request as code', () => {
  const prompt = 'it\'s "quoted", $HOME `id` \\ """ \n <b>ü</b>';
  const body = { model: 'clip', prompt, metadata: { seed: 7 } };
  const asked = { origin: 'https://gateway.example', method: 'POST', path: '/v1/videos/generations', body };

  it('is the same body in every language, whatever was entered', () => {
    const curl = /-d ('[^]*)$/.exec(writers.curl(asked))?.[1] ?? '';
    expect(JSON.parse(execFileSync('sh', ['-c', `printf %s ${curl}`], { encoding: 'utf8' }))).toEqual(body);
    const literal = /JSON\.stringify\(([^]*)\),\n\}\);/.exec(writers.typescript(asked))?.[1] ?? '';
    expect(JSON.parse(literal)).toEqual(body);
    const raw = /json\.loads\(r"""([^]*)"""\)/.exec(writers.python(asked))?.[1] ?? '';
    expect(raw).not.toContain('"""');
    expect(JSON.parse(raw)).toEqual(body);
  });

  it('can be copied with its files, however large they are', () => {
    const image = `data:image/png;base64,${'A'.repeat(300_000)}`;
    const whole = { ...body, image: [image] };
    const curl = writers.curl({ ...asked, body: whole, isWhole: true });
    const sent = execFileSync('sh', { input: curl.replace(/^curl[^<]*/, 'cat '), encoding: 'utf8' });
    expect(JSON.parse(sent)).toEqual(whole);
  });

  it('holds no file, and no key', () => {
    const image = `data:image/png;base64,${'A'.repeat(5_000)}`;
    for (const write of Object.values(writers)) {
      const code = write({ ...asked, body: { ...body, image: [image] } });
      expect(code).toContain('data:image/png;base64,…');
      expect(code.length).toBeLessThan(1_000);
      expect(code).toContain('KEY');
    }
  });
});
