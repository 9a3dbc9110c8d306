import { money, placesOf, words } from '../shared/format.js';
import { html } from '../shared/preact.js';

/** @type {Record<string, string>} */
const measures = {
  million_tokens: 'a million tokens',
  million_text_tokens: 'a million text output tokens',
  million_input_text_tokens: 'a million text input tokens',
  million_input_image_tokens: 'a million image input tokens',
  million_input_audio_tokens: 'a million audio input tokens',
  million_input_video_tokens: 'a million video input tokens',
  million_cached_tokens: 'a million cached input tokens',
  second: 'a second',
  frame: 'a frame',
  input_second: 'a second of input video',
  image: 'an image',
  megapixel: 'a megapixel',
  input_image: 'an input image',
  reference_image: 'a reference image',
  call: 'a call',
};

/**
 * @param {{
 *   price: {
 *     minimum: string,
 *     lines: readonly { measure: string, price: string, when: Record<string, unknown>, beyond: number }[],
 *   },
 * }} props
 */
export function PriceLines({ price: { minimum, lines } }) {
  const places = placesOf(lines.map(({ price }) => price));
  const isFree = /^0*\.?0*$/.test(minimum);
  return html`<div class="prices">
    ${lines.map(
      ({ measure, when, price, beyond }) =>
        html`<span class="number">${money(price, places)}</span>
          <span
            >${measures[measure] ?? measure}<span class="soft small"
              >${limitsOf({ when, beyond })}</span
            ></span
          >`,
    )}
    ${isFree ? null : html`<span class="number">${money(minimum)}</span> <span class="soft">at least</span>`}
  </div>`;
}

/**
 * For example `a million tokens, resolution 1080p`.
 *
 * @param {{ measure: string, when: Record<string, unknown>, beyond: number }} line
 */
export function lineText({ measure, ...limits }) {
  return `${measures[measure] ?? measure}${limitsOf(limits)}`;
}

/** @param {{ when: Record<string, unknown>, beyond: number }} line */
function limitsOf({ when, beyond }) {
  return `${beyond === 0 ? '' : `, after the first ${beyond}`}${conditionOf(when)}`;
}

/** Used in price descriptions after “with” and “without”. @type {Record<string, string>} */
const flags = {
  video_input: 'a video',
  audio_input: 'an audio',
  image_input: 'an image',
  generate_audio: 'sound',
  draft: 'draft quality',
};

/** @param {Record<string, unknown>} when */
function conditionOf(when) {
  const tests = Object.entries(when).map(([name, value]) => {
    if (typeof value === 'boolean') return `${value ? 'with' : 'without'} ${flags[name] ?? words(name)}`;
    const wanted = Array.isArray(value) ? value.join(' or ') : String(value);
    return `${words(name)} ${wanted}`;
  });
  return tests.length === 0 ? '' : `, ${tests.join(', ')}`;
}
