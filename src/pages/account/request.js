/** @typedef {import('./types.js').Model} Model */

/**
 * The value of a form field is one of `options`, or a number within `range`.
 * @typedef {{
 *   name: string, title: string, path: 'body' | 'metadata',
 *   options?: readonly string[], range?: { min: number, max: number, step: number }, isFlag?: boolean,
 * }} Field
 */

/**
 * @param {Model} model
 * @returns {Field[]}
 */
export function fieldsOf({ kind, capabilities, facts }) {
  const { resolutions = [], ratios = [], durations, sizes = [], qualities = [], n } = capabilities;
  const inputTypes = (capabilities.input_types ?? []).filter((type) => type !== 'text_to_video');
  if (kind === 'image') {
    const count = n !== undefined && n.max > 1 ? { min: 1, max: n.max, step: 1 } : undefined;
    return [
      ...choice('size', 'Size', sizes),
      ...choice('quality', 'Quality', qualities),
      ...(count === undefined
        ? []
        : [{ name: 'n', title: 'How many', path: /** @type {const} */ ('body'), range: count }]),
    ];
  }
  /** @param {string} name */
  const takes = (name) => facts.some(({ fields }) => fields?.[name] === true);
  const hasSound = takes('generate_audio') && facts.some(({ sound }) => sound === 'choice');
  return [
    ...choice('input_type', 'Images are', inputTypes.length > 1 ? inputTypes : []),
    ...choice('resolution', 'Resolution', resolutions),
    ...choice('ratio', 'Ratio', ratios),
    ...(durations === undefined
      ? []
      : [{ name: 'duration', title: 'Seconds', path: /** @type {const} */ ('body'), range: durations }]),
    ...(takes('seed')
      ? [
          {
            name: 'seed',
            title: 'Seed',
            path: /** @type {const} */ ('metadata'),
            range: { min: 0, max: 2 ** 31 - 1, step: 1 },
          },
        ]
      : []),
    ...(hasSound ? [flag('generate_audio', 'With sound')] : []),
    ...(takes('return_last_frame') ? [flag('return_last_frame', 'Return the last frame')] : []),
    ...(takes('watermark') ? [flag('watermark', 'Watermark')] : []),
  ];
}

/**
 * @param {string} name
 * @param {string} title
 * @param {readonly string[]} options
 * @returns {Field[]}
 */
function choice(name, title, options) {
  return options.length === 0 ? [] : [{ name, title, path: 'body', options }];
}

/**
 * @param {string} name
 * @param {string} title
 * @returns {Field}
 */
function flag(name, title) {
  return { name, title, path: 'metadata', isFlag: true };
}

/**
 * Builds the request for the model. Empty entries are left out of `values`. `media` contains URLs and data URLs.
 *
 * @param {Model} model
 * @param {{ prompt: string, values: Record<string, string | boolean>, media: Record<string, readonly string[]> }}
 * entered
 * @returns {{ path: string, body: Record<string, unknown> }}
 */
export function requestOf(model, { prompt, values, media }) {
  /** @type {{ body: Record<string, unknown>, metadata: Record<string, unknown> }} */
  const parts = { body: {}, metadata: {} };
  for (const { name, path, range, options } of fieldsOf(model)) {
    const value = values[name];
    if (value === undefined || value === '' || value === false) continue;
    // The value may have been chosen for another model.
    if (options !== undefined && !options.some((option) => option === value)) continue;
    parts[path][name] = range === undefined ? value : Number(value);
  }
  const metadata = Object.keys(parts.metadata).length === 0 ? {} : { metadata: parts.metadata };
  const base = { model: model.id, prompt, ...parts.body };
  const given = Object.entries(media)
    .map(([name, addresses]) => /** @type {const} */ ([name, addresses.slice(0, mediaMax(model, name))]))
    .filter(([, addresses]) => addresses.length > 0);
  const { images, ...others } = Object.fromEntries(given);
  if (model.kind === 'image') {
    // Create a task, because a task can be found even after this page is closed.
    const body = { ...base, async: true };
    return images === undefined
      ? { path: '/v1/images/generations', body }
      : { path: '/v1/images/edits', body: { ...body, image: images } };
  }
  const brought = images === undefined ? others : { images, ...others };
  return { path: '/v1/videos/generations', body: { ...base, ...brought, ...metadata } };
}

/**
 * Returns how many media of this type the model accepts. `name` is `images`, `videos` or `audios`.
 *
 * @param {Model} model
 * @param {string} name
 */
export function mediaMax({ kind, capabilities: { inputs } }, name) {
  if (name === 'images') return inputs.images?.max ?? 0;
  if (kind === 'image') return 0;
  return (name === 'videos' ? inputs.videos?.max : inputs.audios?.max) ?? 0;
}

/** @typedef {{ prompt: string, values: Record<string, string | boolean>, media: Record<string, readonly string[]> }} Entered */

const storedNames = /** @type {const} */ ({
  resolution: 'resolution',
  ratio: 'ratio',
  duration: 'duration',
  seed: 'seed',
  size: 'size',
  quality: 'quality',
  n: 'n',
  generate_audio: 'generateAudio',
  return_last_frame: 'returnLastFrame',
  watermark: 'watermark',
});

/**
 * @param {import('./types.js').StoredRequest} request
 * @returns {{ entered: Entered, missing: number }}
 */
export function enteredOf(request) {
  const {
    extra = {},
    firstFrame,
    lastFrame,
    references = [],
    images = [],
    videos = [],
    audios = [],
  } = request;
  const all = /** @type {Record<string, unknown>} */ ({ ...extra, ...request });
  /** @type {Record<string, string | boolean>} */
  const values = firstFrame === undefined ? {} : { input_type: 'first_last_frame' };
  for (const [name, stored] of Object.entries(storedNames)) {
    const value = all[stored];
    if (typeof value === 'boolean') values[name] = value;
    if (typeof value === 'string' || typeof value === 'number') values[name] = String(value);
  }
  const given = {
    images: [firstFrame ?? [], lastFrame ?? [], references, images.map(({ url }) => url ?? '')].flat(2),
    videos,
    audios,
  };
  const isAddress = (/** @type {string} */ address) => /^(?:https?|asset):/.test(address);
  const media = Object.fromEntries(
    Object.entries(given).map(([name, addresses]) => [name, addresses.filter(isAddress)]),
  );
  const missing = Object.values(given)
    .flat()
    .filter((address) => !isAddress(address)).length;
  return { entered: { prompt: request.prompt, values, media }, missing };
}

/** @typedef {{ title: string, prompt: string, values: Record<string, string | boolean> }} Template */

/**
 * @param {Model} model
 * @returns {Template[]}
 */
export function templatesOf(model) {
  const { resolutions = [], ratios = [], durations, sizes = [], qualities = [], n } = model.capabilities;
  const byPixels = [...resolutions].sort((one, other) => linesOf(one) - linesOf(other));
  const smallest = byPixels[0] === undefined ? {} : { resolution: byPixels[0] };
  const shortest = durations === undefined ? {} : { duration: String(durations.min) };
  const template = (/** @type {boolean} */ isOffered, /** @type {Template} */ one) =>
    isOffered ? [one] : [];
  if (model.kind === 'image') {
    const prompt = 'A product photo of a ceramic cup on a wooden table, soft light from a window';
    return [
      ...template(qualities.includes('low'), { title: 'Draft', prompt, values: { quality: 'low' } }),
      ...template(qualities.includes('high'), { title: 'Finest', prompt, values: { quality: 'high' } }),
      ...template(n !== undefined && n.max > 1, {
        title: 'Several to choose from',
        prompt,
        values: { n: String(Math.min(4, n?.max ?? 1)) },
      }),
      ...template(sizes.includes('1024x1536'), { title: 'Upright', prompt, values: { size: '1024x1536' } }),
    ];
  }
  const prompt = 'A paper boat drifts along a rainy street, the camera low above the water';
  return [
    ...template(byPixels.length > 1 || durations !== undefined, {
      title: 'Short draft',
      prompt,
      values: { ...smallest, ...shortest },
    }),
    ...template(byPixels.length > 1, {
      title: 'Finest',
      prompt,
      values: { resolution: byPixels.at(-1) ?? '' },
    }),
    ...template(ratios.includes('9:16'), {
      title: 'Upright, for phones',
      prompt,
      values: { ...smallest, ratio: '9:16' },
    }),
    ...template(
      fieldsOf(model).some(({ name }) => name === 'generate_audio'),
      {
        title: 'With sound',
        prompt: 'A street musician plays the cello below a bridge, rain and distant traffic',
        values: { ...smallest, ...shortest, generate_audio: true },
      },
    ),
  ];
}

/** @param {string} resolution */
function linesOf(resolution) {
  const [, number = '0', unit = ''] = /^(\d+)(\w?)/.exec(resolution) ?? [];
  return unit.toLowerCase() === 'k' ? Number(number) * 540 : Number(number);
}
