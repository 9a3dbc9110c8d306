/** What a form asks for, as the body of a request: pure. */

/** @typedef {import('./types.js').Model} Model */

/**
 * A field of the form. `options`: one of them; `range`: a number in it. `path`: where it stands in the body.
 *
 * @typedef {{
 *   name: string, title: string, path: 'body' | 'metadata',
 *   options?: readonly string[], range?: { min: number, max: number, step: number }, isFlag?: boolean,
 * }} Field
 */

/**
 * The fields that a model has beside its prompt and its media.
 *
 * @param {Model} model
 * @returns {Field[]}
 */
export function fieldsOf({ kind, capabilities, facts }) {
  const { resolutions = [], ratios = [], durations, sizes = [], qualities = [], n } = capabilities;
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
 * `values`: what was entered, by the names of fields; what is empty is left out. `media`: addresses and data URLs.
 *
 * @param {Model} model
 * @param {{ prompt: string, values: Record<string, string | boolean>, media: Record<string, readonly string[]> }} entered
 * @returns {{ path: string, body: Record<string, unknown> }}
 */
export function requestOf(model, { prompt, values, media }) {
  /** @type {{ body: Record<string, unknown>, metadata: Record<string, unknown> }} */
  const parts = { body: {}, metadata: {} };
  for (const { name, path, range, options } of fieldsOf(model)) {
    const value = values[name];
    if (value === undefined || value === '' || value === false) continue;
    // What another model had in its place.
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
    // A task: its result is found again, whatever becomes of this page.
    const body = { ...base, async: true };
    return images === undefined
      ? { path: '/v1/images/generations', body }
      : { path: '/v1/images/edits', body: { ...body, image: images } };
  }
  const brought = images === undefined ? others : { images, ...others };
  return { path: '/v1/videos/generations', body: { ...base, ...brought, ...metadata } };
}

/**
 * How many the model takes. `name`: images, videos or audios.
 *
 * @param {Model} model
 * @param {string} name
 */
export function mediaMax({ kind, capabilities: { inputs } }, name) {
  if (name === 'images') return inputs.images?.max ?? 0;
  if (kind === 'image') return 0;
  return (name === 'videos' ? inputs.videos?.max : inputs.audios?.max) ?? 0;
}
